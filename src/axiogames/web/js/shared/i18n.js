/** Translations and number formats. A new language is a file in lang/ and a line in lang/index.json. */
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
  const response = await fetch(PATH + file);
  if (!response.ok) throw new Error(`${file}: ${response.status}`);
  return response.json();
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
      // Meanwhile show the page in English, the language of its HTML.
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
  const setting = getSetting("language");
  const preferred = setting === "auto" ? navigator.languages : [setting];
  for (const candidate of preferred) {
    const found = available.find((language) => language.code === candidate.toLowerCase().split("-")[0]);
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
 * Return the text with a key, its {placeholders} filled. The parameter `n` selects the plural form,
 * such as `key.one` or `key.other`.
 * @param {string} key
 * @param {Record<string, string | number>} [params]
 * @returns {string}
 */
export function t(key, params = {}) {
  const form = typeof params.n === "number" ? `${key}.${new Intl.PluralRules(code).select(params.n)}` : key;
  const text = texts[form] ?? texts[`${key}.other`] ?? texts[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (placeholder, name) => {
    const value = params[name];
    return value === undefined ? placeholder : typeof value === "number" ? formatNumber(value) : value;
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
 * A time relative to now, such as "3 minutes ago".
 * @param {number} timestamp in milliseconds since 1970
 */
export function formatRelativeTime(timestamp) {
  const format = new Intl.RelativeTimeFormat(code, { numeric: "auto" });
  const difference = timestamp - Date.now();
  for (const [unit, size] of UNITS) {
    if (Math.abs(difference) >= size) return format.format(Math.trunc(difference / size), unit);
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
 * The name of a bot's level. An unknown level is shown unchanged.
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
