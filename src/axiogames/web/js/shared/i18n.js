/** Translations and number formats. A new language is a file in lang/ and a line in languages.js. */
import { LANGUAGES } from "./languages.js";

const FALLBACK = "en";

/** @type {Record<string, string>} */
let texts = {};
let code = FALLBACK;

/** Load the texts of the page, retrying until they arrive. */
export async function loadTexts() {
  const root = document.documentElement;
  const chosen = LANGUAGES.find((language) => language.code === root.dataset.language) ?? LANGUAGES[0];
  for (;;) {
    try {
      const response = await fetch(chosen.texts);
      if (!response.ok) throw new Error(`${chosen.texts}: ${response.status}`);
      texts = await response.json();
      break;
    } catch {
      // Meanwhile show the page in English, the language of its HTML.
      delete root.dataset.texts;
      await new Promise((resolve) => setTimeout(resolve, 2_000));
    }
  }
  code = chosen.code;
  root.lang = code;
  applyTexts(document);
  delete root.dataset.texts;
}

/** The code of the current language, such as "en". */
export const language = () => code;

/** @param {string} key */
export const hasText = (key) => key in texts;

/**
 * Return the text of a key with its {placeholders} filled, or the key if there is no text. The parameter `n` selects
 * the plural form, such as `key.one` or `key.other`.
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

/** Units in milliseconds, longest first. @type {[Intl.RelativeTimeFormatUnit, number][]} */
const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
];

/**
 * Return a time relative to now, such as "3 minutes ago".
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

/**
 * Attributes that contain the key of a text, and functions that set the text.
 * @type {[string, (element: Element, text: string) => void][]}
 */
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
 * Return a date in words.
 * @param {string} day such as "2026-11-15"
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

/** Seconds. */
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
