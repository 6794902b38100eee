/**
 * The kill switch, served as /sw.js by `axio serve --no-service-worker`: a service worker that replaces any other at once,
 * deletes its caches and unregisters itself. Open pages go on without one.
 */

/** @import {ServiceWorkerScope} from "./js/shared/types.js" */

const worker = /** @type {ServiceWorkerScope} */ (/** @type {unknown} */ (self));

worker.addEventListener("install", (event) => event.waitUntil(worker.skipWaiting()));

worker.addEventListener("activate", (event) => {
  const retire = async () => {
    for (const name of await caches.keys()) if (name.startsWith("axio-")) await caches.delete(name);
    await worker.registration.unregister();
  };
  event.waitUntil(retire());
});
