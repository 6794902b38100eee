/** Pure functions of the view of a table. */

/** @import {PlaceEvent, Step, TableEvent, View} from "../net/protocol.js" */

/** Return the view after a step. @param {View} view @param {Step} step @returns {View} */
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

/** Return whether an event is a move, not a draw or part of the setup. @param {TableEvent} event */
export const isMove = (event) => event.t === "place" || event.t === "exchange" || event.t === "pass";

/** Return the last placement, if there is one. @param {TableEvent[]} events @returns {PlaceEvent | undefined} */
export const lastPlacement = (events) =>
  /** @type {PlaceEvent | undefined} */ (events.findLast((event) => event.t === "place"));

/** Return whether the table waits for players, or was closed before its game began. @param {View} view */
export const isInLobby = ({ table }) => table.status === "open" || table.status === "closed";

/** Return the number of moves so far. @param {View} view */
export const countMoves = (view) => view.events.filter(isMove).length;

/**
 * Return the seat of the person at the screen: the viewed seat, or in pass and play the seat to move.
 * @param {View} view
 * @returns {number | null}
 */
export function ownSeat(view) {
  if (view.you !== null) return view.you;
  if (view.yours.length === 1) return view.yours[0];
  if (view.yours.length > 1) return view.now.turn ?? view.yours[0];
  return null;
}

/** Return the seat of this person for which a bot plays, or null. @param {View} view */
export function seatPlayedByBot({ table, seats, yours }) {
  const seat = yours.find((index) => seats[index].away !== null);
  return table.status === "playing" ? (seat ?? null) : null;
}

/** Return whether the person may move now, at the seat from which the table is viewed. @param {View} view */
export const canMove = (view) =>
  view.you !== null && view.you === view.now.turn && view.moves !== null && seatPlayedByBot(view) === null;

/** Return the seat to which the device must be handed over, or null. @param {View} view @returns {number | null} */
export function seatToHandOver(view) {
  const { turn } = view.now;
  if (view.table.status !== "playing" || view.yours.length < 2 || turn === null) return null;
  return view.yours.includes(turn) && view.you !== turn ? turn : null;
}

/**
 * Return whether the last placement won an extra turn, so that the same seat places again.
 * @param {View} before
 * @param {View} after
 */
export function wonExtraTurn(before, after) {
  const placed = lastPlacement(after.events);
  if (!placed || after.now.phase !== "place" || after.now.turn !== placed.p) return false;
  if (before.now.phase === "place" && countMoves(before) === countMoves(after)) return false;
  if (after.events.findLast(isMove) !== placed) return false;
  return after.seats.length > 1 || after.now.extra > before.now.extra;
}

/**
 * Compare a hand with an earlier one as multisets.
 * @param {string[]} hand
 * @param {string[]} earlier
 * @returns {boolean[]} for each tile whether it is new
 */
export function findNewTiles(hand, earlier) {
  const unmatched = [...earlier];
  return hand.map((tile) => {
    const index = unmatched.indexOf(tile);
    if (index >= 0) unmatched.splice(index, 1);
    return index < 0;
  });
}
