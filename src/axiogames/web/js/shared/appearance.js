/** Theme and motion, from the settings and the system's preferences. */
import { getSetting, onSettingChange } from "./settings.js";

const systemDark = matchMedia("(prefers-color-scheme: dark)");
const systemReducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

/** @type {Set<() => void>} */
const listeners = new Set();

export function isDark() {
  const theme = getSetting("theme");
  return theme === "auto" ? systemDark.matches : theme === "dark";
}

/** Return whether animations are turned off. */
export function hasReducedMotion() {
  const motion = getSetting("motion");
  return motion === "auto" ? systemReducedMotion.matches : motion === "reduced";
}

/**
 * Call a function when the theme or the motion setting has changed.
 * @param {() => void} listener
 */
export function onAppearanceChange(listener) {
  listeners.add(listener);
}

/** Apply theme and motion to the page. */
export function applyAppearance() {
  const root = document.documentElement;
  const theme = getSetting("theme");
  if (theme === "auto") delete root.dataset.theme;
  else root.dataset.theme = theme;
  if (hasReducedMotion()) root.dataset.motion = "reduced";
  else delete root.dataset.motion;
  // Phone browsers show their toolbar in this colour.
  const themeColor = document.querySelector("meta[name=theme-color]");
  themeColor?.setAttribute("content", getComputedStyle(root).getPropertyValue("--page").trim());
  for (const listener of listeners) listener();
}

onSettingChange("theme", applyAppearance);
onSettingChange("motion", applyAppearance);
systemDark.addEventListener("change", applyAppearance);
systemReducedMotion.addEventListener("change", applyAppearance);
