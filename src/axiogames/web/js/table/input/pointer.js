/** Mouse, pen and touch input on the board and the hand. */
import { byId, h } from "../../shared/dom.js";
import { toBoard } from "../board/board.js";
import { tileImage } from "../board/shapes.js";
import { isZoomed, pan, zoomAt } from "../board/zoom.js";
import { onSelectionChange, state } from "../state/store.js";
import {
  canPlace,
  confirm,
  hoverAt,
  isOnPendingTile,
  liftTile,
  pickUpTile,
  putDownTile,
  rotateTile,
  shownRotation,
} from "./selection.js";

/** Pixels that a pointer must move before it drags. */
const DRAG_DISTANCE = 7;
/** Maximum duration of a tap with two fingers, in milliseconds. */
const TAP_DURATION = 280;
/** Pixels by which a tile is shown above the finger that drags it. */
const FINGER_OFFSET = 56;
/** Wheel distance of one rotation, in units of `WheelEvent.deltaY`. */
const WHEEL_STEP = 40;

/** @typedef {{x: number, y: number, startX: number, startY: number, since: number, moved: boolean}} Finger */
/** Pressed pointers by id. A mouse counts as a finger. @type {Map<number, Finger>} */
const fingers = new Map();
let pinchDistance = 0;
/** Whether this gesture has had two fingers. A gesture ends when no finger is down. */
let twoFingers = false;
let wheelDelta = 0;

/** @param {PointerEvent} event */
const isMouse = (event) => event.pointerType === "mouse";

export function startPointer() {
  const board = byId("board");
  board.addEventListener("pointerdown", onPointerDown);
  board.addEventListener("pointermove", onPointerMove);
  board.addEventListener("pointerup", onPointerUp);
  board.addEventListener("pointercancel", onPointerCancel);
  board.addEventListener("pointerleave", (event) => isMouse(event) && hoverAt(null));
  board.addEventListener("wheel", onWheel, { passive: false });
  board.addEventListener("contextmenu", onContextMenu);
  onSelectionChange(renderCarried);
}

/** @param {PointerEvent} event */
function onPointerDown(event) {
  if (isMouse(event) && event.button !== 0) return;
  /** @type {Element} */ (event.currentTarget).setPointerCapture(event.pointerId);
  const { clientX: x, clientY: y } = event;
  fingers.set(event.pointerId, { x, y, startX: x, startY: y, since: event.timeStamp, moved: false });
  twoFingers = fingers.size === 2;
  if (twoFingers) pinchDistance = fingerDistance();
}

/** @param {PointerEvent} event */
function onPointerMove(event) {
  const finger = fingers.get(event.pointerId);
  if (!finger) {
    if (isMouse(event) && !state.selection.pending) hoverAt(toBoard(event.clientX, event.clientY));
    return;
  }
  const before = { x: finger.x, y: finger.y };
  finger.x = event.clientX;
  finger.y = event.clientY;
  finger.moved ||= Math.hypot(finger.x - finger.startX, finger.y - finger.startY) > DRAG_DISTANCE;
  if (fingers.size === 2) pinch(before, finger);
  else if (finger.moved && !twoFingers) drag(event, before, finger);
}

/**
 * Move the selected tile, or pan the board if no tile is selected.
 * @param {PointerEvent} event
 * @param {{x: number, y: number}} before
 * @param {Finger} finger
 */
function drag(event, before, finger) {
  if (state.selection.tile === null || !canPlace()) {
    if (isZoomed()) panBy(finger.x - before.x, finger.y - before.y);
    return;
  }
  liftTile();
  hoverAt(toBoard(finger.x, finger.y - (isMouse(event) ? 0 : FINGER_OFFSET)), !isMouse(event));
}

/** @param {number} dx @param {number} dy in pixels, for one of `fingers.size` fingers */
function panBy(dx, dy) {
  const [from, to] = [toBoard(0, 0), toBoard(dx, dy)];
  pan((to.x - from.x) / fingers.size, (to.y - from.y) / fingers.size);
}

/** @param {{x: number, y: number}} before @param {Finger} finger */
function pinch(before, finger) {
  panBy(finger.x - before.x, finger.y - before.y);
  const [a, b] = [...fingers.values()];
  const now = fingerDistance();
  if (pinchDistance > 0 && (a.moved || b.moved)) zoomAt(now / pinchDistance, toBoard((a.x + b.x) / 2, (a.y + b.y) / 2));
  pinchDistance = now;
}

function fingerDistance() {
  const [a, b] = [...fingers.values()];
  return Math.hypot(a.x - b.x, a.y - b.y);
}

/** @param {PointerEvent} event */
function onPointerUp(event) {
  const finger = fingers.get(event.pointerId);
  if (!finger) return;
  const others = [...fingers.values()].filter((other) => other !== finger);
  fingers.delete(event.pointerId);
  if (twoFingers) {
    const tapped = [finger, ...others].every(({ moved, since }) => !moved && event.timeStamp - since < TAP_DURATION);
    if (others.length && tapped) rotateTile(1);
    if (fingers.size === 0) twoFingers = false;
    return;
  }
  if (finger.moved) {
    putDownTile();
    return;
  }
  const point = toBoard(finger.x, finger.y);
  if (isOnPendingTile(point)) return confirm();
  if (state.selection.tile === null) return;
  liftTile();
  hoverAt(point, !isMouse(event));
  putDownTile();
}

/** @param {PointerEvent} event */
function onPointerCancel(event) {
  fingers.delete(event.pointerId);
  if (fingers.size === 0) twoFingers = false;
}

/** @param {WheelEvent} event */
function onWheel(event) {
  if (event.ctrlKey) {
    event.preventDefault();
    zoomAt(Math.exp(-event.deltaY / 200), toBoard(event.clientX, event.clientY));
    return;
  }
  if (state.selection.tile === null || !canPlace()) return;
  event.preventDefault();
  // A mouse wheel sends one large delta, a touchpad many small ones.
  wheelDelta += event.deltaY;
  if (Math.abs(wheelDelta) < WHEEL_STEP) return;
  rotateTile(wheelDelta > 0 ? 1 : -1);
  wheelDelta = 0;
}

/** @param {Event} event */
function onContextMenu(event) {
  if (state.selection.tile === null) return;
  event.preventDefault();
  rotateTile(1);
}

/** The element of the tile that is dragged from the hand. @type {HTMLElement | null} */
let carried = null;

/**
 * Let a tile be dragged from the hand onto the board. A press without movement is a click.
 * @param {HTMLElement} button
 * @param {number} tile
 */
export function makeDraggable(button, tile) {
  button.addEventListener("pointerdown", (start) => {
    if (start.button !== 0 || carried || !canPlace() || state.selection.exchange) return;
    const stop = new AbortController();
    const { signal } = stop;
    const offset = isMouse(start) ? 0 : FINGER_OFFSET;
    const move = (/** @type {PointerEvent} */ event) => {
      const { clientX: x, clientY: y } = event;
      if (event.pointerId !== start.pointerId) return;
      if (!carried && Math.hypot(x - start.clientX, y - start.clientY) < DRAG_DISTANCE) return;
      if (!carried) {
        pickUpTile(tile);
        if (state.selection.tile !== tile) return stop.abort();
        liftTile();
        carry(button.clientWidth);
      }
      carried?.style.setProperty("translate", `${x}px ${y - offset}px`);
      hoverAt(boardPointAt(x, y - offset), !isMouse(event));
    };
    const end = (/** @type {PointerEvent} */ event) => {
      // A second finger or button rotates the dragged tile.
      if (event.pointerId !== start.pointerId) return rotateTile(1);
      stop.abort();
      if (!carried) return;
      carried.remove();
      carried = null;
      suppressClick();
      if (event.type === "pointerup") putDownTile();
      else hoverAt(null);
    };
    addEventListener("pointermove", move, { signal });
    addEventListener("pointerup", end, { signal });
    addEventListener("pointercancel", end, { signal });
    addEventListener("contextmenu", (event) => carried && event.preventDefault(), { signal });
  });
}

/** Suppress the click at the end of a drag, which would rotate the tile. */
function suppressClick() {
  const suppress = (/** @type {Event} */ event) => event.stopPropagation();
  addEventListener("click", suppress, true);
  setTimeout(() => removeEventListener("click", suppress, true));
}

/** The point of the board at screen coordinates, or null outside. @param {number} x @param {number} y */
function boardPointAt(x, y) {
  const { left, right, top, bottom } = byId("board").getBoundingClientRect();
  return x >= left && x <= right && y >= top && y <= bottom ? toBoard(x, y) : null;
}

/** Show the tile that is dragged from the hand. @param {number} width in pixels */
function carry(width) {
  carried = h("div", { class: "carried", style: { width: `${width}px` } });
  renderCarried();
  document.body.append(carried);
}

function renderCarried() {
  const rotation = shownRotation();
  if (!carried || !rotation) return;
  carried.replaceChildren(tileImage(state.view.board, rotation.shape, rotation.letters));
  carried.classList.toggle("landed", state.selection.hovered !== null);
}
