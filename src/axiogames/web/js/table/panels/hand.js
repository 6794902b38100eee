/** The own hand: a button for each tile. */
import { byId, h } from "../../shared/dom.js";
import { t } from "../../shared/i18n.js";
import { tileImage } from "../board/shapes.js";
import { makeDraggable } from "../input/pointer.js";
import { activateTile, shownRotation } from "../input/selection.js";
import { onSelectionChange, onViewChange, state } from "../state/store.js";
import { findNewTiles, ownSeat } from "../state/view.js";
import { tileName } from "../text.js";

const GAP = 8;
/** Pixels around the image of a tile. */
const PADDING = 8;
/** Minimum height of a touch target in pixels. */
const MIN_TARGET = 44;

/** @type {HTMLButtonElement[]} */
const buttons = [];
/** @type {string[]} */
let renderedHand = [];
/** The rendered shape and letters of each button, so that only changes are rendered. @type {string[]} */
const renderedTiles = [];

export function startHand() {
  onViewChange(renderHand);
  onSelectionChange(renderSelection);
  new ResizeObserver(arrange).observe(byId("hand"));
}

/** The tiles of the own hand, or none while they are hidden. */
export function visibleHand() {
  const { view } = state;
  const seat = view.you ?? (view.yours.length === 1 ? ownSeat(view) : null);
  const hand = seat === null ? [] : (view.now.hands[seat] ?? []);
  return hand.includes("?") ? [] : hand;
}

/** @param {number} tile */
export const handButton = (tile) => buttons[tile] ?? null;

function renderHand() {
  const hand = visibleHand();
  while (buttons.length < hand.length) addButton();
  while (buttons.length > hand.length) {
    buttons.pop()?.remove();
    renderedTiles.pop();
  }
  findNewTiles(hand, renderedHand).forEach((isNew, tile) => {
    buttons[tile].classList.remove("drawn");
    if (!isNew || !renderedHand.length) return;
    void buttons[tile].offsetWidth; // restarts the animation
    buttons[tile].classList.add("drawn");
  });
  renderedHand = hand;
  arrange();
}

function addButton() {
  const tile = buttons.length;
  const button = h("button", {
    type: "button",
    class: "hand-tile",
    "data-hand": tile,
    onclick: () => activateTile(tile),
  });
  makeDraggable(button, tile);
  buttons.push(button);
  byId("hand").append(button);
}

function renderSelection() {
  const { selection, legal, sending, view } = state;
  const rotation = shownRotation();
  renderedHand.forEach((letters, tile) => {
    const button = buttons[tile];
    const picked = selection.exchange ? selection.exchange.has(tile) : selection.tile === tile;
    const [shape, shownLetters] =
      picked && rotation && !selection.exchange ? [rotation.shape, rotation.letters] : [view.board.hand, letters];
    const usable = selection.exchange !== null || Boolean(legal?.tiles[tile]?.length);
    button.setAttribute("aria-pressed", String(picked));
    button.setAttribute("aria-label", t("table.tile_label", { number: tile + 1, tile: tileName(shownLetters) }));
    button.setAttribute("aria-disabled", String(!usable || sending !== null));
    button.classList.toggle("sent", picked && Boolean(sending?.placed));
    if (renderedTiles[tile] === `${shape} ${shownLetters}`) return;
    renderedTiles[tile] = `${shape} ${shownLetters}`;
    button.replaceChildren(tileImage(view.board, shape, shownLetters));
  });
}

/** Choose the number of columns that makes tiles largest. */
function arrange() {
  const box = byId("hand");
  const count = Math.max(1, renderedHand.length);
  const [, , tileWidth, tileHeight] = state.view.board.shapes[state.view.board.hand].box;
  const { clientWidth, clientHeight } = box;
  let best = { columns: count, scale: 0 };
  for (let columns = 1; columns <= count; columns += 1) {
    const rows = Math.ceil(count / columns);
    const width = (clientWidth - GAP * (columns - 1)) / columns - PADDING;
    const height = (clientHeight - GAP * (rows - 1)) / rows - PADDING;
    const scale = Math.min(width / tileWidth, height / tileHeight);
    if (height + PADDING >= MIN_TARGET && scale > best.scale) best = { columns, scale };
  }
  box.style.setProperty("--columns", String(best.columns));
  box.style.setProperty("--tile-width", `${Math.floor(best.scale * tileWidth + PADDING)}px`);
}
