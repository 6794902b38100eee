/** Everything the page knows, as plain data, and who wants to hear that it has changed. */

/** @import {Choice, State} from "./model.js" */

/** @returns {Choice} */
export const nothing = () => ({ tile: null, turn: 0, aim: null, set: null, pick: null, swap: null });

/** @type {State} */
export const state = {
  // @ts-expect-error Nothing is drawn before there is a view, so nobody need ask whether there is one.
  view: null,
  options: null,
  choice: nothing(),
  sending: null,
  preview: null,
  why: "",
  replay: null,
  online: true,
};

/** @type {(() => void)[]} */
const onViews = [];
/** @type {(() => void)[]} */
const onChoices = [];

/** Draw again when the position has changed. @param {() => void} draw */
export const onView = (draw) => void onViews.push(draw);

/** Draw again when what is chosen has changed, and after every change of the position. @param {() => void} draw */
export const onChoice = (draw) => void onChoices.push(draw);

export function viewChanged() {
  for (const draw of onViews) draw();
  choiceChanged();
}

export function choiceChanged() {
  for (const draw of onChoices) draw();
}
