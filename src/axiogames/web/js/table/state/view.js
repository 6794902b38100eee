/** A view as plain data: what a step makes of it, and what can be read off it. */

/** @import {PlaceEvent, Step, TableEvent, View} from "../net/protocol.js" */

/** @param {View} view @param {Step} step @returns {View} */
export function applyStep(view, step) {
  const over = step.now.phase === "over";
  return {
    ...view,
    n: step.n,
    you: step.you,
    board: step.board ?? view.board,
    tiles: [...view.tiles, ...step.tiles],
    events: [...view.events, ...step.events],
    now: step.now,
    moves: step.moves,
    table: over ? { ...view.table, status: "over" } : view.table,
  };
}

/** @param {TableEvent} event */
export const isMove = (event) => event.t === "place" || event.t === "exchange" || event.t === "pass";

/** @param {TableEvent[]} events @returns {PlaceEvent | undefined} */
export const lastPlacement = (events) =>
  /** @type {PlaceEvent | undefined} */ (events.findLast((event) => event.t === "place"));

/** Return whether the game has not begun, and will not. @param {View} view */
export const isWaiting = ({ table }) => table.status === "open" || table.status === "closed";

/** @param {View} view */
export const countMoves = (view) => view.events.filter(isMove).length;

/**
 * The seat in front of the screen: the one we look from, or at a shared screen the one to move.
 * @param {View} view
 * @returns {number | null}
 */
export function ownSeat(view) {
  if (view.you !== null) return view.you;
  if (view.yours.length === 1) return view.yours[0];
  if (view.yours.length > 1) return view.now.turn ?? view.yours[0];
  return null;
}

/** The own seat that a bot plays for. @param {View} view */
export function seatPlayedByBot({ table, seats, yours }) {
  const seat = yours.find((own) => seats[own].away !== null);
  return table.status === "playing" ? (seat ?? null) : null;
}

/** @param {View} view */
export const canMove = (view) =>
  view.you !== null && view.you === view.now.turn && view.moves !== null && seatPlayedByBot(view) === null;

/** The seat that has to be handed the screen before anything can go on. @param {View} view @returns {number | null} */
export function seatToHandOver(view) {
  const { turn } = view.now;
  if (view.table.status !== "playing" || view.yours.length < 2 || turn === null) return null;
  return view.yours.includes(turn) && view.you !== turn ? turn : null;
}

/**
 * Whether the last placement won its seat another one: it is still, or again, that seat's turn to place.
 * @param {View} before
 * @param {View} now
 */
export function wonExtraTurn(before, now) {
  const placed = lastPlacement(now.events);
  if (!placed || now.now.phase !== "place" || now.now.turn !== placed.p) return false;
  if (before.now.phase === "place" && before.events.filter(isMove).length === countMoves(now)) return false;
  if (now.events.findLast(isMove) !== placed) return false;
  return now.seats.length > 1 || now.now.extra > before.now.extra;
}

/**
 * What was drawn, as counts that a hand can be compared with.
 * @param {string[]} hand
 * @param {string[]} earlier
 * @returns {boolean[]} for each tile of the hand whether it is new
 */
export function findNewTiles(hand, earlier) {
  const left = [...earlier];
  return hand.map((tile) => {
    const at = left.indexOf(tile);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}
