/**
 * Plays games and rollouts in WebAssembly and returns digests of all states. `driver.py` does the same in Python, with
 * the same calls in the same order. Runs in Node and in Chromium.
 *
 * @import {RulesModule} from "../../src/axiogames/web/js/rules/module.js"
 * @import {VariantData} from "../../src/axiogames/web/js/rules/types.js"
 */

const DRAW = 3; // the first phase in which chance acts
const OVER = 0;
const WIDTH = 24; // moves that the one-ply search compares

const fromBase64 = (/** @type {string} */ text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

const toHex = (/** @type {ArrayBuffer} */ bytes) =>
  [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** A game whose actions and states are collected in a digest. */
class Golden {
  /** @param {RulesModule} rules @param {VariantData} variant */
  constructor(rules, variant) {
    this.rules = rules;
    this.constants = this.record("constants", variant.records.constants);
    this.opening = this.record("state", variant.records.opening);
    this.weights = this.record("weights", variant.records.weights);
    this.states = rules.records("state", 4);
    this.scratch = rules.records("scratch");
    this.rng = rules.array("uint64", 1);
    this.actions = rules.array("int32", 1 << 14);
    this.rollouts = {
      actions: rules.array("int32", 2),
      seed: rules.array("uint64", 1),
      hidden: rules.records("hidden"),
      values: rules.array("float64", 2),
      squares: rules.array("float64", 2),
      points: rules.array("float64", 2, variant.players, this.opening.type.fields.gain[2][0]),
    };
    /** @type {Uint8Array[]} */
    this.parts = [];
  }

  /** @param {string} name @param {string} content */
  record(name, content) {
    const record = this.rules.records(name);
    record.bytes.set(fromBase64(content));
    return record;
  }

  /** @param {Uint8Array} bytes */
  keep(bytes) {
    this.parts.push(bytes.slice());
  }

  /** Play a game. @param {bigint} seed @param {boolean} strong */
  play(seed, strong) {
    const { functions } = this.rules;
    const state = this.states.at(0);
    state.bytes.set(this.opening.bytes);
    this.rng.values[0] = seed;
    const actions = [];
    while (state.get("phase") !== OVER) {
      let action;
      if (state.get("phase") >= DRAW) action = functions.sample_draw(this.constants, state, this.rng);
      else {
        const count = functions.list_legal(this.constants, state, this.actions);
        action = this.actions.values[actions.length % count];
        if (strong) {
          const [best, value] = functions.one_ply_search_at(this.constants, this.states, WIDTH, this.weights, this.scratch);
          action = best;
          this.keep(new Uint8Array(new Float64Array([value]).buffer));
        }
        if (actions.length % 16 === 0) this.roll(action, this.actions.values[count - 1]);
      }
      functions.step(this.constants, state, action, false);
      actions.push(action);
    }
    this.keep(new Uint8Array(new Int32Array(actions).buffer));
    this.keep(state.bytes);
  }

  /** Run rollouts after two actions. @param {number} first @param {number} second */
  roll(first, second) {
    const { actions, seed, hidden, values, squares, points } = this.rollouts;
    actions.values.set([first, second]);
    seed.values[0] = this.rng.values[0];
    for (const sums of [values, squares, points]) sums.values.fill(0);
    this.rules.functions.run_rollouts(
      ...[this.constants, this.states, actions, seed, 5, 2, hidden, 3, 0.85],
      ...[this.weights, this.scratch, values, squares, points],
    );
    for (const sums of [values, squares, points]) this.keep(new Uint8Array(sums.values.slice().buffer));
  }

  async digest() {
    const whole = new Uint8Array(this.parts.reduce((size, part) => size + part.length, 0));
    let at = 0;
    for (const part of this.parts) {
      whole.set(part, at);
      at += part.length;
    }
    this.parts = [];
    return toHex(await crypto.subtle.digest("SHA-256", whole));
  }
}

/**
 * Play a game per seed and return the digest of each.
 * @param {RulesModule} rules
 * @param {VariantData} variant
 * @param {string[]} seeds hexadecimal numbers
 * @param {boolean} strong whether moves are chosen by one-ply search
 */
export async function playGoldens(rules, variant, seeds, strong) {
  const golden = new Golden(rules, variant);
  const digests = [];
  for (const seed of seeds) {
    golden.play(BigInt(`0x${seed}`), strong);
    digests.push(await golden.digest());
  }
  return digests;
}
