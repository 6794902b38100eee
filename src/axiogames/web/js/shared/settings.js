/** The settings of a person on this device. */

/** @import {Settings} from "./types.js" */
/** @typedef {keyof Settings} Name */

/** @type {Settings} */
const DEFAULTS = {
  confirm: true,
  hold: false,
  sound: true,
  coach: true,
  motion: "auto",
  theme: "auto",
  language: "auto",
};

const STORAGE_KEY = "settings";

/** @type {Map<string, Set<(value: any) => void>>} */
const listeners = new Map();

/** Also kept in memory: a browser may forbid storage. */
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
  // Another version of the page may have stored a value of another type.
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
    // Then the setting lasts as long as the page.
  }
  notify(name);
}

/**
 * Call a function when a setting changes, also in another tab.
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
