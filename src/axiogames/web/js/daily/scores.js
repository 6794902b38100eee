/** Points of all colours, lowest first, which is also how they are compared. */
import { h } from "../shell/dom.js";
import { list, number, t } from "../shell/i18n.js";

/** @param {number[]} scores */
export function scoreChips(scores) {
  return h(
    "span",
    { class: "scores" },
    h("span", { class: "visually-hidden" }, t("scores.label", { scores: list(scores.map(number)) })),
    scores.map((points, i) =>
      h("span", { class: i === 0 ? "chip chip-strong" : "chip", "aria-hidden": "true" }, number(points)),
    ),
  );
}
