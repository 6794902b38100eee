/** The selected tile: its rotation, target and confirmation, and the tiles to exchange. Does not use the DOM. */
import { getSetting } from "../../shared/settings.js";
import { newId } from "../net/connection.js";
import {
  targetInDirection,
  distance,
  placementAt,
  nearestTarget,
  findNonPlacement,
  hitRadius,
} from "../state/legal-moves.js";
import { notifySelection, emptySelection, state } from "../state/store.js";

/** @import {Placement, Point, Rotation} from "../state/model.js" */
/** @import {Command, OtherMove, PlacedTile} from "../net/protocol.js" */

/** @type {(command: Command) => void} */
let send = () => {};
/** The position of the pointer, if it moves the tile. @type {Point | null} */
let pointerPosition = null;

/** @param {(command: Command) => void} sender */
export function startSelection(sender) {
  send = sender;
}

/** The rotations of the selected tile. @returns {Rotation[]} */
const rotations = () => (state.selection.tile === null ? [] : (state.legal?.tiles[state.selection.tile] ?? []));

/** The placement that is shown: the pending one, or the one under the pointer. */
export const shownPlacement = () => state.selection.pending ?? state.selection.hovered;

/** The rotation that is shown: that of the placement, or that of the tile in hand. */
export const shownRotation = () => rotations()[shownPlacement()?.rotation ?? state.selection.rotation] ?? null;

/** The pick number of the placement that is shown. */
export const shownPick = () =>
  state.selection.pending ? state.selection.pick : (state.selection.hovered?.target.picks[0] ?? null);

/** The hand of the seat that is viewed. */
export const ownHand = () => state.view.now.hands[state.view.you ?? -1] ?? [];

/** Return whether tiles can be placed now. */
export const canPlace = () => state.legal !== null && state.sending === null && state.replay === null;

export function resetSelection() {
  state.selection = emptySelection();
  state.hintText = "";
  // A single tile is selected automatically.
  if (canPlace() && ownHand().length === 1 && state.legal?.tiles[0].length) selectTile(0);
}

/** @param {number} tile */
function selectTile(tile) {
  const upright = state.legal?.tiles[tile].findIndex(
    (rotation) => rotation.shape === state.view.board.hand && rotation.letters === ownHand()[tile],
  );
  state.selection = { ...emptySelection(), tile, rotation: Math.max(0, upright ?? 0) };
  state.hintText = "";
}

/** Select a tile if it can be placed. @param {number} tile */
export function pickUpTile(tile) {
  if (!canPlace() || !state.legal?.tiles[tile]?.length || state.selection.tile === tile) return;
  selectTile(tile);
  notifySelection();
}

/** Select a tile, rotate the selected one, or add it to the tiles to exchange. @param {number} tile */
export function activateTile(tile) {
  const { exchange } = state.selection;
  if (!exchange) return state.selection.tile === tile ? rotateTile(1) : pickUpTile(tile);
  if (!exchange.delete(tile)) exchange.add(tile);
  notifySelection();
}

/** Rotate the tile; on the board, to the next rotation that fits there. @param {number} by */
export function rotateTile(by) {
  const options = rotations();
  if (options.length < 2 || !canPlace()) return;
  const { selection } = state;
  const placement = shownPlacement();
  const from = placement?.rotation ?? selection.rotation;
  const others = options.map(
    (_, steps) => (from + by * (steps + 1) + options.length * options.length) % options.length,
  );
  const next = placement && rotatedPlacement(placement, others, selection.pending ? null : pointerPosition);
  selection.rotation = next?.rotation ?? others[0];
  state.hintText = "";
  if (selection.pending) setPending(next);
  else selection.hovered = next;
  notifySelection();
}

/**
 * The placement after rotating the tile around its first letter, or under the pointer.
 * @param {Placement} placement
 * @param {number[]} others the rotations in the order in which they are tried
 * @param {Point | null} pointer
 * @returns {Placement | null}
 */
function rotatedPlacement(placement, others, pointer) {
  const options = rotations();
  const placementFor = (/** @type {number} */ rotation, /** @type {number} */ within) => {
    const target = nearestTarget(
      options[rotation].targets,
      pointer ?? rotatePoint(placement.target, options[placement.rotation], options[rotation]),
      within,
    );
    return target && { rotation, target };
  };
  for (const rotation of others) {
    const nearby = placementFor(rotation, 1.1 * hitRadius(state.view.board.shapes[options[rotation].shape]));
    if (nearby && rotation !== placement.rotation) return nearby;
  }
  // No other rotation fits here. The pointer decides where else; without one the tile moves there.
  return pointer ? null : placementFor(others[0], Infinity);
}

/** @param {Point} point @param {Rotation} from @param {Rotation} to @returns {Point} */
function rotatePoint(point, from, to) {
  const { shapes } = state.view.board;
  const [[ax, ay], [bx, by]] = [from, to].map(({ shape, first }) => shapes[shape].spots[first]);
  return { x: point.x + ax - bx, y: point.y + ay - by };
}

/** @param {Point | null} point @param {boolean} [coarse] */
export function hoverAt(point, coarse = false) {
  const { selection, legal, view } = state;
  const { tile, rotation } = selection;
  if (tile === null || !legal || !canPlace()) return;
  pointerPosition = point;
  const placement = point && placementAt(legal, view.board, { tile, rotation, point, coarse });
  if (placement?.target === selection.hovered?.target) return;
  selection.hovered = placement;
  notifySelection();
}

/** @param {Placement | null} placement */
function setPending(placement) {
  const { selection } = state;
  selection.pending = placement;
  selection.pick = placement && placement.target.picks[0];
  if (placement) selection.rotation = placement.rotation;
}

/** Take the pending tile off the board, in its rotation. */
export function liftTile() {
  if (!state.selection.pending) return;
  setPending(null);
  notifySelection();
}

/** Put the tile down at the hovered target. Confirming is the next step. */
export function putDownTile() {
  const { selection } = state;
  if (!selection.hovered || !canPlace()) return;
  setPending(selection.hovered);
  selection.hovered = null;
  state.hintText = "";
  // A choice of colours remains to be made.
  if (!getSetting("confirm") && selection.pending?.target.picks.length === 1) confirm();
  else notifySelection();
}

/** Return whether a point is on the pending tile. @param {Point} point */
export function isOnPendingTile(point) {
  const rotation = shownRotation();
  const target = state.selection.pending?.target;
  if (!target || !rotation) return false;
  const { spots, box } = state.view.board.shapes[rotation.shape];
  const radius = 0.58 * Math.min(box[2], box[3]);
  return spots.some(([x, y]) => distance(point, { x: target.x + x, y: target.y + y }) < radius);
}

/** Move to the next target in a direction. @param {Point} direction */
export function moveTarget(direction) {
  const placement = shownPlacement();
  const index = placement?.rotation ?? state.selection.rotation;
  const targets = rotations()[index]?.targets;
  if (!targets || !canPlace()) return;
  const [x, y, width, height] = state.view.board.box;
  const middle = { x: x + width / 2, y: y + height / 2 };
  const target = placement
    ? targetInDirection(targets, placement.target, direction)
    : nearestTarget(targets, middle, Infinity);
  if (!target) return;
  setPending(null);
  pointerPosition = null;
  state.selection.hovered = { rotation: index, target: target };
  state.hintText = "";
  notifySelection();
}

/** @param {number} pick the same placement with another colour named */
export function nameColour(pick) {
  state.selection.pick = pick;
  notifySelection();
}

/** Undo one step: discard the placement, then the selection. */
export function cancel() {
  if (shownPlacement()) {
    setPending(null);
    state.selection.hovered = null;
    state.hintText = "";
  } else {
    resetSelection();
  }
  notifySelection();
}

export function startExchange() {
  state.selection = { ...emptySelection(), exchange: new Set() };
  notifySelection();
}

/** The pick number that the confirm button would send. @returns {number | null} */
export function confirmablePick() {
  const { selection, legal, sending } = state;
  if (!legal || sending) return null;
  if (!selection.exchange) return selection.pick;
  return selection.exchange.size
    ? findNonPlacement(
        legal.moves,
        "exchange",
        [...selection.exchange].map((tile) => ownHand()[tile]),
      )
    : null;
}

export function confirm() {
  const pick = confirmablePick();
  if (pick === null) return;
  const rotation = shownRotation();
  const target = state.selection.pending?.target;
  const placed =
    target && rotation ? { tile: rotation.letters, at: [], shape: rotation.shape, x: target.x, y: target.y } : null;
  sendCommand({ do: "move", pick, hold: getSetting("hold") }, placed);
}

/** @param {OtherMove} kind */
export function playOther(kind) {
  const pick = state.legal && findNonPlacement(state.legal.moves, kind);
  if (pick !== null) sendCommand({ do: "move", pick });
}

/** Send a command, one at a time, until the server acknowledges it. @param {Command} command @param {PlacedTile | null} [placed] */
export function sendCommand(command, placed = null) {
  if (state.sending) return;
  const id = newId();
  state.sending = { id, placed };
  state.hintText = "";
  send({ ...command, id, n: state.view.n });
  notifySelection();
}

/** Show a move as if it had been selected. @param {number} pick @param {string} text */
export function showSuggestion(pick, text) {
  const { legal } = state;
  if (!legal || !canPlace()) return;
  const tile = legal.moves.tile[pick];
  state.selection = { ...emptySelection(), tile: tile ?? null };
  legal.tiles[tile]?.forEach(({ targets }, rotation) => {
    const target = targets.find((one) => one.picks.includes(pick));
    if (target) setPending({ rotation, target: target });
  });
  if (state.selection.pending) state.selection.pick = pick;
  state.hintText = text;
  notifySelection();
}
