/**
 * Caches the files of the page and the pages for offline use.
 *
 * The name of a file contains a hash of its content, so a cached file is never out of date: the cache comes first. For
 * pages the network comes first, so an online visitor always gets the newest page, with the files that it refers to.
 *
 * Each version has a cache of its own, filled while the previous version is still at work. A new version takes over
 * when no page of the previous one is open, and only then deletes its cache: a page that was open during an update
 * finds all its files. Responses under /api are never cached.
 */

/** @import {ServiceWorkerScope} from "./js/shared/types.js" */

const worker = /** @type {ServiceWorkerScope} */ (/** @type {unknown} */ (self));

const PREFIX = "axio-";
const CACHE_NAME = PREFIX + VERSION;

const ROOT = new URL("./", location.href);
/** All built files are below these addresses. */
const BUNDLES = new URL("static/bundles/", ROOT).href;
const RULES_FOLDER = new URL("static/wasm/", ROOT).href;
const OFFLINE = new URL("offline", ROOT).href;
/** Other pages are cached when they are visited. */
const PAGES = [ROOT.href, OFFLINE];
/** All tables share one page, which is cached under this address. */
const TABLE = new URL("t", ROOT).href;

worker.addEventListener("install", (event) => {
  const install = async () => {
    const cache = await caches.open(CACHE_NAME);
    const addFile = async (/** @type {string} */ address) => {
      const known = await caches.match(address);
      await (known ? cache.put(address, known) : cache.add(address));
    };
    await Promise.all([
      ...FILES.map((file) => addFile(BUNDLES + file)),
      cache.addAll(PAGES),
      fetch(`${TABLE}/local`).then((page) => (page.ok ? cache.put(TABLE, page) : undefined)),
    ]);
    // One after another: nobody waits for them, and other requests should not either.
    for (const file of RULES) await addFile(RULES_FOLDER + file);
  };
  event.waitUntil(install());
});

worker.addEventListener("activate", (event) => {
  const activate = async () => {
    for (const name of await caches.keys()) {
      if (name.startsWith(PREFIX) && name !== CACHE_NAME) await caches.delete(name);
    }
    await worker.clients.claim();
  };
  event.waitUntil(activate());
});

worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin) return;
  const path = pathname.slice(ROOT.pathname.length);
  if (request.url.startsWith(BUNDLES) || request.url.startsWith(RULES_FOLDER)) event.respondWith(cacheFirst(request));
  else if (request.mode === "navigate" && !/^(schema|api)\b/.test(path)) event.respondWith(networkFirst(request, path));
});

/** Return the cached response, or the server's. @param {Request} request */
async function cacheFirst(request) {
  const cached = await caches.match(request);
  if (cached) return cached;
  const response = await fetch(request);
  if (response.ok) {
    const copy = response.clone(); // before the page reads the response
    void caches.open(CACHE_NAME).then((cache) => cache.put(request, copy));
  }
  return response;
}

/**
 * Return the server's response, or the cached page if the server does not answer, or the offline page.
 * @param {Request} request
 * @param {string} path
 */
async function networkFirst(request, path) {
  // All tables share one page, and so do the rules of all games.
  const key = new URL(path.split("/")[0], ROOT).href;
  const cache = await caches.open(CACHE_NAME);
  try {
    const response = await fetch(request);
    if (response.ok && !response.redirected) void cache.put(key, response.clone());
    // A proxy answers 502 to 504 when the server is down.
    if (![502, 503, 504].includes(response.status)) return response;
  } catch {
    // No response.
  }
  return (await cache.match(key)) ?? (await cache.match(OFFLINE)) ?? Response.error();
}
