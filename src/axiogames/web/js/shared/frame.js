/** The frame of all pages: header, footer, offline strip and service worker. */
import { ApiError, deleteCookie, errorText, get, getMe, onConnectionChange } from "./api.js";
import { applyAppearance } from "./appearance.js";
import { dialog } from "./dialog.js";
import { h } from "./dom.js";
import { hasText, loadTexts, t } from "./i18n.js";
import { onSettingChange } from "./settings.js";
import { announce } from "./toast.js";

const NAVIGATION = { "/": "nav.home", "/daily": "nav.daily", "/rules": "nav.rules", "/me": "nav.me" };

const SITE_NAME = "axio";
const ICON = new URL("../../icons/icon.svg", import.meta.url);

/** Milliseconds between the end of loading and the first request that can wait. */
const SETTLE_DELAY = 2_000;

/**
 * Set up the page and load its texts.
 * @param {{title?: string, identify?: () => Promise<unknown>}} [options] `title` is the title without the site's name,
 *   or the key of its text; `identify` sends a request that the server refuses if it rejects the visitor's identity
 */
export async function initPage({ title, identify = getMe } = {}) {
  applyAppearance();
  onSettingChange("language", () => location.reload());
  await loadTexts();
  setTitle(title && hasText(title) ? t(title) : title);
  document.getElementById("top")?.replaceChildren(...header());
  document.getElementById("bottom")?.replaceChildren(...footer());
  watchConnection();
  // A live region must exist before the first announcement.
  announce("");
  // Service workers need HTTPS or localhost; the site works without one.
  void whenSettled().then(() => navigator.serviceWorker?.register("/sw.js").catch(() => {}));
  identify().catch((error) => void handleIdentityError(error));
}

/** Resolve when the page has loaded and requests that can wait do not delay others. @returns {Promise<void>} */
export async function whenSettled() {
  if (document.readyState !== "complete") await new Promise((resolve) => addEventListener("load", resolve));
  await new Promise((resolve) => setTimeout(resolve, SETTLE_DELAY));
}

/** Show why the server rejects the visitor's identity and how to continue. @param {unknown} error */
async function handleIdentityError(error) {
  if (!(error instanceof ApiError) || !hasText(`stranger.${error.code}`)) return;
  const retry = { label: t("again"), value: false };
  const newGuest = { label: t("stranger.anew"), value: true };
  const startAnew = await dialog({
    title: t(`stranger.${error.code}`),
    body: errorText(error),
    actions: error.code === "banned" ? [] : [retry, newGuest],
    id: "stranger",
  });
  if (startAnew === null) return;
  if (startAnew) await deleteCookie();
  location.reload();
}

/** @param {string} [title] */
export function setTitle(title) {
  document.title = title ? `${title} · ${SITE_NAME}` : SITE_NAME;
}

function header() {
  const logo = h(
    "a",
    { class: "logo", href: "/", "aria-label": t("nav.logo") },
    h("img", { src: ICON, width: 32, height: 32, alt: "" }),
    h("span", null, SITE_NAME),
  );
  const { pathname } = location;
  const links = Object.entries(NAVIGATION).map(([path, key]) => {
    const current = pathname === path ? "page" : path !== "/" && pathname.startsWith(`${path}/`) ? "true" : null;
    // On a phone the logo is the only link to the home page.
    return h(
      "a",
      { href: path, class: path === "/" && "wide-only", "aria-current": current, "data-nav": path },
      t(key),
    );
  });
  return [logo, h("nav", { "aria-label": t("nav.label") }, links)];
}

function footer() {
  return [
    h("p", null, t("unofficial")),
    h(
      "p",
      null,
      h("a", { href: "/me#about" }, t("nav.about")),
      " ",
      h("a", { href: "/privacy" }, t("privacy.title")),
      " ",
      h("a", { href: "/schema/openapi.json" }, t("nav.api")),
    ),
  ];
}

/** Show the offline strip while the server is unreachable, and retry until it answers. */
function watchConnection() {
  const strip = h("div", { id: "offline", role: "status", hidden: true });
  document.body.prepend(strip);
  let retryTimer = 0;
  const retryIn = (/** @type {number} */ delay) => {
    clearTimeout(retryTimer);
    retryTimer = window.setTimeout(() => get("/api/bots").catch(() => retryIn(Math.min(delay * 1.6, 15_000))), delay);
  };
  onConnectionChange((connected) => {
    strip.hidden = connected;
    strip.textContent = connected ? "" : t("offline.strip");
    if (connected) clearTimeout(retryTimer);
    else retryIn(1_500);
  });
  // `navigator.onLine` is only a hint. A request shows whether the server can be reached.
  for (const event of ["online", "offline"]) addEventListener(event, () => void get("/api/bots").catch(() => {}));
}
