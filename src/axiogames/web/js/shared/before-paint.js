// Runs before the first paint, so that neither the wrong theme nor English text flashes.
{
  const root = document.documentElement;
  /** @type {{theme?: string, motion?: string, language?: string}} */
  let settings = {};
  try {
    settings = JSON.parse(localStorage.getItem("settings") ?? "{}") ?? {};
  } catch {
    // Without storage, the system's preferences apply.
  }
  if (settings.theme === "light" || settings.theme === "dark") root.dataset.theme = settings.theme;
  const systemReducedMotion = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (settings.motion === "reduced" || (settings.motion !== "full" && systemReducedMotion)) {
    root.dataset.motion = "reduced";
  }
  const language =
    !settings.language || settings.language === "auto" ? navigator.language : settings.language;
  // Pages are written in English. In other languages they stay hidden until shared/i18n.js has translated them.
  if (!/^en\b/i.test(language)) root.dataset.texts = "loading";
}
