/** The state of the page and its listeners. */

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
  // @ts-expect-error Nothing is rendered before the first view arrives, so readers need not check for null.
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

/** Render again when the view has changed. @param {() => void} render */
export const onViewChange = (render) => void viewListeners.push(render);

/** Render again when the selection has changed, and after every change of the view. @param {() => void} render */
export const onSelectionChange = (render) => void selectionListeners.push(render);

export function notifyView() {
  for (const draw of viewListeners) draw();
  notifySelection();
}

export function notifySelection() {
  for (const draw of selectionListeners) draw();
}
