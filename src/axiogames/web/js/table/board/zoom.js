/** Zoom and pan, by the viewBox of the board. */
import { hasReducedMotion } from "../../shared/appearance.js";
import { byId } from "../../shared/dom.js";

/** @import {Box} from "../net/protocol.js" */

const MAX_ZOOM = 4;
/** The zoom button is shown if cells are narrower than this, in pixels. */
const MIN_CELL_PIXELS = 30;
const BUTTON_ZOOM = 2;
/** Milliseconds. */
const GLIDE_DURATION = 220;

/** @type {Box} */
let boardBox = [0, 0, 1, 1];
/** @type {Box} */
let viewBox = [0, 0, 1, 1];
let frameRequest = 0;
/** @type {() => void} */
let onMove = () => {};
/** @type {() => {x: number, y: number} | null} */
let getFocus = () => null;

const board = () => byId("board");

/**
 * `onMove` is called after each zoom or pan, `getFocus` returns the point to zoom in on.
 * @param {{onMove: () => void, getFocus: () => {x: number, y: number} | null}} handlers
 */
export function startZoom(handlers) {
  ({ onMove, getFocus } = handlers);
  byId("zoom").addEventListener("click", () => (isZoomed() ? glideTo(boardBox) : zoomIn()));
  new ResizeObserver(() => {
    updateButton();
    onMove();
  }).observe(board());
}

/** Set the box of the whole board. The view moves only if it is not zoomed. @param {Box} box */
export function setBoardBox(box) {
  const zoomed = isZoomed();
  const isFirst = boardBox[2] === 1;
  boardBox = box;
  if (isFirst) setViewBox(box);
  else if (!zoomed) glideTo(box);
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
    const progress = Math.min(1, Math.max(0, (time - start) / GLIDE_DURATION));
    const eased = progress * (2 - progress);
    setViewBox(/** @type {Box} */ (from.map((part, index) => part + (box[index] - part) * eased)));
    if (progress < 1) frameRequest = requestAnimationFrame(frame);
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
  const scale = width / viewBox[2];
  setViewBox(clampBox([x - (x - viewBox[0]) * scale, y - (y - viewBox[1]) * scale, width, viewBox[3] * scale]));
  updateButton();
}

function zoomIn() {
  const { x, y } = getFocus() ?? { x: boardBox[0] + boardBox[2] / 2, y: boardBox[1] + boardBox[3] / 2 };
  const [width, height] = [boardBox[2] / BUTTON_ZOOM, boardBox[3] / BUTTON_ZOOM];
  glideTo(clampBox([x - width / 2, y - height / 2, width, height]));
}

/** Pan so that the board moves by a distance in board units. @param {number} dx @param {number} dy */
export function pan(dx, dy) {
  setViewBox(clampBox([viewBox[0] - dx, viewBox[1] - dy, viewBox[2], viewBox[3]]));
}

/** Scroll a point into view. @param {{x: number, y: number}} point */
export function reveal({ x, y }) {
  if (!isZoomed()) return;
  const [left, top, width, height] = viewBox;
  const offset = Math.max(Math.abs((x - left) / width - 0.5), Math.abs((y - top) / height - 0.5));
  if (offset > 0.35) glideTo(clampBox([x - viewBox[2] / 2, y - viewBox[3] / 2, viewBox[2], viewBox[3]]));
}

/** Keep a box within the board. @param {Box} box @returns {Box} */
function clampBox([x, y, width, height]) {
  const [left, top, boardWidth, boardHeight] = boardBox;
  return [
    Math.max(left, Math.min(x, left + boardWidth - width)),
    Math.max(top, Math.min(y, top + boardHeight - height)),
    width,
    height,
  ];
}
