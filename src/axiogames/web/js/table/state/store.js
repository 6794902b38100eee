/** Everything the page knows, as plain data, and who wants to hear that it has changed. */

/** @import {Selection, State} from "./model.js" */

/** @returns {Selection} */
export const emptySelection = () => ({ tile: null, rotation: 0, hovered: null, pending: null, pick: null, exchange: null });

/** @type {State} */
export const state = {
  // @ts-expect-error Nothing is drawn before there is a view, so nobody need ask whether there is one.
  view: null,
  legal: null,
  selection: emptySelection(),
  sending: null,
  preview: null,
  hintText: "",
  replay: null,
  online: true,
};

/** @type {(() => void)[]} */
const viewListeners = [];
/** @type {(() => void)[]} */
const selectionListeners = [];

/** Draw again when the position has changed. @param {() => void} render */
export const onViewChange = (render) => void viewListeners.push(render);

/** Draw again when what is chosen has changed, and after every change of the position. @param {() => void} render */
export const onSelectionChange = (render) => void selectionListeners.push(render);

export function notifyView() {
  for (const draw of viewListeners) draw();
  notifySelection();
}

export function notifySelection() {
  for (const draw of selectionListeners) draw();
}
