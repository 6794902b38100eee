/** Keep something up to date while somebody looks at it. */
import { ApiError, explain, onConnection } from "./api.js";
import { toast } from "./toast.js";

/**
 * Call `work` now, then again and again while the page is visible, and at once when it becomes visible or the
 * server answers again. That the server cannot just now is told once, that it is away by the offline strip.
 * @param {() => Promise<unknown>} work
 * @param {number} every in milliseconds
 */
export function keepFresh(work, every) {
  let timer = 0;
  let running = false;
  let told = false;
  const failed = (/** @type {unknown} */ error) => {
    if (told || !(error instanceof ApiError) || error.status !== 503 || error.code === "offline") return;
    told = true;
    toast(explain(error), { kind: "error" });
  };
  const turn = async () => {
    clearTimeout(timer);
    if (document.hidden || running) return;
    running = true;
    await work().then(() => void (told = false), failed);
    running = false;
    timer = window.setTimeout(turn, every);
  };
  document.addEventListener("visibilitychange", turn);
  addEventListener("pageshow", turn);
  onConnection((up) => up && turn());
  return turn();
}
