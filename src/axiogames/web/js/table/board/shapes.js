/** Symbols, tiles and pyramids in the style of the server's pictures. Colours are custom properties of generated/theme.css. */
import { h, s } from "../../shared/dom.js";

/** @import {Artwork} from "../../shared/types.js" */
/** @import {Board, Box, Shape} from "../net/protocol.js" */

/** Define the symbols to which all images refer. @param {Artwork} artwork */
export function defineSymbols(artwork) {
  const paths = Object.entries(artwork.symbols).map(([letter, { path }]) =>
    s("path", {
      id: `symbol-${letter}`,
      d: path,
      style: { fill: `var(--${letter}-fill)`, stroke: `var(--${letter}-rim)`, "stroke-width": 4 },
    }),
  );
  const spark = s("path", { id: "symbol-spark", d: artwork.spark, class: "spark" });
  document.body.append(s("svg", { class: "artwork", "aria-hidden": "true" }, s("defs", null, paths, spark)));
}

/** The colours of a track as custom properties. @param {string} track */
export const trackColours = (track) => ({
  "--fill": `var(--${track}-fill, var(--muted))`,
  "--tint": `var(--${track}-tint)`,
});

/** @param {string} letter */
export const hasSymbol = (letter) => document.getElementById(`symbol-${letter}`) !== null;

/** Build a symbol for use in text. @param {string} letter */
export const symbolIcon = (letter) => svgImage("icon", [-52, -52, 104, 104], s("use", { href: `#symbol-${letter}` }));

/**
 * Build a decorative SVG image. Its content is always available as text too.
 * @param {string} className
 * @param {Box} box
 * @param {SVGElement} content
 */
const svgImage = (className, box, content) =>
  s("svg", { class: className, viewBox: box.join(" "), "aria-hidden": "true", focusable: "false" }, content);

/**
 * Build a symbol, or return null for a letter without one.
 * @param {string} letter
 * @param {number} x
 * @param {number} y
 * @param {number} size
 */
export const symbolAt = (letter, x, y, size) =>
  hasSymbol(letter)
    ? s("use", { href: `#symbol-${letter}`, transform: `translate(${x} ${y})scale(${size / 100})` })
    : null;

/**
 * Build a tile as an SVG group, centred at the origin. The letters "?" show its back.
 * @param {Shape} shape
 * @param {string} letters
 */
export function tileGroup(shape, letters) {
  const back = letters === "?";
  const tile = s(
    "g",
    { class: back ? "tile back" : "tile" },
    s("path", { class: "tile-shadow", d: shape.path, transform: "translate(0 5)" }),
    s("path", { class: shape.wells && !back ? "tile-field" : "tile-face", d: shape.path }),
  );
  if (back) return tile;
  if (shape.wells) tile.append(s("path", { class: "tile-face", d: shape.wells }));
  tile.append(s("path", { class: "tile-edge", d: shape.path }));
  shape.spots.forEach(([x, y, size], spot) => {
    const symbol = symbolAt(letters[spot], x, y, size);
    if (symbol) tile.append(symbol);
  });
  return tile;
}

/**
 * Build a tile as a separate image. In any rotation, it has the size of a tile in hand.
 * @param {Board} board
 * @param {number} shape
 * @param {string} letters
 */
export function tileImage(board, shape, letters) {
  const [x, y, width, height] = withShadow(board.shapes[board.hand].box);
  const box = withShadow(board.shapes[shape].box);
  // An upright tile may exceed the image a little, but must not reach the next row.
  const shrink = Math.min(1, (1.45 * height) / box[3], (1.1 * width) / box[2]);
  const tile = tileGroup(board.shapes[shape], letters);
  if (shrink < 1) tile.setAttribute("transform", `scale(${shrink.toFixed(3)})`);
  return svgImage("tile-picture", [x, y, width, height], tile);
}

/** Add space for the shadow. @param {Box} box @returns {Box} */
const withShadow = ([x, y, width, height]) => [x - 6, y - 5, width + 12, height + 14];

let clipCount = 0;

/**
 * Build a pyramid: four facets, lit from the upper left, clipped to the outline of the cell.
 * @param {string} outline
 */
export function pyramid(outline) {
  const clip = `clip-${(clipCount += 1)}`;
  const extent = 70;
  const corners = [
    [-extent, -extent],
    [extent, -extent],
    [extent, extent],
    [-extent, extent],
  ];
  const facets = corners.map(([x, y], side) => {
    const [nx, ny] = corners[(side + 1) % 4];
    return s("path", { style: { fill: `var(--facet-${side})` }, d: `M${x} ${y}L${nx} ${ny}L0 0Z` });
  });
  return s(
    "g",
    { class: "pyramid" },
    s("clipPath", { id: clip }, s("path", { d: outline, transform: "scale(.77)" })),
    s("g", { "clip-path": `url(#${clip})` }, facets),
  );
}

/**
 * Build a label of points with the symbol of their track, if it has one.
 * @param {string} track
 * @param {string | number} text
 */
export const pointsChip = (track, text) =>
  h("span", { class: "points", "data-track": track }, hasSymbol(track) && symbolIcon(track), h("b", null, text));
