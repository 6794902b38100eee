/**
 * A game for a number of players and options: its rules in WebAssembly, and its data.
 *
 * States are records in the memory of the module. Actions are numbers; `describe` says what they mean.
 */
import { instantiateRules } from "./module.js";

/** @import {Action, VariantData} from "./types.js" */
/** @import {NumberArray, RecordArray, RulesModule} from "./module.js" */

// Phases of a state. From `DRAW` on, chance acts.
export const OVER = 0;
export const PLACE = 1;
export const OFFER = 2;
export const DRAW = 3;
export const START = 4;
export const REMOVE = 5;

/** A hidden tile in a hand, and how it is written. */
const HIDDEN = 254;
export const UNKNOWN = "?";
/** An empty corner of a tile, and the mark of a cell that has lost its pyramid. */
const BLANK = "_";
const SPENT = "x";

// Columns of a described action; the cells and colours follow.
const KIND = 0;
const TILE = 1;
const NAMED = 2;
const PLACE_INDEX = 3;
const CELLS = 4;

const fromBase64 = (/** @type {string} */ text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

export class Variant {
  #buffers;
  /** @type {Map<string, number> | null} */
  #places = null;

  /**
   * @param {RulesModule} rules
   * @param {VariantData} data
   */
  constructor(rules, data) {
    this.rules = rules;
    this.data = data;
    this.constants = this.#record("constants", data.records.constants);
    this.opening = this.#record("state", data.records.opening);
    this.weights = this.#record("weights", data.records.weights);
    /** Every way to write a tile, and its kind. @type {Map<string, number>} */
    this.kinds = new Map(data.kinds.flatMap((letters, kind) => orientations(data, letters).map((way) => [way, kind])));
    const { rows, actions, tracks, players } = data;
    this.#buffers = {
      state: rules.records("state"),
      actions: rules.array("int32", actions.legal),
      rows: rules.array("int16", actions.legal, rows.action_columns),
      gains: rules.array("int16", actions.legal, tracks.length),
      points: rules.array("int16", rows.max_point_rows, rows.point_columns),
      ranks: rules.array("int64", players),
    };
  }

  /**
   * @param {BufferSource | WebAssembly.Module} module
   * @param {VariantData} data
   */
  static async instantiate(module, data) {
    return new Variant(await instantiateRules(module), data);
  }

  /** @param {string} name @param {string} content */
  #record(name, content) {
    const record = this.rules.records(name);
    record.bytes.set(fromBase64(content));
    return record;
  }

  /** Allocate a state, which is the opening. */
  newState() {
    const state = this.rules.records("state");
    state.bytes.set(this.opening.bytes);
    return state;
  }

  // ---------------------------------------------------------------- rules

  /**
   * Apply an action and return 0. An illegal one changes nothing and returns the reason.
   * @param {RecordArray} state
   * @param {number} action
   * @returns {number}
   */
  step(state, action) {
    return this.rules.functions.step(this.constants, state, action, true);
  }

  /** Apply a chance outcome. @param {RecordArray} state @param {number} outcome */
  resolve(state, outcome) {
    this.rules.functions.step(this.constants, state, outcome, false);
  }

  /**
   * Return a random chance outcome; a draw must be due.
   * @param {RecordArray} state
   * @param {NumberArray} rng
   * @returns {number}
   */
  sampleDraw(state, rng) {
    return this.rules.functions.sample_draw(this.constants, state, rng);
  }

  /** Return the legal actions, ascending. @param {RecordArray} state @returns {Int32Array} */
  legalActions(state) {
    const { actions } = this.#buffers;
    const count = this.rules.functions.list_legal(this.constants, state, actions);
    return /** @type {Int32Array} */ (actions.values.slice(0, count));
  }

  /**
   * Return the points of placements by track.
   * @param {RecordArray} state
   * @param {Int32Array} actions
   * @returns {number[][]}
   */
  gains(state, actions) {
    const { gains, state: copy, actions: passed } = this.#buffers;
    copy.bytes.set(state.bytes); // scoring writes to it
    passed.values.set(/** @type {any} */ (actions));
    this.rules.functions.score_all(this.constants, copy, passed, actions.length, gains);
    return rowsOf(gains, actions.length);
  }

  /**
   * Return what actions mean.
   * @param {RecordArray} state
   * @param {Int32Array | number[]} actions
   * @returns {Action[]}
   */
  describe(state, actions) {
    const { actions: passed, rows } = this.#buffers;
    passed.values.set(/** @type {any} */ (actions));
    this.rules.functions.describe_actions(this.constants, state, passed, actions.length, rows);
    return rowsOf(rows, actions.length).map((row) => this.#action(row));
  }

  /** @param {number[]} row @returns {Action} */
  #action(row) {
    const { cells, colours, rows, action_kinds } = this.data;
    const end = CELLS + rows.cells * rows.cell_columns;
    const covered = row.slice(CELLS, end);
    const kind = action_kinds[row[KIND]];
    const placed = kind === "place";
    return {
      kind,
      tile: row[TILE],
      place: row[PLACE_INDEX],
      named: colours[row[NAMED]] ?? "",
      at: placed ? (cells ? covered.map((cell) => cells.names[cell]) : [covered.join(",")]) : [],
      letters: placed ? row.slice(end).map((colour) => colours[colour] ?? BLANK).join("") : "",
    };
  }

  /**
   * Return where the points of an action come from, and the state after it.
   * @param {RecordArray} state
   * @param {number} action
   */
  preview(state, action) {
    const { state: after, points } = this.#buffers;
    after.bytes.set(state.bytes);
    const count = this.rules.functions.preview(this.constants, after, action, points);
    return { after, points: rowsOf(points, count) };
  }

  /** Hide from a state what a seat may not know. @param {RecordArray} state @param {number | null} seat */
  redact(state, seat) {
    this.rules.functions.redact(this.constants, state, seat ?? -1);
  }

  /** Return the rank of every seat, 1 for the best. @param {RecordArray} state @returns {number[]} */
  ranks(state) {
    const { ranks } = this.#buffers;
    this.rules.functions.rank_seats(this.constants, state, ranks);
    return Array.from(ranks.values, Number);
  }

  // ---------------------------------------------------------------- states

  /** Return the seat to move, or null if a draw is due or the game is over. @param {RecordArray} state */
  turn(state) {
    const phase = state.get("phase");
    return phase === PLACE || phase === OFFER ? state.get("seat") : null;
  }

  /** Return the tiles in a hand, hidden ones as `?`. @param {RecordArray} state @param {number} seat */
  hand(state, seat) {
    const size = state.type.fields.hands[2][1];
    const held = Number(state.field("held")[seat]);
    const kinds = [...state.field("hands").subarray(seat * size, seat * size + held)];
    return kinds.map((kind) => this.tileName(Number(kind)));
  }

  /** Return the letters of a kind of tile. @param {number} kind */
  tileName(kind) {
    return kind === HIDDEN ? UNKNOWN : this.data.kinds[kind];
  }

  /** Return the kind of a tile written in any way, a number that means a hidden tile for `?`. @param {string} letters */
  kindOf(letters) {
    return this.kinds.get(letters) ?? HIDDEN;
  }

  /** Return the source of the next draw. @param {RecordArray} state @returns {string} */
  source(state) {
    const { draw_source, draw_sources } = this.data;
    return draw_sources[draw_source ? state.get(draw_source) : 0];
  }

  /** Return the index of the place of a tile on these cells, in either order; -1 if the board grows. @param {string[]} at */
  placeIndex(at) {
    this.#places ??= new Map((this.data.cells?.places ?? []).map(([, , , name], index) => [name, index]));
    return this.#places.get(at.join("-")) ?? this.#places.get(at.toReversed().join("-")) ?? -1;
  }

  /** Return the number of pyramids that have been set. @param {RecordArray} state */
  pyramidCount(state) {
    return state.has("n_pyramids") ? state.get("n_pyramids") : 0;
  }

  /**
   * Return the cells of the pyramids set since there were `since`, the oldest first. When all are on the board, a new one
   * replaces the oldest.
   * @param {RecordArray} state
   * @param {number} [since] by default all that stand
   */
  pyramidCells(state, since = -1) {
    const { cells } = this.data;
    const count = this.pyramidCount(state);
    if (!cells || count === 0) return [];
    const order = state.field("order");
    const first = since < 0 ? Math.max(0, count - order.length) : since;
    return Array.from({ length: count - first }, (_, i) => cells.names[Number(order[(first + i) % order.length])]);
  }

  /** Return the cells that have lost their pyramid. @param {RecordArray} state @returns {string[]} */
  spentCells(state) {
    const { cells, state: layout } = this.data;
    const content = Object.entries(cells?.marks ?? {}).find(([, letter]) => letter === SPENT)?.[0];
    if (!cells || content === undefined) return [];
    const contents = state.field(layout.contents);
    return cells.names.filter((_, cell) => Number(contents[cell]) === Number(content));
  }

  /** Return the points of a seat by track. @param {RecordArray} state @param {number} seat */
  scores(state, seat) {
    const tracks = this.data.tracks.length;
    return Array.from(state.field("scores").subarray(seat * tracks, (seat + 1) * tracks), Number);
  }
}

/**
 * Return the first rows of an array with two dimensions.
 * @param {NumberArray} array
 * @param {number} count
 */
function rowsOf({ values, shape }, count) {
  const columns = shape[1];
  return Array.from({ length: count }, (_, row) =>
    Array.from(values.subarray(row * columns, (row + 1) * columns), Number),
  );
}

/**
 * Return all ways to write a tile: turned, on a board of straight tiles from either end.
 * @param {VariantData} data
 * @param {string} letters
 */
function orientations({ torus }, letters) {
  if (!torus) return [letters, [...letters].reverse().join("")];
  return [...letters].map((_, turns) => letters.slice(turns) + letters.slice(0, turns));
}
