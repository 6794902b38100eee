/** Symbols, tiles and pyramids, drawn like the server's own pictures. Colours are custom properties of /theme.css. */
import { h, s } from "../../shared/dom.js";

/** @import {Artwork} from "../../shared/types.js" */
/** @import {Board, Box, Shape} from "../net/protocol.js" */

/** Tell the page once what the symbols look like; everything else refers to them. @param {Artwork} look */
export function defineSymbols(look) {
  const paths = Object.entries(look.symbols).map(([letter, { path }]) =>
    s("path", {
      id: `symbol-${letter}`,
      d: path,
      style: { fill: `var(--${letter}-fill)`, stroke: `var(--${letter}-rim)`, "stroke-width": 4 },
    }),
  );
  const spark = s("path", { id: "symbol-spark", d: look.spark, class: "spark" });
  document.body.append(s("svg", { class: "artwork", "aria-hidden": "true" }, s("defs", null, paths, spark)));
}

/** The colours of a track, as its styles want them. @param {string} track */
export const trackColours = (track) => ({ "--fill": `var(--${track}-fill, var(--muted))`, "--tint": `var(--${track}-tint)` });

/** @param {string} letter */
export const hasSymbol = (letter) => document.getElementById(`symbol-${letter}`) !== null;

/** A symbol among text. @param {string} letter */
export const symbolIcon = (letter) =>
  svgImage("icon", [-52, -52, 104, 104], s("use", { href: `#symbol-${letter}` }));

/**
 * A drawing for the eyes only: what it shows is always said in words as well.
 * @param {string} name
 * @param {Box} box
 * @param {SVGElement} content
 */
const svgImage = (name, box, content) =>
  s("svg", { class: name, viewBox: box.join(" "), "aria-hidden": "true", focusable: "false" }, content);

/** @param {string} letter @param {number} x @param {number} y @param {number} size */
export const symbolAt = (letter, x, y, size) =>
  hasSymbol(letter)
    ? s("use", { href: `#symbol-${letter}`, transform: `translate(${x} ${y})scale(${size / 100})` })
    : null;

/** A tile around 0,0; without letters its back. @param {Shape} shape @param {string} letters */
export function tileAt(shape, letters) {
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
 * A tile as a picture of its own, at the size of the hand's shape however it is turned.
 * @param {Board} board
 * @param {number} shape
 * @param {string} letters
 */
export function tileImage(board, shape, letters) {
  const [x, y, width, height] = withShadow(board.shapes[board.hand].box);
  const box = withShadow(board.shapes[shape].box);
  // Upright it may stand out of its place a little, but not into the next row.
  const shrink = Math.min(1, (1.45 * height) / box[3], (1.1 * width) / box[2]);
  const tile = tileAt(board.shapes[shape], letters);
  if (shrink < 1) tile.setAttribute("transform", `scale(${shrink.toFixed(3)})`);
  return svgImage("tile-picture", [x, y, width, height], tile);
}

/** Room for the shadow. @param {Box} box @returns {Box} */
const withShadow = ([x, y, width, height]) => [x - 6, y - 5, width + 12, height + 14];

let clipCount = 0;

/**
 * A pyramid on a cell: four facets, lit from above on the left, cut out by the cell's outline.
 * @param {string} outline
 */
export function pyramid(outline) {
  const clip = `clip-${(clipCount += 1)}`;
  const far = 70;
  const corners = [[-far, -far], [far, -far], [far, far], [-far, far]];
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

/** Points beside the colour they count for, if there is one. @param {string} track @param {string | number} text */
export const pointsChip = (track, text) =>
  h("span", { class: "points", "data-track": track }, hasSymbol(track) && symbolIcon(track), h("b", null, text));
