/** Looking closer at a part of the board, by its viewBox. */
import { byId } from "../../shared/dom.js";
import { isCalm } from "../../shared/appearance.js";

/** @import {Box} from "../net/protocol.js" */

const MOST = 4;
/** A cell narrower than this, in pixels, is hard to hit: closer looks are offered. */
const SMALL = 30;
const CLOSER = 2;
const GLIDE = 220;

/** @type {Box} */
let whole = [0, 0, 1, 1];
/** @type {Box} */
let shown = [0, 0, 1, 1];
let gliding = 0;
/** @type {() => void} */
let moved = () => {};
/** @type {() => {x: number, y: number} | null} */
let focus = () => null;

const board = () => byId("board");

/**
 * @param {{moved: () => void, focus: () => {x: number, y: number} | null}} ends `moved` is called after the board has
 *   moved on the screen, `focus` tells which point of it is worth a closer look
 */
export function startZoom(ends) {
  ({ moved, focus } = ends);
  byId("zoom").addEventListener("click", () => (isClose() ? glide(whole) : closer()));
  new ResizeObserver(() => {
    offer();
    moved();
  }).observe(board());
}

/** The whole board has this box now; who looks closer keeps looking there. @param {Box} box */
export function fit(box) {
  const close = isClose();
  const first = whole[2] === 1;
  whole = box;
  if (first) show(box);
  else if (!close) glide(box);
  offer();
}

export const isClose = () => shown[2] < whole[2] * 0.98;

function offer() {
  const { width, height } = board().getBoundingClientRect();
  const pixels = 100 * Math.min(width / whole[2], height / whole[3]);
  byId("zoom").hidden = pixels >= SMALL && !isClose();
  byId("zoom").setAttribute("aria-pressed", String(isClose()));
}

/** @param {Box} box */
function show(box) {
  shown = box;
  board().setAttribute("viewBox", box.map((part) => part.toFixed(1)).join(" "));
  moved();
}

/** @param {Box} box */
function glide(box) {
  cancelAnimationFrame(gliding);
  if (isCalm()) return show(box);
  const from = shown;
  const start = performance.now();
  const frame = (/** @type {number} */ time) => {
    const share = Math.min(1, Math.max(0, (time - start) / GLIDE));
    const eased = share * (2 - share);
    show(/** @type {Box} */ (from.map((part, index) => part + (box[index] - part) * eased)));
    if (share < 1) gliding = requestAnimationFrame(frame);
    else offer();
  };
  gliding = requestAnimationFrame(frame);
}

/**
 * Look closer or from farther away, with a point of the board staying where it is.
 * @param {number} factor
 * @param {{x: number, y: number}} point
 */
export function zoomAt(factor, { x, y }) {
  const width = Math.min(whole[2], Math.max(whole[2] / MOST, shown[2] / factor));
  const share = width / shown[2];
  show(kept([x - (x - shown[0]) * share, y - (y - shown[1]) * share, width, shown[3] * share]));
  offer();
}

function closer() {
  const { x, y } = focus() ?? { x: whole[0] + whole[2] / 2, y: whole[1] + whole[3] / 2 };
  const [width, height] = [whole[2] / CLOSER, whole[3] / CLOSER];
  glide(kept([x - width / 2, y - height / 2, width, height]));
}

/** @param {number} dx @param {number} dy in units of the board */
export function pan(dx, dy) {
  show(kept([shown[0] - dx, shown[1] - dy, shown[2], shown[3]]));
}

/** Bring a point into sight. @param {{x: number, y: number}} point */
export function reveal({ x, y }) {
  if (!isClose()) return;
  const [left, top, width, height] = shown;
  const off = Math.max(Math.abs((x - left) / width - 0.5), Math.abs((y - top) / height - 0.5));
  if (off > 0.35) glide(kept([x - shown[2] / 2, y - shown[3] / 2, shown[2], shown[3]]));
}

/** Never beyond the edge of the board. @param {Box} box @returns {Box} */
function kept([x, y, width, height]) {
  const [left, top, wide, tall] = whole;
  return [
    Math.max(left, Math.min(x, left + wide - width)),
    Math.max(top, Math.min(y, top + tall - height)),
    width,
    height,
  ];
}
