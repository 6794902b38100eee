/** Words, numbers and times in the reader's language. Another language is a file and a line in lang/index.json. */
import { getSetting } from "./settings.js";

const FALLBACK = "en";
const PATH = "/static/lang/";

/** @typedef {{code: string, name: string}} Language */

/** @type {Record<string, string>} */
let texts = {};
/** @type {Language[]} */
let available = [{ code: FALLBACK, name: "English" }];
let code = FALLBACK;

/**
 * @param {string} file
 * @returns {Promise<any>}
 */
async function fetchJson(file) {
  const answer = await fetch(PATH + file);
  if (!answer.ok) throw new Error(`${file}: ${answer.status}`);
  return answer.json();
}

/** Load the words of the page, however long it takes. Words that a language lacks are English. */
export async function loadTexts() {
  const root = document.documentElement;
  for (;;) {
    try {
      available = await fetchJson("index.json");
      code = chooseLanguage();
      const needed = [...new Set([FALLBACK, code])].map((language) => fetchJson(`${language}.json`));
      texts = Object.assign({}, ...(await Promise.all(needed)));
      break;
    } catch {
      // Meanwhile the page shows what it is written in, English.
      delete root.dataset.words;
      await new Promise((resolve) => setTimeout(resolve, 2_000));
    }
  }
  root.lang = code;
  applyTexts(document);
  delete root.dataset.words;
}

/** The chosen language or the first of the browser's that there is. */
function chooseLanguage() {
  const chosen = getSetting("language");
  const wanted = chosen === "auto" ? navigator.languages : [chosen];
  for (const one of wanted) {
    const found = available.find((language) => language.code === one.toLowerCase().split("-")[0]);
    if (found) return found.code;
  }
  return FALLBACK;
}

/** The code of the language that is shown, such as "en". */
export const language = () => code;

/** All languages there are, with their own names. */
export const languages = () => available;

/** @param {string} key */
export const hasText = (key) => key in texts;

/**
 * A text with its {placeholders} filled. With a number `n` among the params, `key.one`, `key.other` … are tried.
 * @param {string} key
 * @param {Record<string, string | number>} [params]
 * @returns {string}
 */
export function t(key, params = {}) {
  const form = typeof params.n === "number" ? `${key}.${new Intl.PluralRules(code).select(params.n)}` : key;
  const text = texts[form] ?? texts[`${key}.other`] ?? texts[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (hole, name) => {
    const value = params[name];
    return value === undefined ? hole : typeof value === "number" ? formatNumber(value) : value;
  });
}

/** @param {string} letter */
export const colourName = (letter) => t(`colour.${letter}`);

/** @param {number} n */
export const formatNumber = (n) => new Intl.NumberFormat(code).format(n);

/** @param {string[]} items */
export const formatList = (items) => new Intl.ListFormat(code, { type: "conjunction" }).format(items);

/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
];

/**
 * How long ago a moment was, or how long until it comes.
 * @param {number} moment in milliseconds since 1970
 */
export function formatRelativeTime(moment) {
  const format = new Intl.RelativeTimeFormat(code, { numeric: "auto" });
  const distance = moment - Date.now();
  for (const [unit, size] of UNITS) {
    if (Math.abs(distance) >= size) return format.format(Math.trunc(distance / size), unit);
  }
  return format.format(0, "second");
}

/** @type {[string, (element: Element, text: string) => void][]} */
const ATTRIBUTES = [
  ["data-t", (element, text) => void (element.textContent = text)],
  ["data-t-label", (element, text) => element.setAttribute("aria-label", text)],
  ["data-t-title", (element, text) => element.setAttribute("title", text)],
  ["data-t-placeholder", (element, text) => element.setAttribute("placeholder", text)],
];

/**
 * Fill every element that names its words. What has no words keeps what it says.
 * @param {ParentNode} root
 */
export function applyTexts(root) {
  for (const [attribute, fill] of ATTRIBUTES) {
    for (const element of root.querySelectorAll(`[${attribute}]`)) {
      const key = element.getAttribute(attribute) ?? "";
      if (hasText(key)) fill(element, t(key));
    }
  }
}

/**
 * A day such as "2026-11-15", which begins and ends by UTC for everybody.
 * @param {string} day
 */
export const formatDate = (day) =>
  new Intl.DateTimeFormat(code, { dateStyle: "full", timeZone: "UTC" }).format(new Date(`${day}T00:00Z`));

/**
 * How well a bot plays; a level that has no words yet is shown as it is.
 * @param {string} level
 */
export const levelName = (level) => (hasText(`level.${level}`) ? t(`level.${level}`) : level);

/** @param {string} level */
export const botName = (level) => t("bot", { level: levelName(level) });

const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;

/**
 * A time limit per move as text.
 * @param {number | null} seconds null for no limit
 */
export function moveTimeName(seconds) {
  if (seconds === null) return t("time.none");
  return seconds >= DAY ? t("time.days", { n: seconds / DAY }) : t("time.minutes", { n: Math.round(seconds / MINUTE) });
}
