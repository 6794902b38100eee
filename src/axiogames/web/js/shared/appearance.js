/** Light or dark, moving or calm: what the settings and the system together say. */
import { onSetting, setting } from "./settings.js";

const darkSystem = matchMedia("(prefers-color-scheme: dark)");
const calmSystem = matchMedia("(prefers-reduced-motion: reduce)");

/** @type {Set<() => void>} */
const listeners = new Set();

export function isDark() {
  const theme = setting("theme");
  return theme === "auto" ? darkSystem.matches : theme === "dark";
}

/** Whether things should change without moving. */
export function isCalm() {
  const motion = setting("motion");
  return motion === "auto" ? calmSystem.matches : motion === "reduced";
}

/**
 * Called after light and dark have changed places, or motion was switched on or off.
 * @param {() => void} listener
 */
export function onAppearance(listener) {
  listeners.add(listener);
}

export function applyAppearance() {
  const root = document.documentElement;
  const theme = setting("theme");
  if (theme === "auto") delete root.dataset.theme;
  else root.dataset.theme = theme;
  if (isCalm()) root.dataset.motion = "reduced";
  else delete root.dataset.motion;
  // The bar of a phone's browser takes the colour of the page.
  const bar = document.querySelector("meta[name=theme-color]");
  bar?.setAttribute("content", getComputedStyle(root).getPropertyValue("--page").trim());
  for (const listener of listeners) listener();
}

onSetting("theme", applyAppearance);
onSetting("motion", applyAppearance);
darkSystem.addEventListener("change", applyAppearance);
calmSystem.addEventListener("change", applyAppearance);
