/** What a person has chosen on this device. */

/** @import {Settings} from "./types.js" */
/** @typedef {keyof Settings} Name */

/** @type {Settings} */
const DEFAULTS = { confirm: true, hold: false, sound: true, coach: true, motion: "auto", theme: "auto", language: "auto" };

const STORAGE_KEY = "settings";

/** @type {Map<string, Set<(value: any) => void>>} */
const listeners = new Map();

/** Kept here as well: a browser may forbid storage, and choices should last at least as long as the page. */
let values = readStored();

/** @returns {Partial<Settings>} */
function readStored() {
  try {
    const found = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? "{}");
    return found && typeof found === "object" ? found : {};
  } catch {
    return {};
  }
}

/**
 * @template {Name} N
 * @param {N} name
 * @returns {Settings[N]}
 */
export function getSetting(name) {
  const value = values[name];
  // Something else of that name may be stored by an older or newer page.
  return /** @type {Settings[N]} */ (typeof value === typeof DEFAULTS[name] ? value : DEFAULTS[name]);
}

/**
 * @template {Name} N
 * @param {N} name
 * @param {Settings[N]} value
 */
export function setSetting(name, value) {
  values = { ...values, [name]: value };
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify(values));
  } catch {
    // Then it holds for this page only.
  }
  notify(name);
}

/**
 * Hear of changes, also of those made in another tab.
 * @template {Name} N
 * @param {N} name
 * @param {(value: Settings[N]) => void} listener
 */
export function onSetting(name, listener) {
  const heard = listeners.get(name) ?? new Set();
  listeners.set(name, heard.add(listener));
}

/** @param {Name} name */
function notify(name) {
  for (const listener of listeners.get(name) ?? []) listener(getSetting(name));
}

addEventListener("storage", (event) => {
  if (event.key !== STORAGE_KEY) return;
  const before = values;
  values = readStored();
  for (const name of /** @type {Name[]} */ (Object.keys(DEFAULTS))) {
    if (before[name] !== values[name]) notify(name);
  }
});
