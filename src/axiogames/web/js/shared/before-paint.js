// Runs before the first paint, so that neither the other theme nor another language flashes up.
{
  const root = document.documentElement;
  /** @type {{theme?: string, motion?: string, language?: string}} */
  let chosen = {};
  try {
    chosen = JSON.parse(localStorage.getItem("settings") ?? "{}") ?? {};
  } catch {
    // Without storage everything is as the system has it.
  }
  if (chosen.theme === "light" || chosen.theme === "dark") root.dataset.theme = chosen.theme;
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (chosen.motion === "reduced" || (chosen.motion !== "full" && calm)) root.dataset.motion = "reduced";
  const language = !chosen.language || chosen.language === "auto" ? navigator.language : chosen.language;
  // The pages are written in English; shell/i18n.js shows them when their words are there.
  if (!/^en\b/i.test(language)) root.dataset.words = "waiting";
}
