/**
 * Search for the best move: the clock and the memory of the search in the rules.
 *
 * The rules run rollouts and halve the moves (see players/search/search_loops.py). This module decides how many rollouts
 * to run before it looks at the clock again.
 */
import { LOG_COLUMNS } from "./event-log.js";

/** @import {Variant} from "./variant.js" */
/** @import {RolloutConfig} from "./types.js" */

/** Determinizations that are added up together if rollouts are counted. */
const CHUNK = 16;
/** Milliseconds between two looks at the clock. */
const CLOCK_INTERVAL = 6;
const MAX_SAMPLES = 64;
const MAX_LOG = 1024;
const MAX_COMPARED = 64;
/** Length of the states that a rollout needs. */
const STATES = 4;

/**
 * @typedef {{state: Uint8Array, log: Int16Array, seat: number, seed: bigint, searchAfter: number}} SearchPosition
 * The rollouts of one round: seed and states are those of the search.
 * @typedef {{actions: number[], first: number, samples: number, turns: number}} Rollouts
 * @typedef {{values: Float64Array, squares: Float64Array, samples: number}} Sums
 */

/** Runs rollouts from one position. */
export class RolloutRunner {
  #memory;

  /** @param {Variant} variant */
  constructor(variant) {
    this.variant = variant;
    const { rules, data } = variant;
    this.#memory = {
      states: rules.records("state", STATES),
      scratch: rules.records("scratch"),
      hidden: rules.records("hidden"),
      seed: rules.array("uint64", 1),
      log: rules.array("int16", MAX_LOG, LOG_COLUMNS),
      ages: rules.array("int64", MAX_LOG),
      actions: rules.array("int32", data.actions.legal),
      values: rules.array("float64", data.actions.legal),
      squares: rules.array("float64", data.actions.legal),
      points: rules.array("float64", data.actions.legal, data.players, data.tracks.length),
    };
    this.searchAfter = 0;
  }

  /**
   * Set the position: a view, the event log of its seat, and the seed of the rollouts.
   * @param {SearchPosition} position
   */
  setPosition({ state, log, seat, seed, searchAfter }) {
    const { states, hidden, ages, log: rows } = this.#memory;
    const { functions } = this.variant.rules;
    states.at(0).bytes.set(state);
    this.#memory.seed.values[0] = seed;
    this.searchAfter = searchAfter;
    // More rows than any game has would only lose what can be inferred from them.
    const count = Math.min(log.length / LOG_COLUMNS, MAX_LOG);
    rows.values.set(/** @type {any} */ (log.subarray(0, count * LOG_COLUMNS)));
    functions.infer_hidden_tiles(this.variant.constants, states, rows.first(count), seat, ages.first(count), hidden);
  }

  /** The position. */
  get state() {
    return this.#memory.states.at(0);
  }

  /**
   * Run a rollout after each action in each of a number of determinizations.
   * @param {Rollouts} rollouts
   * @returns {Sums}
   */
  run({ actions, first, samples, turns }) {
    const { states, scratch, hidden, seed, ...arrays } = this.#memory;
    const passed = arrays.actions.first(actions.length);
    const [values, squares, points] = [arrays.values, arrays.squares, arrays.points].map((sums) => {
      const used = sums.first(actions.length);
      used.values.fill(/** @type {never} */ (0));
      return used;
    });
    passed.values.set(/** @type {any} */ (actions));
    this.variant.rules.functions.run_rollouts(
      ...[this.variant.constants, states, passed, seed, first, samples, hidden, turns, this.searchAfter],
      ...[this.variant.weights, scratch, values, squares, points],
    );
    return {
      samples,
      values: /** @type {Float64Array} */ (values.values.slice()),
      squares: /** @type {Float64Array} */ (squares.values.slice()),
    };
  }
}

/**
 * A move that a search compared, its value in [0, 1] and the error of the value.
 * @typedef {{action: number, value: number, error: number, rollouts: number}} Line
 */

/** One search at a time, over a runner and its helpers. */
export class Search {
  /**
   * @param {RolloutRunner} runner
   * @param {((rollouts: Rollouts) => Promise<Sums>)[]} [helpers] run rollouts elsewhere, in the same position
   */
  constructor(runner, helpers = []) {
    this.runner = runner;
    this.helpers = helpers;
    const { rules, data } = runner.variant;
    this.search = rules.records("search");
    this.sums = { values: rules.array("float64", MAX_COMPARED), squares: rules.array("float64", MAX_COMPARED) };
    this.actions = rules.array("int32", data.actions.legal);
    this.priors = rules.array("float64", data.actions.legal);
  }

  /**
   * Compare the moves of the runner's position.
   * @param {RolloutConfig} config
   * @param {{milliseconds: number, rollouts: number | null, cancelled: () => boolean}} limits
   * @returns {Promise<Line[]>} the best first
   */
  async run(config, { milliseconds, rollouts, cancelled }) {
    const { variant } = this.runner;
    const { functions } = variant.rules;
    const started = performance.now();
    const actions = variant.legalActions(this.runner.state);
    const { values } = this.runner.run({ actions: [...actions], first: 0, samples: 1, turns: 0 });
    this.actions.values.set(/** @type {any} */ (actions));
    this.priors.values.set(/** @type {any} */ (values));
    this.search.field("rollouts")[0] = BigInt(rollouts ?? -1);
    this.search.field("width")[0] = BigInt(config.width);
    this.search.field("prior_weight")[0] = config.prior_weight;
    this.search.field("n_included")[0] = 0n;
    functions.begin_search(this.search, this.actions, this.priors, actions.length);
    const begun = performance.now();
    const remaining = started + milliseconds - begun;
    const rounds = this.search.get("rounds");
    for (let round = 1; round <= rounds; round++) {
      const end = begun + (remaining * round) / rounds;
      if (await this.#round(config.turns, end, rollouts !== null, cancelled)) break;
      functions.end_round(this.search);
    }
    functions.rank_moves(this.search);
    return this.#lines();
  }

  /**
   * Run the rollouts of a round and return whether the search is over.
   * @param {number} turns
   * @param {number} end
   * @param {boolean} counted
   * @param {() => boolean} cancelled
   */
  async #round(turns, end, counted, cancelled) {
    const { functions } = this.runner.variant.rules;
    const runners = counted ? 1 : this.helpers.length + 1;
    let samples = counted ? CHUNK : 1;
    for (;;) {
      if (counted) samples = Math.min(CHUNK, this.search.get("left"));
      if (samples <= 0) return false;
      const start = performance.now();
      const results = await this.#rollouts(turns, samples, runners);
      if (cancelled()) return true;
      for (const sums of results) this.#add(sums);
      // Messages, such as a cancellation, are received between two batches of rollouts.
      await nextTask();
      const now = performance.now();
      if (cancelled()) return true;
      if (now >= end) return false;
      if (counted) continue;
      if (functions.search_is_decided(this.search)) return true;
      const each = Math.max((now - start) / samples, 1e-4);
      samples = Math.max(1, Math.min(Math.floor(Math.min(CLOCK_INTERVAL, end - now) / each), MAX_SAMPLES));
    }
  }

  /**
   * Run the same number of determinizations here and in each helper.
   * @param {number} turns
   * @param {number} samples
   * @param {number} runners
   */
  #rollouts(turns, samples, runners) {
    const alive = this.search.field("alive_actions").subarray(0, this.search.get("n_alive"));
    const actions = Array.from(alive, Number);
    const done = this.search.get("samples");
    const tasks = Array.from({ length: runners }, (_, i) => ({ actions, first: done + i * samples, samples, turns }));
    const remote = tasks.slice(1).map((task, i) => this.helpers[i](task));
    return Promise.all([this.runner.run(tasks[0]), ...remote]);
  }

  /** @param {Sums} sums */
  #add({ samples, values, squares }) {
    this.sums.values.values.set(/** @type {any} */ (values));
    this.sums.squares.values.set(/** @type {any} */ (squares));
    this.runner.variant.rules.functions.add_rollouts(this.search, samples, this.sums.values, this.sums.squares);
  }

  /** @returns {Line[]} */
  #lines() {
    const field = (/** @type {string} */ name) => Array.from(this.search.field(name), Number);
    const [actions, values, errors, counts] = ["actions", "values", "errors", "counts"].map(field);
    return field("order")
      .slice(0, this.search.get("moves"))
      .map((i) => ({ action: actions[i], value: values[i], error: errors[i], rollouts: counts[i] }));
  }
}

const channel = new MessageChannel();

/** Wait until the messages that have arrived are handled: a timer would wait for 4 ms. */
function nextTask() {
  return new Promise((resolve) => {
    channel.port1.onmessage = resolve;
    channel.port2.postMessage(null);
  });
}
