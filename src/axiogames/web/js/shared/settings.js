/** What a person has chosen on this device. */

/** @import {Settings} from "./types.js" */
/** @typedef {keyof Settings} Name */

/** @type {Settings} */
const DEFAULTS = { confirm: true, hold: false, sound: true, coach: true, motion: "auto", theme: "auto", language: "auto" };

const KEY = "settings";

/** @type {Map<string, Set<(value: any) => void>>} */
const listeners = new Map();

/** Kept here as well: a browser may forbid storage, and choices should last at least as long as the page. */
let chosen = stored();

/** @returns {Partial<Settings>} */
function stored() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? "{}");
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
export function setting(name) {
  const value = chosen[name];
  // Something else of that name may be stored by an older or newer page.
  return /** @type {Settings[N]} */ (typeof value === typeof DEFAULTS[name] ? value : DEFAULTS[name]);
}

/**
 * @template {Name} N
 * @param {N} name
 * @param {Settings[N]} value
 */
export function setSetting(name, value) {
  chosen = { ...chosen, [name]: value };
  try {
    localStorage.setItem(KEY, JSON.stringify(chosen));
  } catch {
    // Then it holds for this page only.
  }
  tell(name);
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
function tell(name) {
  for (const listener of listeners.get(name) ?? []) listener(setting(name));
}

addEventListener("storage", (event) => {
  if (event.key !== KEY) return;
  const before = chosen;
  chosen = stored();
  for (const name of /** @type {Name[]} */ (Object.keys(DEFAULTS))) {
    if (before[name] !== chosen[name]) tell(name);
  }
});
