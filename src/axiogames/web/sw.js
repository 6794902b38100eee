/**
 * Caches pages and their files for offline use. Network first: the cache is used only if the server does not
 * answer, so an online visitor never gets outdated code. Responses under /api are never cached.
 */

/** @import {ServiceWorkerScope} from "./js/shared/types.js" */

const worker = /** @type {ServiceWorkerScope} */ (/** @type {unknown} */ (self));

/** Change the name to discard the cache. */
const CACHE_NAME = "axio-pages-2";

const OFFLINE = "/offline";
/** The files of the offline page. All others are cached on first use. */
const PRECACHED = [
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
  event.waitUntil(caches.open(CACHE_NAME).then((cache) => cache.addAll(PRECACHED)).then(() => worker.skipWaiting()));
});

worker.addEventListener("activate", (event) => {
  const activate = async () => {
    for (const name of await caches.keys()) if (name !== CACHE_NAME) await caches.delete(name);
    await worker.clients.claim();
  };
  event.waitUntil(activate());
});

worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin) return;
  const isPage = request.mode === "navigate" && !pathname.startsWith("/schema") && !pathname.startsWith("/api/");
  const isFile = pathname.startsWith("/static/") || pathname === "/theme.css";
  if (isPage || isFile) event.respondWith(networkFirst(request, isPage ? pageKey(pathname) : pathname, isPage));
});

/**
 * Return the cache key of a page. All tables share one page, and so do the rules of all games.
 * @param {string} pathname
 */
const pageKey = (pathname) => `/${pathname.split("/")[1]}`;

/**
 * Return the server's response, or the cached one if the server does not answer.
 * @param {Request} request
 * @param {string} key
 * @param {boolean} isPage
 */
async function networkFirst(request, key, isPage) {
  const cache = await caches.open(CACHE_NAME);
  try {
    const response = await fetch(request);
    if (response.ok && !response.redirected) void cache.put(key, response.clone());
    // A proxy answers 502 to 504 when the server is down.
    if (![502, 503, 504].includes(response.status)) return response;
  } catch {
    // No response.
  }
  const cached = (await cache.match(key)) ?? (isPage ? await cache.match(OFFLINE) : undefined);
  return cached ?? Response.error();
}
