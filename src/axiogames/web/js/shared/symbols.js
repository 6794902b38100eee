/** The six symbols as inline SVG. */
import { getArtwork } from "./api.js";
import { s } from "./dom.js";

/**
 * Build a symbol. Its size is fixed at once, its shape appears when the artwork has been loaded.
 * @param {string} letter
 * @param {number} [size] in pixels
 * @returns {SVGSVGElement}
 */
export function symbolImage(letter, size = 20) {
  const path = s("path", {
    style: { fill: `var(--${letter}-fill)`, stroke: `var(--${letter}-rim)`, "stroke-width": "3" },
  });
  getArtwork().then(
    ({ symbols }) => path.setAttribute("d", symbols[letter]?.path ?? ""),
    () => {}, // The symbol stays empty. It is only decoration.
  );
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
