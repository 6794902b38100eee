/**
 * Keeps the last pages and their files for when there is no connection. Whatever can come from the server does:
 * the copies are used only when it does not answer, so nobody is served old code while online. What the
 * interface under /api says is never kept.
 */

/** @import {ServiceWorkerScope} from "./js/shared/types.js" */

const worker = /** @type {ServiceWorkerScope} */ (/** @type {unknown} */ (self));

/** Another number throws all copies away. */
const COPIES = "axio-pages-2";

const OFFLINE = "/offline";
/** What the offline page needs. Everything else is copied when it is used. */
const FIRST = [
  OFFLINE,
  "/theme.css",
  "/static/icons/icon.svg",
  ...["index.json", "en.json", "de.json"].map((file) => `/static/lang/${file}`),
  ...["base", "controls", "dialogs", "frame"].map((file) => `/static/css/shared/${file}.css`),
  ...["api", "appearance", "before-paint", "dialog", "dom", "frame", "i18n", "settings", "static-page", "toast"].map(
    (file) => `/static/js/shared/${file}.js`,
  ),
];

worker.addEventListener("install", (event) => {
  event.waitUntil(caches.open(COPIES).then((copies) => copies.addAll(FIRST)).then(() => worker.skipWaiting()));
});

worker.addEventListener("activate", (event) => {
  const tidy = async () => {
    for (const name of await caches.keys()) if (name !== COPIES) await caches.delete(name);
    await worker.clients.claim();
  };
  event.waitUntil(tidy());
});

worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin) return;
  const isPage = request.mode === "navigate" && !pathname.startsWith("/schema") && !pathname.startsWith("/api/");
  const isFile = pathname.startsWith("/static/") || pathname === "/theme.css";
  if (isPage || isFile) event.respondWith(fromServer(request, isPage ? pageKey(pathname) : pathname, isPage));
});

/**
 * All tables share one page, and so do all rules.
 * @param {string} pathname
 */
const pageKey = (pathname) => `/${pathname.split("/")[1]}`;

/**
 * @param {Request} request
 * @param {string} key
 * @param {boolean} isPage
 */
async function fromServer(request, key, isPage) {
  const copies = await caches.open(COPIES);
  try {
    const answer = await fetch(request);
    if (answer.ok && !answer.redirected) void copies.put(key, answer.clone());
    // A proxy says so when the server behind it is away.
    if (![502, 503, 504].includes(answer.status)) return answer;
  } catch {
    // Nobody answered.
  }
  const copy = (await copies.match(key)) ?? (isPage ? await copies.match(OFFLINE) : undefined);
  return copy ?? Response.error();
}
