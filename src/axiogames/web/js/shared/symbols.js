/** The symbols of the colours as inline SVG. */
import { ARTWORK } from "../../generated/artwork.js";
import { s } from "./dom.js";

/**
 * Build a symbol.
 * @param {string} letter
 * @param {number} [size] in pixels
 * @returns {SVGSVGElement}
 */
export function symbolImage(letter, size = 20) {
  const path = s("path", {
    d: ARTWORK.symbols[letter]?.path ?? "",
    style: { fill: `var(--${letter}-fill)`, stroke: `var(--${letter}-rim)`, "stroke-width": "3" },
  });
  return s(
    "svg",
    {
      viewBox: "-52 -52 104 104",
      width: size,
      height: size,
      class: "symbol",
      "aria-hidden": "true",
      focusable: "false",
    },
    path,
  );
}
