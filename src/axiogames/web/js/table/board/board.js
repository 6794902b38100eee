/** The board: cells, printed symbols, tiles, pyramids and marks. Input is handled in input/. */
import { byId, s } from "../../shared/dom.js";
import { onViewChange, state } from "../state/store.js";
import { pyramid, symbolAt, tileGroup } from "./shapes.js";
import { setBoardBox } from "./zoom.js";

/** @import {Board, Cell, PlacedTile, View} from "../net/protocol.js" */

/** The layers of the board, back to front. */
const LAYERS = ["ground", "printed", "labels", "pyramids", "tiles", "last", "targets", "preview"];

/** @type {Record<string, SVGGElement>} */
export const layers = {};

/** @type {Board | null} */
let renderedBoard = null;
/** Elements of tiles by position and letters. @type {Map<string, SVGGElement>} */
const tileElements = new Map();
/**
 * Elements of pyramids by cell, and of spent cells by "spent " and the cell. A spent cell has lost its pyramid and stays
 * empty.
 * @type {Map<string, SVGGElement>}
 */
const pyramidElements = new Map();
/** @type {Map<string, Cell>} */
let cells = new Map();

export function startBoard() {
  const board = byId("board");
  for (const name of LAYERS) board.append((layers[name] = s("g", { class: name })));
  onViewChange(render);
}

/** @param {PlacedTile} placed */
const tileKey = (placed) => `${placed.at.join(" ")} ${placed.tile}`;

/** @param {PlacedTile} placed */
export const tileElement = (placed) => tileElements.get(tileKey(placed));

/** @param {string} cell */
export const pyramidElement = (cell) => pyramidElements.get(cell);

/** Build a pyramid on a cell. @param {string} name */
export function pyramidOn(name) {
  const [, x, y, outline] = cells.get(name) ?? ["", 0, 0, 0];
  return s("g", { transform: `translate(${x} ${y})` }, pyramid(state.view.board.outlines[outline]));
}

function render() {
  const { view } = state;
  // A growing board keeps its first aspect ratio, so that the layout does not shift.
  if (!renderedBoard)
    byId("play").style.setProperty("--aspect", String(Math.min(1.2, view.board.box[2] / view.board.box[3])));
  if (view.board !== renderedBoard) renderGround(view.board);
  renderTiles(view);
  renderPyramids(view);
  renderLastMove(view);
}

/** @param {Board} board */
function renderGround(board) {
  renderedBoard = board;
  cells = new Map(board.cells.map((cell) => [cell[0], cell]));
  setBoardBox(board.box);
  layers.ground.replaceChildren(
    s("path", { class: "frame-edge", d: board.frame, transform: "translate(0 4)" }),
    s("path", { class: "frame", d: board.frame }),
    ...board.cells.map(renderCell),
  );
  layers.printed.replaceChildren(
    ...board.printed.map(([letter, x, y, size]) => symbolAt(letter, x, y, size) ?? ""),
    ...board.cells.filter((cell) => cell[4] === "star").map(([, x, y]) => symbolAt("spark", x, y, 64) ?? ""),
  );
  layers.labels.replaceChildren(...board.labels.map(([text, x, y]) => s("text", { x, y }, text)));
}

/** @param {Cell} cell */
function renderCell([name, x, y, outline, ground, tint]) {
  const d = state.view.board.outlines[outline];
  const fill = tint ? { fill: `var(--${tint}-tint)` } : {};
  return s("path", { class: `cell ${ground}`, d, transform: `translate(${x} ${y})`, "data-cell": name, style: fill });
}

/** @param {View} view */
function renderTiles({ tiles, board }) {
  const expected = new Map(tiles.map((placed) => [tileKey(placed), placed]));
  for (const [key, element] of tileElements) {
    if (expected.has(key)) continue;
    element.remove();
    tileElements.delete(key);
  }
  for (const [key, placed] of expected) {
    if (tileElements.has(key)) continue;
    const element = s(
      "g",
      { transform: `translate(${placed.x} ${placed.y})`, "data-tile": placed.tile, "data-at": placed.at.join("-") },
      tileGroup(board.shapes[placed.shape], placed.tile),
    );
    tileElements.set(key, element);
    layers.tiles.append(element);
  }
}

/** @param {View} view */
function renderPyramids({ now, board }) {
  const expected = new Set([...now.pyramids, ...now.spent.map((cell) => `spent ${cell}`)]);
  for (const [name, element] of pyramidElements) {
    if (expected.has(name)) continue;
    element.remove();
    pyramidElements.delete(name);
  }
  for (const name of expected) {
    if (pyramidElements.has(name)) continue;
    const spent = name.startsWith("spent ");
    const cell = cells.get(spent ? name.slice(6) : name);
    if (!cell) continue;
    const outline = board.outlines[cell[3]];
    const element = spent
      ? s("path", { class: "spent", d: outline, transform: `translate(${cell[1]} ${cell[2]})scale(.56)` })
      : pyramidOn(name);
    pyramidElements.set(name, /** @type {SVGGElement} */ (element));
    layers.pyramids.append(element);
  }
}

/** @param {View} view */
function renderLastMove({ now, tiles, board }) {
  const last = tiles.filter((placed) => placed.at.length > 0 && placed.at.every((cell) => now.last.includes(cell)));
  layers.last.replaceChildren(
    ...last.flatMap(({ shape, x, y }) => {
      const edge = { d: board.shapes[shape].path, transform: `translate(${x} ${y})` };
      return ["last-glow", "last-edge"].map((name) => s("path", { class: name, ...edge }));
    }),
  );
}

/** Convert board coordinates to screen coordinates. @param {number} x @param {number} y */
export function toScreen(x, y) {
  const matrix = layers.ground.getScreenCTM();
  return matrix ? new DOMPoint(x, y).matrixTransform(matrix) : new DOMPoint(0, 0);
}

/** Convert screen coordinates to board coordinates. @param {number} x @param {number} y */
export function toBoard(x, y) {
  const matrix = layers.ground.getScreenCTM();
  return matrix ? new DOMPoint(x, y).matrixTransform(matrix.inverse()) : new DOMPoint(0, 0);
}
