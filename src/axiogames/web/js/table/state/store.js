/** The state of the table page, and its listeners. */

/** @import {Selection, State} from "./model.js" */

/** @returns {Selection} */
export const emptySelection = () => ({
  tile: null,
  rotation: 0,
  hovered: null,
  pending: null,
  pick: null,
  exchange: null,
});

/** @type {State} */
export const state = {
  // @ts-expect-error Nothing is rendered before the first view arrives, so no reader needs to check for null.
  view: null,
  legal: null,
  selection: emptySelection(),
  sending: null,
  preview: null,
  hintText: "",
  preparation: "",
  replay: null,
  online: true,
};

/** @type {(() => void)[]} */
const viewListeners = [];
/** @type {(() => void)[]} */
const selectionListeners = [];

/** Call a function when the view has changed. @param {() => void} render */
export const onViewChange = (render) => void viewListeners.push(render);

/** Call a function when the selection or the view has changed. @param {() => void} render */
export const onSelectionChange = (render) => void selectionListeners.push(render);

/** Call the listeners of view and selection. */
export function notifyView() {
  for (const render of viewListeners) render();
  notifySelection();
}

/** Call the listeners of the selection. */
export function notifySelection() {
  for (const render of selectionListeners) render();
}
