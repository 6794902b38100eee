/** The history of the game as text, latest first. */
import { byId, h } from "../../shared/dom.js";
import { t } from "../../shared/i18n.js";
import { goTo } from "../replay/replay.js";
import { onViewChange, state } from "../state/store.js";
import { countMoves, isMove } from "../state/view.js";
import { eventText } from "../text.js";

let renderedState = "";

export function startHistory() {
  byId("history-toggle").addEventListener("click", () => toggleHistory());
  byId("history-close").addEventListener("click", () => toggleHistory(false));
  onViewChange(render);
}

/** Open or close the history, which is a sheet on a narrow screen. @param {boolean} [open] */
export function toggleHistory(open = !byId("history-panel").classList.contains("open")) {
  byId("history-panel").classList.toggle("open", open);
  byId("history-toggle").setAttribute("aria-expanded", String(open));
  (open ? byId("history-close") : byId("history-toggle")).focus();
}

function render() {
  const { view, replay } = state;
  const latest = replay ? replay.positions[replay.positions.length - 1] : view;
  const currentMove = countMoves(view);
  const newState = `${latest.events.length} ${currentMove} ${replay !== null} ${latest.seats.map((seat) => seat.name)}`;
  if (newState === renderedState) return;
  renderedState = newState;
  let moves = 0;
  /** @type {HTMLElement[]} */
  const lines = [];
  for (const event of latest.events) {
    const text = eventText(latest, event);
    const move = isMove(event) ? (moves += 1) : null;
    if (!text) continue;
    const seat = "p" in event ? event.p : null;
    const line = h("li", { class: move === null ? "aside" : null, "data-move": move, "data-by": seat });
    if (replay && move !== null) {
      const current = move === currentMove ? "step" : null;
      line.append(h("button", { type: "button", onclick: () => goTo(move), "aria-current": current }, text));
    } else {
      line.append(text);
    }
    lines.unshift(line);
  }
  byId("history").replaceChildren(...(lines.length ? lines : [h("li", { class: "aside" }, t("table.log_empty"))]));
  if (replay) byId("history").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
}
