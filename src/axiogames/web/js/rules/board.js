/** The drawing of a board that grows with its tiles. */

/** @import {Variant} from "./variant.js" */
/** @import {RecordArray} from "./module.js" */
/** @import {Spot, Torus} from "./types.js" */
/** @import {Board} from "../table/net/protocol.js" */

/**
 * Return the drawing of the board in a state. Most boards never change.
 * @param {Variant} variant
 * @param {RecordArray} state
 * @returns {Board}
 */
export function boardAt({ data }, state) {
  const { board, torus } = data;
  if (!torus) return board;
  const squares = squaresOf(torus, state, data.state.contents);
  const free = squares.filter(({ content }) => content === torus.free);
  if (!squares.length) return board;
  /** @type {(x: number, y: number) => Spot} */
  const at = (x, y) => [
    torus.origin[0] + x * torus.right[0] + y * torus.up[0],
    torus.origin[1] + x * torus.right[1] + y * torus.up[1],
  ];
  const columns = distinct(squares.map(({ x }) => x));
  const rows = distinct(squares.map(({ y }) => y));
  /** @type {(from: Spot, by: Spot) => Spot} */
  const moved = ([x, y], [dx, dy]) => [x + dx, y + dy];
  /** @type {Board["labels"]} */
  const labels = [
    ...columns.map((x) => label(x, moved(at(x, rows[0]), torus.column_label))),
    ...rows.map((y) => label(y, moved(at(columns[0], y), torus.row_label))),
  ];
  const half = [0, 1].map((axis) => (Math.abs(torus.right[axis]) + Math.abs(torus.up[axis])) / 2);
  const corners = squares.map(({ x, y }) => at(x, y)).flatMap(([x, y]) => [
    [x - half[0], y - half[1]],
    [x + half[0], y + half[1]],
  ]);
  const [left, right] = range([...corners, ...labels.map(([, x, y]) => [x, y])].map(([x]) => x), torus.margin);
  const [top, bottom] = range([...corners, ...labels.map(([, x, y]) => [x, y])].map(([, y]) => y), torus.margin);
  return {
    ...board,
    box: [left, top, right - left, bottom - top],
    frame: roundedBox(left, top, right, bottom, torus.rounding),
    outlines: [torus.outline],
    cells: free.map(({ x, y }) => [`${x},${y}`, ...at(x, y), 0, "free", ""]),
    labels,
  };
}

/**
 * Return the squares with a tile or a place for one.
 * @param {Torus} torus
 * @param {RecordArray} state
 * @param {string} contents the field with the content of each square
 */
function squaresOf({ side, low }, state, contents) {
  const [lowX, lowY] = low.map((field) => state.get(field));
  const unwrapped = (/** @type {number} */ lowest, /** @type {number} */ index) =>
    lowest - 1 + ((index - lowest + 1 + side) % side);
  return Array.from(state.field(contents), Number).flatMap((content, index) =>
    content === 0
      ? []
      : [{ content, x: unwrapped(lowX, index % side), y: unwrapped(lowY, Math.floor(index / side)) }],
  );
}

/** @param {number} number @param {Spot} at @returns {Board["labels"][number]} */
const label = (number, [x, y]) => [String(number), x, y];

/** @param {number[]} numbers */
const distinct = (numbers) => [...new Set(numbers)].sort((a, b) => a - b);

/** @param {number[]} numbers @param {number} margin */
const range = (numbers, margin) => [Math.min(...numbers) - margin, Math.max(...numbers) + margin];

/**
 * Return the path of a box with rounded corners.
 * @param {number} left @param {number} top @param {number} right @param {number} bottom @param {number} radius
 */
function roundedBox(left, top, right, bottom, radius) {
  return (
    `M${left} ${top + radius}Q${left} ${top} ${left + radius} ${top}` +
    `L${right - radius} ${top}Q${right} ${top} ${right} ${top + radius}` +
    `L${right} ${bottom - radius}Q${right} ${bottom} ${right - radius} ${bottom}` +
    `L${left + radius} ${bottom}Q${left} ${bottom} ${left} ${bottom - radius}Z`
  );
}
