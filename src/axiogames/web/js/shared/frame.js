/** The frame of all pages: header, footer, offline strip and service worker. */
import { applyAppearance } from "./appearance.js";
import { ApiError, deleteCookie, errorText, get, getMe, onConnectionChange } from "./api.js";
import { h } from "./dom.js";
import { hasText, loadTexts, t } from "./i18n.js";
import { dialog } from "./dialog.js";
import { announce } from "./toast.js";
import { onSetting } from "./settings.js";

const NAVIGATION = { "/": "nav.home", "/daily": "nav.daily", "/rules": "nav.rules", "/me": "nav.me" };

const SITE_NAME = "axio";

/**
 * Set up the page. Its texts are loaded when this resolves.
 * @param {{title?: string}} [what] the title without the site's name, or the key of its text
 */
export async function initPage({ title } = {}) {
  applyAppearance();
  onSetting("language", () => location.reload());
  await loadTexts();
  setTitle(title && hasText(title) ? t(title) : title);
  document.getElementById("top")?.replaceChildren(...header());
  document.getElementById("bottom")?.replaceChildren(...footer());
  watchConnection();
  // A live region must exist before the first announcement.
  announce("");
  // Service workers need HTTPS or localhost; the site works without one.
  navigator.serviceWorker?.register("/sw.js").catch(() => {});
  getMe().catch((error) => void handleIdentityError(error));
}

/** Report that the server rejects our identity, and how to continue. @param {unknown} error */
async function handleIdentityError(error) {
  if (!(error instanceof ApiError) || !hasText(`stranger.${error.code}`)) return;
  const again = { label: t("again"), value: false };
  const guest = { label: t("stranger.anew"), value: true };
  const anew = await dialog({
    title: t(`stranger.${error.code}`),
    body: errorText(error),
    actions: error.code === "banned" ? [] : [again, guest],
    id: "stranger",
  });
  if (anew === null) return;
  if (anew) await deleteCookie();
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
    h("img", { src: "/static/icons/icon.svg", width: 32, height: 32, alt: "" }),
    h("span", null, SITE_NAME),
  );
  const here = location.pathname;
  const links = Object.entries(NAVIGATION).map(([path, word]) => {
    const current = here === path ? "page" : path !== "/" && here.startsWith(`${path}/`) ? "true" : null;
    // On a phone the logo is the only link to the home page.
    return h(
      "a",
      { href: path, class: path === "/" && "wide-only", "aria-current": current, "data-nav": path },
      t(word),
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

/** Show the offline strip and retry until the server answers. Pages subscribe with `onConnectionChange`. */
function watchConnection() {
  const strip = h("div", { id: "offline", role: "status", hidden: true });
  document.body.prepend(strip);
  let trying = 0;
  const attempt = (/** @type {number} */ wait) => {
    clearTimeout(trying);
    trying = window.setTimeout(() => get("/api/bots").catch(() => attempt(Math.min(wait * 1.6, 15_000))), wait);
  };
  onConnectionChange((up) => {
    strip.hidden = up;
    strip.textContent = up ? "" : t("offline.strip");
    if (up) clearTimeout(trying);
    else attempt(1_500);
  });
  // `navigator.onLine` is only a hint, so ask the server.
  for (const event of ["online", "offline"]) addEventListener(event, () => void get("/api/bots").catch(() => {}));
}
