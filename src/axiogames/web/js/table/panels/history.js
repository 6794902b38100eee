/** The history of the game as text, latest first. */
import { byId, h } from "../../shared/dom.js";
import { t } from "../../shared/i18n.js";
import { countMoves, isMove } from "../state/view.js";
import { onViewChange, state } from "../state/store.js";
import { eventText } from "../text.js";

/** @type {(move: number) => void} */
let goToMove = () => {};
let renderedState = "";

/** @param {(move: number) => void} jumpTo called with the number of a move in a replay */
export function startHistory(jumpTo) {
  goToMove = jumpTo;
  byId("history-toggle").addEventListener("click", () => toggleHistory());
  byId("history-close").addEventListener("click", () => toggleHistory(false));
  onViewChange(render);
}

/** On a narrow screen the history is a sheet that is opened on request. @param {boolean} [open] */
export function toggleHistory(open = !byId("history-panel").classList.contains("open")) {
  byId("history-panel").classList.toggle("open", open);
  byId("history-toggle").setAttribute("aria-expanded", String(open));
  (open ? byId("history-close") : byId("history-toggle")).focus();
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
  byId("history").replaceChildren(...(lines.length ? lines : [h("li", { class: "aside" }, t("table.log_empty"))]));
  if (replay) byId("history").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
}
