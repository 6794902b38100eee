// Runs before the first paint, so that neither the wrong theme nor English text flashes.
{
  const root = document.documentElement;
  /** @type {{theme?: string, motion?: string, language?: string}} */
  let chosen = {};
  try {
    chosen = JSON.parse(localStorage.getItem("settings") ?? "{}") ?? {};
  } catch {
    // Without storage the system's preferences apply.
  }
  if (chosen.theme === "light" || chosen.theme === "dark") root.dataset.theme = chosen.theme;
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (chosen.motion === "reduced" || (chosen.motion !== "full" && calm)) root.dataset.motion = "reduced";
  const language = !chosen.language || chosen.language === "auto" ? navigator.language : chosen.language;
  // Pages are written in English; shared/i18n.js shows them once the texts are loaded.
  if (!/^en\b/i.test(language)) root.dataset.texts = "loading";
}
