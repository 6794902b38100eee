/** The buttons below the hand. */
import { byId, h } from "../../shared/dom.js";
import { colourName, t } from "../../shared/i18n.js";
import { symbolIcon } from "../board/shapes.js";
import { totalGain } from "../state/legal-moves.js";
import { onSelectionChange, state } from "../state/store.js";
import { canMove, seatPlayedByBot } from "../state/view.js";
import {
  canPlace,
  cancel,
  confirm,
  confirmablePick,
  nameColour,
  playNonPlacement,
  requestHint,
  rotateTile,
  sendCommand,
  startExchange,
} from "./selection.js";

/** @import {Moves} from "../net/protocol.js" */

/** @param {string} id */
const button = (id) => /** @type {HTMLButtonElement} */ (byId(id));

export function startButtons() {
  const actions = {
    "turn-tile": () => rotateTile(1),
    cancel,
    confirm,
    hint: requestHint,
    swap: startExchange,
    exchange: () => playNonPlacement("exchange"),
    keep: () => playNonPlacement("keep"),
    pass: () => playNonPlacement("pass"),
    back: () => sendCommand({ do: "back" }),
    draw: () => sendCommand({ do: "draw" }),
  };
  for (const [id, action] of Object.entries(actions)) button(id).addEventListener("click", action);
  onSelectionChange(render);
}

function render() {
  const { view, selection, legal, sending, replay } = state;
  const { now, table } = view;
  const playing = table.status === "playing" && view.yours.length > 0 && !replay && seatPlayedByBot(view) === null;
  const mine = playing && canMove(view) && legal !== null;
  const available = new Set(mine ? legal.moves.others.map(({ move }) => move) : []);
  const mayExchange = now.phase === "offer";
  const placing = playing && !mayExchange && !now.held && !selection.exchange;
  const visibility = {
    "turn-tile": placing,
    confirm: placing || selection.exchange !== null,
    cancel: selection.exchange !== null,
    hint: placing && table.hints,
    swap: placing && available.has("exchange"),
    pass: placing && available.has("pass"),
    exchange: mine && mayExchange && available.has("exchange"),
    keep: mine && mayExchange && available.has("keep"),
    back: playing && now.back,
    draw: playing && now.held,
  };
  for (const [id, visible] of Object.entries(visibility)) button(id).hidden = !visible;
  const rotationCount = selection.tile === null ? 0 : (legal?.tiles[selection.tile]?.length ?? 0);
  button("turn-tile").disabled = rotationCount < 2 || !canPlace();
  button("hint").disabled = !mine || sending !== null;
  button("confirm").disabled = confirmablePick() === null;
  button("confirm").textContent = selection.exchange
    ? t("table.swap_confirm", { n: selection.exchange.size })
    : t("table.confirm");
  for (const id of ["exchange", "keep", "pass", "back", "draw", "swap"]) button(id).disabled = sending !== null;
  renderNaming(legal?.moves ?? null);
}

/** @type {number[]} */
let namedPicks = [];

/** Render the choice of a colour for an empty corner, with the best one selected. @param {Moves | null} moves */
function renderNaming(moves) {
  const picks = state.selection.pending?.target.picks ?? [];
  const panel = byId("naming");
  panel.hidden = !moves?.named || picks.length < 2 || state.sending !== null;
  if (panel.hidden || !moves?.named) return void (namedPicks = []);
  if (picks !== namedPicks) {
    const base = Math.min(...picks.map((pick) => totalGain(moves, pick)));
    namedPicks = picks;
    // Pick numbers are in the order of the colours. The pick without a colour is first.
    const sorted = [...picks].sort((a, b) => a - b);
    byId("naming-choice").replaceChildren(...sorted.map((pick) => colourOption(moves, pick, base)));
  }
  for (const input of panel.querySelectorAll("input")) input.checked = Number(input.value) === state.selection.pick;
}

/** @param {Moves} moves @param {number} pick @param {number} base the points without a colour */
function colourOption(moves, pick, base) {
  const letter = moves.named?.[pick] ?? "";
  const bonus = totalGain(moves, pick) - base;
  return h(
    "label",
    { "data-named": letter || "none" },
    h("input", { type: "radio", name: "named", value: pick, onchange: () => nameColour(pick) }),
    letter ? symbolIcon(letter) : null,
    h("span", { class: letter ? "visually-hidden" : null }, letter ? colourName(letter) : t("table.name_none")),
    letter ? h("b", null, `+${bonus}`) : null,
  );
}
