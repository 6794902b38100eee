/** The selected tile: rotation, target, confirmation, and the tiles to exchange. This module does not use the DOM. */
import { getSetting } from "../../shared/settings.js";
import { newId, send } from "../net/connection.js";
import {
  distance,
  findNonPlacement,
  hitRadius,
  nearestTarget,
  placementAt,
  targetInDirection,
} from "../state/legal-moves.js";
import { emptySelection, notifySelection, state } from "../state/store.js";
import { canMove } from "../state/view.js";

/** @import {Placement, Point, Rotation} from "../state/model.js" */
/** @import {Command, NonPlacement, PlacedTile} from "../net/protocol.js" */

/** The position of the pointer while it moves the tile. @type {Point | null} */
let pointerPosition = null;

/** The rotations of the selected tile. @returns {Rotation[]} */
const rotations = () => (state.selection.tile === null ? [] : (state.legal?.tiles[state.selection.tile] ?? []));

/** The shown placement: the pending one, or the one under the pointer. */
export const shownPlacement = () => state.selection.pending ?? state.selection.hovered;

/** The shown rotation: that of the shown placement, or that of the tile in hand. */
export const shownRotation = () => rotations()[shownPlacement()?.rotation ?? state.selection.rotation] ?? null;

/** The pick number of the shown placement. */
export const shownPick = () =>
  state.selection.pending ? state.selection.pick : (state.selection.hovered?.target.picks[0] ?? null);

/** The hand of the seat from which the table is viewed. */
export const ownHand = () => state.view.now.hands[state.view.you ?? -1] ?? [];

/** Return whether tiles can be placed now. */
export const canPlace = () => state.legal !== null && state.sending === null && state.replay === null;

/** Discard the selection. */
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

/** Rotate the tile. On the board, skip rotations that do not fit. @param {1 | -1} direction */
export function rotateTile(direction) {
  const options = rotations();
  if (options.length < 2 || !canPlace()) return;
  const { selection } = state;
  const placement = shownPlacement();
  const from = placement?.rotation ?? selection.rotation;
  const candidates = options.map((_, index) => (from + direction * (index + 1) + options.length) % options.length);
  const next = placement && rotatedPlacement(placement, candidates, selection.pending ? null : pointerPosition);
  selection.rotation = next?.rotation ?? candidates[0];
  state.hintText = "";
  if (selection.pending) setPending(next);
  else selection.hovered = next;
  notifySelection();
}

/**
 * Return the placement after rotating the tile around its first letter, or under the pointer.
 * @param {Placement} placement
 * @param {number[]} candidates the rotations to try, in this order
 * @param {Point | null} pointer
 * @returns {Placement | null}
 */
function rotatedPlacement(placement, candidates, pointer) {
  const options = rotations();
  const placementFor = (/** @type {number} */ rotation, /** @type {number} */ maxDistance) => {
    const target = nearestTarget(
      options[rotation].targets,
      pointer ?? rotatePoint(placement.target, options[placement.rotation], options[rotation]),
      maxDistance,
    );
    return target && { rotation, target };
  };
  for (const rotation of candidates) {
    const nearby = placementFor(rotation, 1.1 * hitRadius(state.view.board.shapes[options[rotation].shape]));
    if (nearby && rotation !== placement.rotation) return nearby;
  }
  // No other rotation fits here. Without a pointer, the tile moves to the nearest target of the next rotation.
  return pointer ? null : placementFor(candidates[0], Infinity);
}

/** @param {Point} point @param {Rotation} from @param {Rotation} to @returns {Point} */
function rotatePoint(point, from, to) {
  const { shapes } = state.view.board;
  const [[ax, ay], [bx, by]] = [from, to].map(({ shape, first }) => shapes[shape].spots[first]);
  return { x: point.x + ax - bx, y: point.y + ay - by };
}

/** Show the placement at a point. @param {Point | null} point @param {boolean} [coarse] whether a finger points */
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

/** Make a placement wait for confirmation, with its best colour. @param {Placement | null} placement */
function setPending(placement) {
  const { selection } = state;
  selection.pending = placement;
  selection.pick = placement && placement.target.picks[0];
  if (placement) selection.rotation = placement.rotation;
}

/** Take the pending tile off the board. Its rotation is kept. */
export function liftTile() {
  if (!state.selection.pending) return;
  setPending(null);
  notifySelection();
}

/** Put the tile down at the hovered target, where it waits for confirmation. */
export function putDownTile() {
  const { selection } = state;
  if (!selection.hovered || !canPlace()) return;
  setPending(selection.hovered);
  selection.hovered = null;
  state.hintText = "";
  // Without a choice of colours, the setting may make confirmation unnecessary.
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
  state.selection.hovered = { rotation: index, target };
  state.hintText = "";
  notifySelection();
}

/** Name another colour for the pending placement. @param {number} pick */
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

/** Start choosing tiles to exchange. */
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

/** Send the pending placement or exchange. */
export function confirm() {
  const pick = confirmablePick();
  if (pick === null) return;
  const rotation = shownRotation();
  const target = state.selection.pending?.target;
  const placed =
    target && rotation ? { tile: rotation.letters, at: [], shape: rotation.shape, x: target.x, y: target.y } : null;
  sendCommand({ do: "move", pick, hold: getSetting("hold") }, placed);
}

/** Send a move that is not a placement. @param {NonPlacement} kind */
export function playNonPlacement(kind) {
  const pick = state.legal && findNonPlacement(state.legal.moves, kind);
  if (pick !== null) sendCommand({ do: "move", pick });
}

/**
 * Send a command, unless an earlier one is still unacknowledged.
 * @param {Command} command
 * @param {PlacedTile | null} [placed] the tile to show on the board until the acknowledgement
 */
export function sendCommand(command, placed = null) {
  if (state.sending) return;
  const id = newId();
  state.sending = { id, placed };
  state.hintText = "";
  send({ ...command, id, n: state.view.n });
  notifySelection();
}

/** Request a hint. */
export function requestHint() {
  const { view } = state;
  if (canMove(view) && view.table.hints) send({ do: "hint", id: newId(), n: view.n });
}

/** Select the move of a hint. @param {number} pick @param {string} text the reasons */
export function showHint(pick, text) {
  const { legal } = state;
  if (!legal || !canPlace()) return;
  const tile = legal.moves.tile[pick];
  state.selection = { ...emptySelection(), tile: tile ?? null };
  legal.tiles[tile]?.forEach(({ targets }, rotation) => {
    const target = targets.find(({ picks }) => picks.includes(pick));
    if (target) setPending({ rotation, target });
  });
  if (state.selection.pending) state.selection.pick = pick;
  state.hintText = text;
  notifySelection();
}
