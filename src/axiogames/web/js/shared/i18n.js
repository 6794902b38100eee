/** Translations and formats. A new language is a file and a line in lang/index.json. */
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

/** Load the texts of the page, retrying until they arrive. Missing texts fall back to English. */
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
      // Meanwhile show the page in English, as it is written.
      delete root.dataset.texts;
      await new Promise((resolve) => setTimeout(resolve, 2_000));
    }
  }
  root.lang = code;
  applyTexts(document);
  delete root.dataset.texts;
}

/** Return the chosen language, or the first of the browser's languages that is available. */
function chooseLanguage() {
  const chosen = getSetting("language");
  const wanted = chosen === "auto" ? navigator.languages : [chosen];
  for (const one of wanted) {
    const found = available.find((language) => language.code === one.toLowerCase().split("-")[0]);
    if (found) return found.code;
  }
  return FALLBACK;
}

/** The code of the current language, such as "en". */
export const language = () => code;

/** The available languages with their own names. */
export const languages = () => available;

/** @param {string} key */
export const hasText = (key) => key in texts;

/**
 * The text with a key, its {placeholders} filled. A parameter `n` selects the plural form: `key.one`, `key.other` …
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
 * A moment relative to now, such as "3 minutes ago".
 * @param {number} moment milliseconds since 1970
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
 * Translate all elements with `data-t` attributes. Elements without a translation keep their text.
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
 * A date such as "2026-11-15" in UTC.
 * @param {string} day
 */
export const formatDate = (day) =>
  new Intl.DateTimeFormat(code, { dateStyle: "full", timeZone: "UTC" }).format(new Date(`${day}T00:00Z`));

/**
 * The name of a bot's level; an unknown level is shown as it is.
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
