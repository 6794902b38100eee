/** What has happened so far, in plain words; the newest first. */
import { byId, h } from "../../shared/dom.js";
import { t } from "../../shared/i18n.js";
import { countMoves, isMove } from "../state/view.js";
import { onViewChange, state } from "../state/store.js";
import { eventText } from "../text.js";

/** @type {(move: number) => void} */
let goToMove = () => {};
let renderedState = "";

/** @param {(move: number) => void} jumpTo called with the number of a move, where one can go there */
export function startHistory(jumpTo) {
  goToMove = jumpTo;
  byId("log-toggle").addEventListener("click", () => toggleHistory());
  byId("log-close").addEventListener("click", () => toggleHistory(false));
  onViewChange(render);
}

/** On a narrow screen the log lies below everything else until it is asked for. @param {boolean} [open] */
export function toggleHistory(open = !byId("log-panel").classList.contains("open")) {
  byId("log-panel").classList.toggle("open", open);
  byId("log-toggle").setAttribute("aria-expanded", String(open));
  (open ? byId("log-close") : byId("log-toggle")).focus();
}

function render() {
  const { view, replay } = state;
  const full = replay ? replay.positions[replay.positions.length - 1] : view;
  const here = countMoves(view);
  const now = `${full.events.length} ${here} ${replay !== null} ${full.seats.map((seat) => seat.name)}`;
  if (now === renderedState) return;
  renderedState = now;
  let moves = 0;
  /** @type {HTMLElement[]} */
  const lines = [];
  for (const event of full.events) {
    const words = eventText(full, event);
    const move = isMove(event) ? (moves += 1) : null;
    if (!words) continue;
    const seat = "p" in event ? event.p : null;
    const line = h("li", { class: move === null ? "aside" : null, "data-move": move, "data-by": seat });
    if (replay && move !== null) {
      const current = move === here ? "step" : null;
      line.append(h("button", { type: "button", onclick: () => goToMove(move), "aria-current": current }, words));
    } else {
      line.append(words);
    }
    lines.unshift(line);
  }
  byId("log").replaceChildren(...(lines.length ? lines : [h("li", { class: "aside" }, t("table.log_empty"))]));
  if (replay) byId("log").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
}
