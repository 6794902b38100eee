/** The bots: the levels of strength, from a view to an action. */
import { RolloutRunner, Search } from "./search.js";

/** @import {Variant} from "./variant.js" */
/** @import {Level} from "./types.js" */
/** @import {BotView, Helper} from "../local/types.js" */

/** @typedef {{milliseconds: number, cancelled: () => boolean}} Limits */

/** Actions that the one-ply search of a level compares. */
const SEARCH_WIDTH = 24;

/** A random seed or word. */
export const randomWord = () => crypto.getRandomValues(new BigUint64Array(1))[0];

export class Bots {
  #memory;

  /**
   * @param {Variant} variant
   * @param {ConstructorParameters<typeof Search>[1]} [helpers]
   */
  constructor(variant, helpers) {
    this.variant = variant;
    this.runner = new RolloutRunner(variant);
    this.search = new Search(this.runner, helpers);
    const { rules, data } = variant;
    const { constants } = rules.description;
    this.#memory = {
      states: rules.records("state", 2),
      scratch: rules.records("scratch"),
      words: rules.array("uint64", 1),
      actions: rules.array("int32", data.actions.legal),
      keys: rules.array("int64", data.tracks.length, constants.MAX_POINTS),
      points: rules.array("int64", 2, data.tracks.length),
      rng: rules.array("uint64", 1),
    };
  }

  /**
   * Return the action that a level chooses.
   * @param {Level} level
   * @param {BotView} view
   * @param {Limits} limits
   * @param {Helper[]} [helpers] take part in a search without a limit of rollouts
   * @param {bigint} [word] the source of all randomness
   * @returns {Promise<number>}
   */
  async choose(level, view, limits, helpers = [], word = randomWord()) {
    const { variant } = this;
    const { functions } = variant.rules;
    const { states, scratch, words, actions, keys, points, rng } = this.#memory;
    states.at(0).bytes.set(view.state);
    words.values[0] = word;
    switch (level.by) {
      case "points":
        return functions.choose_by_points(
          ...[variant.constants, states, level.policy, level.samples, words],
          ...[actions, keys, points, rng],
        );
      case "value":
        return functions.choose_by_value(variant.constants, states, level.samples, words, variant.weights, scratch)[0];
      case "one_ply":
        return functions.one_ply_search_at(variant.constants, states, SEARCH_WIDTH, variant.weights, scratch)[0];
      default: {
        const lines = await this.analyse(view, level.rollouts, limits, helpers, word);
        return lines[0].action;
      }
    }
  }

  /**
   * Compare the moves of the seat to move by rollouts, the best first.
   * @param {BotView} view
   * @param {number | null} rollouts
   * @param {Limits} limits
   * @param {Helper[]} [helpers]
   * @param {bigint} [seed]
   */
  analyse({ state, log, seat }, rollouts, limits, helpers = [], seed = randomWord()) {
    const { configs } = this.variant.data;
    const config = rollouts === null ? configs.full : configs.fast;
    const position = { state, log, seat, seed, searchAfter: config.search_after };
    this.runner.setPosition(position);
    for (const helper of helpers) helper.setPosition(position);
    return this.search.run(config, { ...limits, rollouts });
  }
}
