/**
 * Everything the page knows, as plain data, and who wants to hear that it has changed.
 *
 * @typedef {{turn: number, target: Target}} Aim
 * @typedef {{
 *   tile: number | null,
 *   turn: number,
 *   aim: Aim | null,
 *   set: Aim | null,
 *   pick: number | null,
 *   swap: Set<number> | null,
 * }} Choice `aim` follows the pointer or the arrow keys, `set` waits to be confirmed; `swap` are tiles to exchange
 * @typedef {{
 *   view: View,
 *   options: Options | null,
 *   choice: Choice,
 *   sending: {id: string, placed: Placed | null} | null,
 *   preview: {pick: number, pyramids: string[], ends: boolean} | null,
 *   why: string,
 *   replay: Replay | null,
 *   online: boolean,
 * }} State `why` is the reason of a hint, as long as its ghost is shown
 * @typedef {{positions: View[], at: number, live: View}} Replay positions after so many moves, all hands open
 */

/** @import {Options, Target} from "./options.js" */
/** @import {Placed, View} from "./protocol.js" */

/** @returns {Choice} */
export const nothing = () => ({ tile: null, turn: 0, aim: null, set: null, pick: null, swap: null });

/** @type {State} */
export const state = {
  view: /** @type {View} */ (/** @type {unknown} */ (null)), // nothing is drawn before there is one
  options: null,
  choice: nothing(),
  sending: null,
  preview: null,
  why: "",
  replay: null,
  online: true,
};

/** @typedef {() => void} Listener */
/** @type {Listener[]} */
const onViews = [];
/** @type {Listener[]} */
const onChoices = [];

/**
 * Draw again when the position has changed.
 * @param {Listener} listener
 */
export const onView = (listener) => void onViews.push(listener);

/**
 * Draw again when what is chosen has changed, and after every change of the position.
 * @param {Listener} listener
 */
export const onChoice = (listener) => void onChoices.push(listener);

export function viewChanged() {
  for (const listener of onViews) listener();
  choiceChanged();
}

export function choiceChanged() {
  for (const listener of onChoices) listener();
}
