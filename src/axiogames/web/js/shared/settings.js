/** The settings of a person on this device, in the browser's storage. */

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

/** Also kept in memory, since a browser may forbid storage. */
let values = readStored();

/** @returns {Partial<Settings>} */
function readStored() {
  try {
    const parsed = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? "{}");
    return parsed && typeof parsed === "object" ? parsed : {};
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
    // Without storage, the setting lasts until the page is closed.
  }
  notify(name);
}

/**
 * Call a function when a setting changes, in this tab or another.
 * @template {Name} N
 * @param {N} name
 * @param {(value: Settings[N]) => void} listener
 */
export function onSetting(name, listener) {
  const callbacks = listeners.get(name) ?? new Set();
  listeners.set(name, callbacks.add(listener));
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
