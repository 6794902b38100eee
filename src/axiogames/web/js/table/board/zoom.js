/** Zoom and pan, by the viewBox of the board. */
import { byId } from "../../shared/dom.js";
import { hasReducedMotion } from "../../shared/appearance.js";

/** @import {Box} from "../net/protocol.js" */

const MAX_ZOOM = 4;
/** The zoom button is shown if cells are narrower than this many pixels. */
const MIN_CELL_PIXELS = 30;
const BUTTON_ZOOM = 2;
const GLIDE_DURATION = 220;

/** @type {Box} */
let boardBox = [0, 0, 1, 1];
/** @type {Box} */
let viewBox = [0, 0, 1, 1];
let frameRequest = 0;
/** @type {() => void} */
let onMove = () => {};
/** @type {() => {x: number, y: number} | null} */
let focusPoint = () => null;

const board = () => byId("board");

/**
 * @param {{moved: () => void, focus: () => {x: number, y: number} | null}} handlers `moved` is called when the view of the
 *   board has changed, `focus` returns the point to zoom in on
 */
export function startZoom(handlers) {
  ({ moved: onMove, focus: focusPoint } = handlers);
  byId("zoom").addEventListener("click", () => (isZoomed() ? glideTo(boardBox) : zoomIn()));
  new ResizeObserver(() => {
    updateButton();
    onMove();
  }).observe(board());
}

/** Set the box of the whole board. A zoomed view stays where it is. @param {Box} box */
export function setBoardBox(box) {
  const close = isZoomed();
  const first = boardBox[2] === 1;
  boardBox = box;
  if (first) setViewBox(box);
  else if (!close) glideTo(box);
  updateButton();
}

export const isZoomed = () => viewBox[2] < boardBox[2] * 0.98;

function updateButton() {
  const { width, height } = board().getBoundingClientRect();
  const pixels = 100 * Math.min(width / boardBox[2], height / boardBox[3]);
  byId("zoom").hidden = pixels >= MIN_CELL_PIXELS && !isZoomed();
  byId("zoom").setAttribute("aria-pressed", String(isZoomed()));
}

/** @param {Box} box */
function setViewBox(box) {
  viewBox = box;
  board().setAttribute("viewBox", box.map((part) => part.toFixed(1)).join(" "));
  onMove();
}

/** @param {Box} box */
function glideTo(box) {
  cancelAnimationFrame(frameRequest);
  if (hasReducedMotion()) return setViewBox(box);
  const from = viewBox;
  const start = performance.now();
  const frame = (/** @type {number} */ time) => {
    const share = Math.min(1, Math.max(0, (time - start) / GLIDE_DURATION));
    const eased = share * (2 - share);
    setViewBox(/** @type {Box} */ (from.map((part, index) => part + (box[index] - part) * eased)));
    if (share < 1) frameRequest = requestAnimationFrame(frame);
    else updateButton();
  };
  frameRequest = requestAnimationFrame(frame);
}

/**
 * Zoom around a fixed point of the board.
 * @param {number} factor
 * @param {{x: number, y: number}} point
 */
export function zoomAt(factor, { x, y }) {
  const width = Math.min(boardBox[2], Math.max(boardBox[2] / MAX_ZOOM, viewBox[2] / factor));
  const share = width / viewBox[2];
  setViewBox(clampBox([x - (x - viewBox[0]) * share, y - (y - viewBox[1]) * share, width, viewBox[3] * share]));
  updateButton();
}

function zoomIn() {
  const { x, y } = focusPoint() ?? { x: boardBox[0] + boardBox[2] / 2, y: boardBox[1] + boardBox[3] / 2 };
  const [width, height] = [boardBox[2] / BUTTON_ZOOM, boardBox[3] / BUTTON_ZOOM];
  glideTo(clampBox([x - width / 2, y - height / 2, width, height]));
}

/** @param {number} dx @param {number} dy in board units */
export function pan(dx, dy) {
  setViewBox(clampBox([viewBox[0] - dx, viewBox[1] - dy, viewBox[2], viewBox[3]]));
}

/** Scroll a point into view. @param {{x: number, y: number}} point */
export function reveal({ x, y }) {
  if (!isZoomed()) return;
  const [left, top, width, height] = viewBox;
  const off = Math.max(Math.abs((x - left) / width - 0.5), Math.abs((y - top) / height - 0.5));
  if (off > 0.35) glideTo(clampBox([x - viewBox[2] / 2, y - viewBox[3] / 2, viewBox[2], viewBox[3]]));
}

/** Keep a box within the board. @param {Box} box @returns {Box} */
function clampBox([x, y, width, height]) {
  const [left, top, wide, tall] = boardBox;
  return [
    Math.max(left, Math.min(x, left + wide - width)),
    Math.max(top, Math.min(y, top + tall - height)),
    width,
    height,
  ];
}
