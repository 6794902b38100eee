/**
 * A game in progress with all its tiles, and its events as a record has them.
 *
 * The game draws from a generator in the module's memory. Undo replays a shorter list of actions.
 */
import { DRAW, OVER, REMOVE, START, UNKNOWN } from "./variant.js";

/** @import {Variant} from "./variant.js" */
/** @import {NumberArray, RecordArray} from "./module.js" */
/** @import {TableEvent} from "../table/net/protocol.js" */

export class Game {
  /** @type {NumberArray} */
  #rng;
  /** States for trials and views. @type {RecordArray} */
  #trial;
  /** @type {RecordArray} */
  #view;

  /**
   * @param {Variant} variant
   * @param {number[]} [actions] the actions so far, chance outcomes included
   */
  constructor(variant, actions = []) {
    this.variant = variant;
    this.state = variant.newState();
    this.#trial = variant.newState();
    this.#view = variant.newState();
    this.#rng = variant.rules.array("uint64", 1);
    this.reseed();
    this.restore(actions);
  }

  /** Make all further draws unpredictable, those after an undo as well. */
  reseed() {
    const [word] = crypto.getRandomValues(new BigUint64Array(1));
    this.#rng.values[0] = word || 1n; // the generator cannot leave zero
  }

  /** Replace the game by the one with these actions, chance outcomes included. @param {number[]} actions */
  restore(actions) {
    this.state.bytes.set(this.variant.opening.bytes);
    /** @type {number[]} */
    this.actions = [];
    /** Indices of the moves among the actions. @type {number[]} */
    this.moves = [];
    /** @type {TableEvent[]} */
    this.events = [];
    for (const action of actions) this.apply(action);
  }

  /** Whether the game has ended. */
  get over() {
    return this.state.get("phase") === OVER;
  }

  /** Draw what is due. */
  deal() {
    while (this.state.get("phase") >= DRAW) this.apply(this.variant.sampleDraw(this.state, this.#rng));
  }

  /**
   * Play a legal action, without the draws after it.
   * @param {number} action
   * @returns {number} 0, or the reason why the action is illegal; then nothing changes
   */
  play(action) {
    if (this.state.get("phase") >= DRAW) throw new Error("a draw is due");
    this.#trial.bytes.set(this.state.bytes);
    const reason = this.variant.step(this.#trial, action);
    if (reason === 0) this.apply(action);
    return reason;
  }

  /** Take back moves, and all draws after them. @param {number} count */
  undo(count) {
    const kept = this.moves[this.moves.length - count] ?? 0;
    this.restore(this.actions.slice(0, kept));
  }

  /** Apply a legal action or a possible chance outcome. @param {number} action */
  apply(action) {
    const chance = this.state.get("phase") >= DRAW;
    const event = chance ? this.#chanceEvent(action) : this.#moveEvent(action);
    const standing = this.variant.pyramidCount(this.state);
    this.variant.resolve(this.state, action);
    if (event?.t === "place") this.#complete(event, standing);
    if (!chance) this.moves.push(this.actions.length);
    this.actions.push(action);
    if (event) this.#append(event);
  }

  /** @param {number} action @returns {TableEvent} */
  #chanceEvent(action) {
    const { variant, state } = this;
    const phase = state.get("phase");
    if (phase === START) {
      const [{ letters, at }] = variant.describe(state, [action]);
      return { t: "start", display: [{ tile: letters, at: at[0] }] };
    }
    const tiles = [variant.tileName(action)];
    if (phase === REMOVE) return { t: "removed", tiles };
    const source = variant.source(state);
    return { t: "draw", p: state.get("seat"), tiles, ...(source !== "bag" && { from: source }) };
  }

  /** @param {number} action @returns {TableEvent | null} */
  #moveEvent(action) {
    const { variant, state } = this;
    const p = state.get("seat");
    const [{ kind, tile, letters, at, named }] = variant.describe(state, [action]);
    if (kind === "place") return { t: "place", p, tile: letters, at, gain: {}, ...(named && { named }) };
    if (kind === "exchange") {
      return { t: "exchange", p, shown: variant.hand(state, p).filter((_, index) => (tile >> index) & 1) };
    }
    return kind === "pass" ? { t: "pass", p } : null;
  }

  /**
   * Add the effects of a placement to its event.
   * @param {Extract<TableEvent, {t: "place"}>} event
   * @param {number} standing the number of pyramids before
   */
  #complete(event, standing) {
    const { variant, state } = this;
    variant.data.tracks.forEach((track, index) => {
      const points = Number(state.field("gain")[index]);
      if (points) event.gain[track] = points;
    });
    const cells = variant.pyramidCells(state, standing);
    if (cells.length) event.pyramids = cells;
  }

  /** Add an event. Tiles that are drawn together are one event. @param {TableEvent} event */
  #append(event) {
    const last = this.events.at(-1);
    const rest = this.events.slice(0, -1);
    if (event.t === "draw" && last?.t === "draw" && event.p === last.p && event.from === last.from) {
      this.events = [...rest, { ...last, tiles: [...last.tiles, ...event.tiles] }];
    } else if (event.t === "removed" && last?.t === "removed") {
      this.events = [...rest, { ...last, tiles: [...last.tiles, ...event.tiles] }];
    } else if (event.t === "start" && last?.t === "start") {
      this.events = [...rest, { ...last, display: [...last.display, ...event.display] }];
    } else {
      this.events.push(event);
    }
  }

  /** Return the state as a seat knows it, valid until the next call. @param {number | null} seat */
  view(seat) {
    this.#view.bytes.set(this.state.bytes);
    this.variant.redact(this.#view, seat);
    return this.#view;
  }
}

/**
 * Return an event as a seat knows it, with hidden tiles as `?`.
 * @param {TableEvent} event
 * @param {number | null} seat
 * @param {boolean} hidesExchanges
 * @returns {TableEvent}
 */
export function redactEvent(event, seat, hidesExchanges) {
  const hidden = (/** @type {string[]} */ tiles) => tiles.map(() => UNKNOWN);
  if (event.t === "draw" && event.p !== seat) return { ...event, tiles: hidden(event.tiles) };
  if (event.t === "exchange" && event.p !== seat && hidesExchanges) return { ...event, shown: hidden(event.shown) };
  if (event.t === "removed") return { ...event, tiles: hidden(event.tiles) };
  return event;
}
