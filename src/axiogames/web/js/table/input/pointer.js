/** Mouse, pen and fingers on the board and on the hand. */
import { byId, h } from "../../shared/dom.js";
import { tilePicture } from "../board/shapes.js";
import { onBoard } from "../board/board.js";
import { aimAt, canPlace, confirm, onSet, pickUp, setDown, shownTurn, takeTile, turnBy } from "./selection.js";
import { onChoice, state } from "../state/store.js";
import { isClose, pan, zoomAt } from "../board/zoom.js";

/** A pointer that has moved less has not been dragged. */
const STILL = 7;
/** Two fingers that are up again sooner have tapped. */
const TAP = 280;
/** The tile is held above the finger, which would hide it. */
const ABOVE_FINGER = 56;
const NOTCH = 40;

/** @typedef {{x: number, y: number, startX: number, startY: number, since: number, moved: boolean}} Finger */
/** @type {Map<number, Finger>} */
const fingers = new Map();
let spread = 0;
let two = false;
let wheel = 0;

/** @param {PointerEvent} event */
const isMouse = (event) => event.pointerType === "mouse";

export function startPointer() {
  const board = byId("board");
  board.addEventListener("pointerdown", down);
  board.addEventListener("pointermove", move);
  board.addEventListener("pointerup", up);
  board.addEventListener("pointercancel", forget);
  board.addEventListener("pointerleave", (event) => isMouse(event) && aimAt(null));
  board.addEventListener("wheel", onWheel, { passive: false });
  board.addEventListener("contextmenu", turnInstead);
  onChoice(drawCarried);
}

/** @param {PointerEvent} event */
function down(event) {
  if (isMouse(event) && event.button !== 0) return;
  /** @type {Element} */ (event.currentTarget).setPointerCapture(event.pointerId);
  const { clientX: x, clientY: y } = event;
  fingers.set(event.pointerId, { x, y, startX: x, startY: y, since: event.timeStamp, moved: false });
  two = fingers.size === 2;
  if (two) spread = apart();
}

/** @param {PointerEvent} event */
function move(event) {
  const finger = fingers.get(event.pointerId);
  if (!finger) {
    if (isMouse(event) && !state.choice.set) aimAt(onBoard(event.clientX, event.clientY));
    return;
  }
  const before = { x: finger.x, y: finger.y };
  finger.x = event.clientX;
  finger.y = event.clientY;
  finger.moved ||= Math.hypot(finger.x - finger.startX, finger.y - finger.startY) > STILL;
  if (fingers.size === 2) pinch(before, finger);
  else if (finger.moved && !two) drag(event, before, finger);
}

/**
 * With a tile in hand a finger leads the tile, else it moves the board.
 * @param {PointerEvent} event
 * @param {{x: number, y: number}} before
 * @param {Finger} finger
 */
function drag(event, before, finger) {
  if (state.choice.tile === null || !canPlace()) {
    if (isClose()) panBy(finger.x - before.x, finger.y - before.y);
    return;
  }
  pickUp();
  aimAt(onBoard(finger.x, finger.y - (isMouse(event) ? 0 : ABOVE_FINGER)), !isMouse(event));
}

/** @param {number} dx @param {number} dy in pixels, for one of `fingers.size` fingers */
function panBy(dx, dy) {
  const [from, to] = [onBoard(0, 0), onBoard(dx, dy)];
  pan((to.x - from.x) / fingers.size, (to.y - from.y) / fingers.size);
}

/** @param {{x: number, y: number}} before @param {Finger} finger */
function pinch(before, finger) {
  panBy(finger.x - before.x, finger.y - before.y);
  const [a, b] = [...fingers.values()];
  const now = apart();
  if (spread > 0 && (a.moved || b.moved)) zoomAt(now / spread, onBoard((a.x + b.x) / 2, (a.y + b.y) / 2));
  spread = now;
}

function apart() {
  const [a, b] = [...fingers.values()];
  return Math.hypot(a.x - b.x, a.y - b.y);
}

/** @param {PointerEvent} event */
function up(event) {
  const finger = fingers.get(event.pointerId);
  if (!finger) return;
  const others = [...fingers.values()].filter((one) => one !== finger);
  fingers.delete(event.pointerId);
  if (two) {
    const tapped = [finger, ...others].every((one) => !one.moved && event.timeStamp - one.since < TAP);
    if (others.length && tapped) turnBy(1);
    if (fingers.size === 0) two = false;
    return;
  }
  if (finger.moved) {
    setDown();
    return;
  }
  const point = onBoard(finger.x, finger.y);
  if (onSet(point)) return confirm();
  if (state.choice.tile === null) return;
  pickUp();
  aimAt(point, !isMouse(event));
  setDown();
}

/** @param {PointerEvent} event */
function forget(event) {
  fingers.delete(event.pointerId);
  if (fingers.size === 0) two = false;
}

/** @param {WheelEvent} event */
function onWheel(event) {
  if (event.ctrlKey) {
    event.preventDefault();
    zoomAt(Math.exp(-event.deltaY / 200), onBoard(event.clientX, event.clientY));
    return;
  }
  if (state.choice.tile === null || !canPlace()) return;
  event.preventDefault();
  // A mouse sends one big step, a touch pad many small ones.
  wheel += event.deltaY;
  if (Math.abs(wheel) < NOTCH) return;
  turnBy(wheel > 0 ? 1 : -1);
  wheel = 0;
}

/** @param {Event} event */
function turnInstead(event) {
  if (state.choice.tile === null) return;
  event.preventDefault();
  turnBy(1);
}

/** The tile that is being dragged from the hand. @type {HTMLElement | null} */
let carried = null;

/**
 * Drag a tile from the hand onto the board. A press that does not move stays a click.
 * @param {HTMLElement} button
 * @param {number} tile
 */
export function makeDraggable(button, tile) {
  button.addEventListener("pointerdown", (start) => {
    if (start.button !== 0 || carried || !canPlace() || state.choice.swap) return;
    const stop = new AbortController();
    const { signal } = stop;
    const lift = isMouse(start) ? 0 : ABOVE_FINGER;
    const move = (/** @type {PointerEvent} */ event) => {
      const { clientX: x, clientY: y } = event;
      if (event.pointerId !== start.pointerId) return;
      if (!carried && Math.hypot(x - start.clientX, y - start.clientY) < STILL) return;
      if (!carried) {
        takeTile(tile);
        if (state.choice.tile !== tile) return stop.abort();
        pickUp();
        carry(button.clientWidth);
      }
      carried?.style.setProperty("translate", `${x}px ${y - lift}px`);
      aimAt(overBoard(x, y - lift), !isMouse(event));
    };
    const end = (/** @type {PointerEvent} */ event) => {
      // Another finger or button turns the tile that this one holds.
      if (event.pointerId !== start.pointerId) return turnBy(1);
      stop.abort();
      if (!carried) return;
      carried.remove();
      carried = null;
      swallowClick();
      if (event.type === "pointerup") setDown();
      else aimAt(null);
    };
    addEventListener("pointermove", move, { signal });
    addEventListener("pointerup", end, { signal });
    addEventListener("pointercancel", end, { signal });
    addEventListener("contextmenu", (event) => carried && event.preventDefault(), { signal });
  });
}

/** The click that ends a drag would turn the tile. */
function swallowClick() {
  const swallow = (/** @type {Event} */ event) => event.stopPropagation();
  addEventListener("click", swallow, true);
  setTimeout(() => removeEventListener("click", swallow, true));
}

/** @param {number} x @param {number} y */
function overBoard(x, y) {
  const { left, right, top, bottom } = byId("board").getBoundingClientRect();
  return x >= left && x <= right && y >= top && y <= bottom ? onBoard(x, y) : null;
}

/** @param {number} width */
function carry(width) {
  carried = h("div", { class: "carried", style: { width: `${width}px` } });
  drawCarried();
  document.body.append(carried);
}

function drawCarried() {
  const turn = shownTurn();
  if (!carried || !turn) return;
  carried.replaceChildren(tilePicture(state.view.board, turn.shape, turn.letters));
  carried.classList.toggle("landed", state.choice.aim !== null);
}
