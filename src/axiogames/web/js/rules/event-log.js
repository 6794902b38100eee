/** Event logs: what a seat has seen of the tiles, as rows of numbers that the rules read. */

/** @import {Variant} from "./variant.js" */
/** @import {TableEvent} from "../table/net/protocol.js" */

// Actions of the log (see players/evaluation/hidden_tiles.py).
const DRAWN = 0;
const PLACED = 1;
const EXCHANGED = 2;

/**
 * Return the log of events: for each tile an action, a seat and a kind of tile.
 * @param {Variant} variant
 * @param {TableEvent[]} events as the seat knows them
 */
export function eventLog(variant, events) {
  const rows = events.flatMap((event) => {
    if (event.t === "draw") return event.tiles.map((tile) => [DRAWN, event.p, variant.kindOf(tile)]);
    if (event.t === "place") return [[PLACED, event.p, variant.kindOf(event.tile)]];
    if (event.t === "exchange") return event.shown.map((tile) => [EXCHANGED, event.p, variant.kindOf(tile)]);
    return [];
  });
  return Int16Array.from(rows.flat());
}

export const LOG_COLUMNS = 3;
