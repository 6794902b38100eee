// Runs before the first paint, so that neither the wrong theme nor English text flashes. It also requests the texts and
// the data of the page, which the page's script would request only after it has been loaded itself.
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

  /** The address of the texts of each language, and of the page's data (see pages.json). */
  const { texts = "{}", data } = document.currentScript?.dataset ?? {};
  /** @type {Record<string, string>} */
  const addresses = JSON.parse(texts);
  const { language = "auto" } = settings;
  const preferred = typeof language !== "string" || language === "auto" ? navigator.languages : [language];
  const codes = preferred.map((candidate) => candidate.toLowerCase().split("-")[0]);
  const code = codes.find((candidate) => Object.hasOwn(addresses, candidate)) ?? "en";
  // For the scripts of the page (shared/i18n.js).
  root.dataset.language = code;
  // Pages are written in English. In other languages they stay hidden until shared/i18n.js has translated them.
  if (code !== "en") root.dataset.texts = "loading";

  const id = location.pathname.split("/")[2] ?? "";
  // The server knows nothing of local tables.
  const pageData = id.startsWith("local-") ? "" : data?.replace("{lang}", code).replace("{id}", id);
  const requests = [addresses[code], pageData];
  for (const href of requests) {
    if (!href) continue;
    const link = document.createElement("link");
    Object.assign(link, { rel: "preload", as: "fetch", crossOrigin: "anonymous", href });
    document.head.append(link);
  }
}
