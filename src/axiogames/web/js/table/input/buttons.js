/** The buttons below the hand: which of them are there, and what they do. */
import { byId, h } from "../../shared/dom.js";
import { colourName, t } from "../../shared/i18n.js";
import { icon } from "../board/shapes.js";
import { cancel, canPlace, confirm, confirmable, name, order, other, startSwap, turnBy } from "./selection.js";
import { mayMove, replaced } from "../state/view.js";
import { total } from "../state/legal-moves.js";
import { onChoice, state } from "../state/store.js";

/** @import {Moves} from "../net/protocol.js" */

/** @param {string} id */
const button = (id) => /** @type {HTMLButtonElement} */ (byId(id));

/** @param {() => void} hint */
export function startActions(hint) {
  const actions = {
    "turn-tile": () => turnBy(1),
    cancel,
    confirm,
    hint,
    swap: startSwap,
    exchange: () => other("exchange"),
    keep: () => other("keep"),
    pass: () => other("pass"),
    back: () => order({ do: "back" }),
    draw: () => order({ do: "draw" }),
  };
  for (const [id, act] of Object.entries(actions)) button(id).addEventListener("click", act);
  onChoice(draw);
}

function draw() {
  const { view, choice, options, sending, replay } = state;
  const { now, table } = view;
  const playing = table.status === "playing" && view.yours.length > 0 && !replay && replaced(view) === null;
  const mine = playing && mayMove(view) && options !== null;
  const offers = new Set(mine ? options.moves.others.map((one) => one.move) : []);
  const offered = now.phase === "offer";
  const placing = playing && !offered && !now.held && !choice.swap;
  const shown = {
    "turn-tile": placing,
    confirm: placing || choice.swap !== null,
    cancel: choice.swap !== null,
    hint: placing && table.hints,
    swap: placing && offers.has("exchange"),
    pass: placing && offers.has("pass"),
    exchange: mine && offered && offers.has("exchange"),
    keep: mine && offered && offers.has("keep"),
    back: playing && now.back,
    draw: playing && now.held,
  };
  for (const [id, there] of Object.entries(shown)) button(id).hidden = !there;
  const turns = choice.tile === null ? 0 : (options?.tiles[choice.tile]?.length ?? 0);
  button("turn-tile").disabled = turns < 2 || !canPlace();
  button("hint").disabled = !mine || sending !== null;
  button("confirm").disabled = confirmable() === null;
  button("confirm").textContent = choice.swap ? t("table.swap_confirm", { n: choice.swap.size }) : t("table.confirm");
  for (const id of ["exchange", "keep", "pass", "back", "draw", "swap"]) button(id).disabled = sending !== null;
  drawNaming(options?.moves ?? null);
}

/** @type {number[]} */
let named = [];

/** The colours that can be named for an empty corner, the best one chosen. @param {Moves | null} moves */
function drawNaming(moves) {
  const picks = state.choice.set?.target.picks ?? [];
  const box = byId("naming");
  box.hidden = !moves?.named || picks.length < 2 || state.sending !== null;
  if (box.hidden || !moves?.named) return void (named = []);
  if (picks !== named) {
    const none = Math.min(...picks.map((pick) => total(moves, pick)));
    named = picks;
    // Numbers of moves go through the colours in their order, without a name first.
    const inOrder = [...picks].sort((a, b) => a - b);
    byId("naming-choice").replaceChildren(...inOrder.map((pick) => namingChoice(moves, pick, none)));
  }
  for (const input of box.querySelectorAll("input")) input.checked = Number(input.value) === state.choice.pick;
}

/** @param {Moves} moves @param {number} pick @param {number} none points without a name */
function namingChoice(moves, pick, none) {
  const letter = moves.named?.[pick] ?? "";
  const more = total(moves, pick) - none;
  return h(
    "label",
    { "data-named": letter || "none" },
    h("input", { type: "radio", name: "named", value: pick, onchange: () => name(pick) }),
    letter ? icon(letter) : null,
    h("span", { class: letter ? "visually-hidden" : null }, letter ? colourName(letter) : t("table.name_none")),
    letter ? h("b", null, `+${more}`) : null,
  );
}
