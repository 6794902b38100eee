/**
 * Keeps copies of pages and their files for offline use. The network comes first: a copy is used only if the
 * server does not answer, so nobody gets old code while online. Responses of the interface under /api are never
 * kept.
 */

/** @import {ServiceWorkerScope} from "./js/shared/types.js" */

const worker = /** @type {ServiceWorkerScope} */ (/** @type {unknown} */ (self));

/** Change the name to discard all copies. */
const COPIES = "axio-pages-2";

const OFFLINE = "/offline";
/** The files of the offline page. All others are copied on first use. */
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
 * The cache key of a page: all tables share one page, and so do all rules.
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
    // A proxy answers like this when the server is down.
    if (![502, 503, 504].includes(answer.status)) return answer;
  } catch {
    // No response.
  }
  const copy = (await copies.match(key)) ?? (isPage ? await copies.match(OFFLINE) : undefined);
  return copy ?? Response.error();
}
