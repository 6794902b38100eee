/** Polling while the page is visible. */
import { ApiError, errorText, onConnectionChange } from "./api.js";
import { toast } from "./toast.js";

/**
 * Call `work` at once and then at intervals while the page is visible. It is also called whenever the page becomes
 * visible or the server answers again. An unavailable server is reported once, a lost connection by the offline strip.
 * @param {() => Promise<unknown>} work
 * @param {number} interval in milliseconds
 */
export function poll(work, interval) {
  let timer = 0;
  let running = false;
  let reported = false;
  const onError = (/** @type {unknown} */ error) => {
    if (reported || !(error instanceof ApiError) || error.status !== 503 || error.code === "offline") return;
    reported = true;
    toast(errorText(error), { kind: "error" });
  };
  const run = async () => {
    clearTimeout(timer);
    if (document.hidden || running) return;
    running = true;
    await work().then(() => void (reported = false), onError);
    running = false;
    timer = window.setTimeout(run, interval);
  };
  document.addEventListener("visibilitychange", run);
  addEventListener("pageshow", run);
  onConnectionChange((connected) => connected && run());
  return run();
}
