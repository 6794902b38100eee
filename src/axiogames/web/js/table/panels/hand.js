/** The own hand: a button for every tile. */
import { byId, h } from "../../shared/dom.js";
import { t } from "../../shared/i18n.js";
import { tilePicture } from "../board/shapes.js";
import { shownTurn, touchTile } from "../input/selection.js";
import { makeDraggable } from "../input/pointer.js";
import { fresh, ownSeat } from "../state/view.js";
import { onChoice, onView, state } from "../state/store.js";
import { tileName } from "../text.js";

const GAP = 8;
/** Around the picture of a tile. */
const PADDING = 8;

/** @type {HTMLButtonElement[]} */
const buttons = [];
/** @type {string[]} */
let shownHand = [];
/** What each button shows, so that nothing is drawn again for every movement of the mouse. @type {string[]} */
const pictures = [];

export function startHand() {
  onView(drawHand);
  onChoice(drawChoice);
  new ResizeObserver(arrange).observe(byId("hand"));
}

/** The tiles to show: none as long as they are somebody's secret. */
export function visibleHand() {
  const { view } = state;
  const seat = view.you ?? (view.yours.length === 1 ? ownSeat(view) : null);
  const hand = seat === null ? [] : (view.now.hands[seat] ?? []);
  return hand.includes("?") ? [] : hand;
}

/** @param {number} tile */
export const handButton = (tile) => buttons[tile] ?? null;

function drawHand() {
  const hand = visibleHand();
  while (buttons.length < hand.length) addButton();
  while (buttons.length > hand.length) {
    buttons.pop()?.remove();
    pictures.pop();
  }
  fresh(hand, shownHand).forEach((isNew, tile) => {
    buttons[tile].classList.remove("drawn");
    if (!isNew || !shownHand.length) return;
    void buttons[tile].offsetWidth; // the animation begins anew
    buttons[tile].classList.add("drawn");
  });
  shownHand = hand;
  arrange();
}

function addButton() {
  const tile = buttons.length;
  const button = h("button", { type: "button", class: "hand-tile", "data-hand": tile, onclick: () => touchTile(tile) });
  makeDraggable(button, tile);
  buttons.push(button);
  byId("hand").append(button);
}

function drawChoice() {
  const { choice, options, sending, view } = state;
  const turn = shownTurn();
  shownHand.forEach((letters, tile) => {
    const button = buttons[tile];
    const picked = choice.swap ? choice.swap.has(tile) : choice.tile === tile;
    const [shape, look] = picked && turn && !choice.swap ? [turn.shape, turn.letters] : [view.board.hand, letters];
    const usable = choice.swap !== null || Boolean(options?.tiles[tile]?.length);
    button.setAttribute("aria-pressed", String(picked));
    button.setAttribute("aria-label", t("table.tile_label", { number: tile + 1, tile: tileName(look) }));
    button.setAttribute("aria-disabled", String(!usable || sending !== null));
    button.classList.toggle("sent", picked && Boolean(sending?.placed));
    if (pictures[tile] === `${shape} ${look}`) return;
    pictures[tile] = `${shape} ${look}`;
    button.replaceChildren(tilePicture(view.board, shape, look));
  });
}

/** As many rows as make the tiles largest. */
function arrange() {
  const box = byId("hand");
  const count = Math.max(1, shownHand.length);
  const [, , wide, tall] = state.view.board.shapes[state.view.board.hand].box;
  const { clientWidth, clientHeight } = box;
  let best = { columns: count, unit: 0 };
  for (let columns = 1; columns <= count; columns += 1) {
    const lines = Math.ceil(count / columns);
    const width = (clientWidth - GAP * (columns - 1)) / columns - PADDING;
    const height = (clientHeight - GAP * (lines - 1)) / lines - PADDING;
    const unit = Math.min(width / wide, height / tall);
    if (height + PADDING >= 44 && unit > best.unit) best = { columns, unit };
  }
  box.style.setProperty("--columns", String(best.columns));
  box.style.setProperty("--tile-width", `${Math.floor(best.unit * wide + PADDING)}px`);
}
