/** The board as it lies: ground, printed symbols, tiles, pyramids, marks. Nothing here can be clicked. */
import { byId, s } from "../../shared/dom.js";
import { pyramid, symbolAt, tileAt } from "./shapes.js";
import { onView, state } from "../state/store.js";
import { fit } from "./zoom.js";

/** @import {Board, Cell, Placed, View} from "../net/protocol.js" */

const LAYERS = ["ground", "printed", "labels", "pyramids", "tiles", "last", "places", "ghost"];

/** @type {Record<string, SVGGElement>} */
export const layers = {};

/** @type {Board | null} */
let drawn = null;
/** Tiles that lie, by where they lie. @type {Map<string, SVGGElement>} */
const lying = new Map();
/** @type {Map<string, SVGGElement>} */
const standing = new Map();
/** @type {Map<string, Cell>} */
let cells = new Map();

export function startBoard() {
  const board = byId("board");
  for (const name of LAYERS) board.append((layers[name] = s("g", { class: name })));
  onView(draw);
}

/** @param {Placed} placed */
const key = (placed) => `${placed.at.join(" ")} ${placed.tile}`;

/** @param {Placed} placed */
export const lyingTile = (placed) => lying.get(key(placed));

/** @param {string} cell */
export const standingPyramid = (cell) => standing.get(cell);

/** A pyramid on a named cell. @param {string} name */
export function pyramidOn(name) {
  const [, x, y, outline] = cells.get(name) ?? ["", 0, 0, 0];
  return s("g", { transform: `translate(${x} ${y})` }, pyramid(state.view.board.outlines[outline]));
}

function draw() {
  const { view } = state;
  // A board that grows keeps the room it began with, so that nothing around it moves.
  if (!drawn) byId("play").style.setProperty("--aspect", String(Math.min(1.2, view.board.box[2] / view.board.box[3])));
  if (view.board !== drawn) drawGround(view.board);
  drawTiles(view);
  drawPyramids(view);
  drawLast(view);
}

/** @param {Board} board */
function drawGround(board) {
  drawn = board;
  cells = new Map(board.cells.map((cell) => [cell[0], cell]));
  fit(board.box);
  layers.ground.replaceChildren(
    s("path", { class: "frame-edge", d: board.frame, transform: "translate(0 4)" }),
    s("path", { class: "frame", d: board.frame }),
    ...board.cells.map(drawCell),
  );
  layers.printed.replaceChildren(
    ...board.printed.map(([letter, x, y, size]) => symbolAt(letter, x, y, size) ?? ""),
    ...board.cells.filter((cell) => cell[4] === "star").map(([, x, y]) => symbolAt("spark", x, y, 64) ?? ""),
  );
  layers.labels.replaceChildren(...board.labels.map(([text, x, y]) => s("text", { x, y }, text)));
}

/** @param {Cell} cell */
function drawCell([name, x, y, outline, ground, tint]) {
  const d = state.view.board.outlines[outline];
  const fill = tint ? { fill: `var(--${tint}-tint)` } : {};
  return s("path", { class: `cell ${ground}`, d, transform: `translate(${x} ${y})`, "data-cell": name, style: fill });
}

/** @param {View} view */
function drawTiles({ tiles, board }) {
  const wanted = new Map(tiles.map((placed) => [key(placed), placed]));
  for (const [at, tile] of lying) {
    if (wanted.has(at)) continue;
    tile.remove();
    lying.delete(at);
  }
  for (const [at, placed] of wanted) {
    if (lying.has(at)) continue;
    const place = s(
      "g",
      { transform: `translate(${placed.x} ${placed.y})`, "data-tile": placed.tile, "data-at": placed.at.join("-") },
      tileAt(board.shapes[placed.shape], placed.tile),
    );
    lying.set(at, place);
    layers.tiles.append(place);
  }
}

/** @param {View} view */
function drawPyramids({ now, board }) {
  const wanted = new Set([...now.pyramids, ...now.spent.map((cell) => `spent ${cell}`)]);
  for (const [name, mark] of standing) {
    if (wanted.has(name)) continue;
    mark.remove();
    standing.delete(name);
  }
  for (const name of wanted) {
    if (standing.has(name)) continue;
    const spent = name.startsWith("spent ");
    const cell = cells.get(spent ? name.slice(6) : name);
    if (!cell) continue;
    const outline = board.outlines[cell[3]];
    const place = spent
      ? s("path", { class: "spent", d: outline, transform: `translate(${cell[1]} ${cell[2]})scale(.56)` })
      : pyramidOn(name);
    standing.set(name, /** @type {SVGGElement} */ (place));
    layers.pyramids.append(place);
  }
}

/** @param {View} view */
function drawLast({ now, tiles, board }) {
  const last = tiles.filter((placed) => placed.at.length > 0 && placed.at.every((cell) => now.last.includes(cell)));
  layers.last.replaceChildren(
    ...last.flatMap(({ shape, x, y }) => {
      const edge = { d: board.shapes[shape].path, transform: `translate(${x} ${y})` };
      return ["last-glow", "last-edge"].map((name) => s("path", { class: name, ...edge }));
    }),
  );
}

/** Where a point of the board is on the screen. @param {number} x @param {number} y */
export function onScreen(x, y) {
  const matrix = layers.ground.getScreenCTM();
  return matrix ? new DOMPoint(x, y).matrixTransform(matrix) : new DOMPoint(0, 0);
}

/** Which point of the board is there. @param {number} x @param {number} y */
export function onBoard(x, y) {
  const matrix = layers.ground.getScreenCTM();
  return matrix ? new DOMPoint(x, y).matrixTransform(matrix.inverse()) : new DOMPoint(0, 0);
}
