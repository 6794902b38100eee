/** Countdown to the next daily deal, at midnight UTC. */
import { h } from "./dom.js";

const DAY = 86_400_000;

/** @param {() => void} [onEnd] called at midnight */
export function countdown(onEnd) {
  const clock = h("time", { class: "countdown" });
  const start = Date.now();
  const end = start - (start % DAY) + DAY;
  const tick = () => {
    const seconds = Math.max(0, Math.ceil((end - Date.now()) / 1000));
    const parts = [seconds / 3600, (seconds / 60) % 60, seconds % 60].map((part) => String(Math.floor(part)).padStart(2, "0"));
    clock.textContent = parts.join(":");
    if (seconds > 0) return;
    clearInterval(timer);
    onEnd?.();
  };
  const timer = setInterval(tick, 1000);
  tick();
  return clock;
}
