/** Keep something up to date while somebody looks at it. */
import { onConnection } from "./api.js";

/**
 * Call `work` now, then again and again while the page is visible, and at once when it becomes visible or the
 * server answers again. Failures are told elsewhere (the offline strip).
 * @param {() => Promise<unknown>} work
 * @param {number} every in milliseconds
 */
export function keepFresh(work, every) {
  let timer = 0;
  let running = false;
  const turn = async () => {
    clearTimeout(timer);
    if (document.hidden || running) return;
    running = true;
    await work().catch(() => {});
    running = false;
    timer = window.setTimeout(turn, every);
  };
  document.addEventListener("visibilitychange", turn);
  addEventListener("pageshow", turn);
  onConnection((up) => up && turn());
  return turn();
}
