/** Symbols, tiles and pyramids in the style of the server's pictures. Colours are custom properties of /theme.css. */
import { h, s } from "../../shared/dom.js";

/** @import {Artwork} from "../../shared/types.js" */
/** @import {Board, Box, Shape} from "../net/protocol.js" */

/** Define the symbols once; all others refer to the definitions. @param {Artwork} look */
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

/** The colours of a track as custom properties. @param {string} track */
export const trackColours = (track) => ({
  "--fill": `var(--${track}-fill, var(--muted))`,
  "--tint": `var(--${track}-tint)`,
});

/** @param {string} letter */
export const hasSymbol = (letter) => document.getElementById(`symbol-${letter}`) !== null;

/** A symbol within text. @param {string} letter */
export const symbolIcon = (letter) => svgImage("icon", [-52, -52, 104, 104], s("use", { href: `#symbol-${letter}` }));

/**
 * A decorative SVG image. Its content is always available as text as well.
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

/** A tile centred at the origin; "?" shows its back. @param {Shape} shape @param {string} letters */
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
 * A tile as a separate image with the size of a tile in hand, in any rotation.
 * @param {Board} board
 * @param {number} shape
 * @param {string} letters
 */
export function tileImage(board, shape, letters) {
  const [x, y, width, height] = withShadow(board.shapes[board.hand].box);
  const box = withShadow(board.shapes[shape].box);
  // An upright tile may exceed its box a little, but must not reach the next row.
  const shrink = Math.min(1, (1.45 * height) / box[3], (1.1 * width) / box[2]);
  const tile = tileAt(board.shapes[shape], letters);
  if (shrink < 1) tile.setAttribute("transform", `scale(${shrink.toFixed(3)})`);
  return svgImage("tile-picture", [x, y, width, height], tile);
}

/** Add space for the shadow. @param {Box} box @returns {Box} */
const withShadow = ([x, y, width, height]) => [x - 6, y - 5, width + 12, height + 14];

let clipCount = 0;

/**
 * A pyramid: four facets, lit from the upper left, clipped by the outline of the cell.
 * @param {string} outline
 */
export function pyramid(outline) {
  const clip = `clip-${(clipCount += 1)}`;
  const far = 70;
  const corners = [
    [-far, -far],
    [far, -far],
    [far, far],
    [-far, far],
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

/** Points with the symbol of their track, if it has one. @param {string} track @param {string | number} text */
export const pointsChip = (track, text) =>
  h("span", { class: "points", "data-track": track }, hasSymbol(track) && symbolIcon(track), h("b", null, text));
