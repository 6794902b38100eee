/** Polling while the page is visible. */
import { ApiError, errorText, onConnectionChange } from "./api.js";
import { toast } from "./toast.js";

/**
 * Call `work` now and then regularly while the page is visible, and at once when it becomes visible or the server
 * answers again. An unavailable server is reported once; the offline strip reports lost connections.
 * @param {() => Promise<unknown>} work
 * @param {number} interval in milliseconds
 */
export function poll(work, interval) {
  let timer = 0;
  let running = false;
  let reported = false;
  const failed = (/** @type {unknown} */ error) => {
    if (reported || !(error instanceof ApiError) || error.status !== 503 || error.code === "offline") return;
    reported = true;
    toast(errorText(error), { kind: "error" });
  };
  const run = async () => {
    clearTimeout(timer);
    if (document.hidden || running) return;
    running = true;
    await work().then(() => void (reported = false), failed);
    running = false;
    timer = window.setTimeout(run, interval);
  };
  document.addEventListener("visibilitychange", run);
  addEventListener("pageshow", run);
  onConnectionChange((up) => up && run());
  return run();
}
