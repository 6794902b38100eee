/** The legal moves of a position in the form that the board needs: parallel columns over looks and places. */

/** @import {Variant} from "./variant.js" */
/** @import {RecordArray} from "./module.js" */
/** @import {Torus} from "./types.js" */
/** @import {Moves, NonPlacement} from "../table/net/protocol.js" */

/**
 * Return the legal moves of the seat to move, and the action of each, or null if there are none.
 * @param {Variant} variant
 * @param {RecordArray} state a view of the seat to move
 * @returns {{moves: Moves, actions: Int32Array} | null}
 */
export function offeredMoves(variant, state) {
  if (variant.turn(state) === null || variant.hand(state, state.get("seat")).includes("?")) return null;
  const actions = variant.legalActions(state);
  if (!actions.length) return null;
  const described = variant.describe(state, actions);
  const count = described.findIndex(({ kind }) => kind !== "place");
  const placements = count < 0 ? described : described.slice(0, count);
  const looks = indexed(placements.map(({ letters }) => letters));
  const places = indexed(placements.map(({ place }) => place));
  const names = new Map(placements.map(({ place, at }) => [place, at]));
  const hand = variant.hand(state, state.get("seat"));
  /** @type {Moves} */
  const moves = {
    places: places.distinct.map((place) => {
      const at = names.get(place) ?? [];
      return [...placeOf(variant, at, place), at.join("-")];
    }),
    looks: looks.distinct,
    tile: placements.map(({ tile }) => tile),
    look: looks.index,
    place: places.index,
    named: placements.some(({ named }) => named) ? placements.map(({ named }) => named) : null,
    gain: variant.gains(state, actions.subarray(0, placements.length)),
    others: described.slice(placements.length).map(({ kind, tile }) => ({
      move: /** @type {NonPlacement} */ (kind),
      ...(kind === "exchange" && { tiles: hand.filter((_, index) => (tile >> index) & 1) }),
    })),
  };
  return { moves, actions };
}

/**
 * Return shape and position of a tile on the board.
 * @param {Variant} variant
 * @param {string[]} at its cells
 * @param {number} [place] the index of its place, if it is known
 * @returns {[shape: number, x: number, y: number]}
 */
export function placeOf(variant, at, place = variant.placeIndex(at)) {
  const { cells, torus } = variant.data;
  if (cells) {
    const [shape, x, y] = cells.places[place];
    return [shape, x, y];
  }
  const { shape, origin, right, up } = /** @type {Torus} */ (torus);
  const [column, row] = at[0].split(",").map(Number);
  return [shape, origin[0] + column * right[0] + row * up[0], origin[1] + column * right[1] + row * up[1]];
}

/**
 * Return the distinct values in the order of their first occurrence, and the index of each value among them.
 * @template Value
 * @param {Value[]} values
 */
function indexed(values) {
  /** @type {Map<Value, number>} */
  const found = new Map();
  const index = values.map((value) => {
    const known = found.get(value) ?? found.size;
    found.set(value, known);
    return known;
  });
  return { distinct: [...found.keys()], index };
}
