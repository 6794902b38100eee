/** The teaser of the daily deal on the home page. */
import { countdown } from "../shared/countdown.js";
import { h } from "../shared/dom.js";
import { t } from "../shared/i18n.js";

/** @import {Home} from "../shared/types.js" */

/**
 * Render the teaser without the person's progress, and return a function that shows the progress.
 * @param {Element} parent
 */
export function renderTeaser(parent) {
  const progress = h("p", { class: "muted" }, t("daily.lead"));
  parent.replaceChildren(
    h(
      "div",
      null,
      h("h2", null, t("daily.title")),
      progress,
      h("p", { class: "small" }, t("daily.next"), " ", countdown()),
    ),
    h("a", { class: "button", href: "/daily" }, t("teaser.go")),
  );
  return (/** @type {Home["daily"]} */ { done, deals }) => {
    if (done > 0) progress.textContent = t("teaser.done", { done, all: deals });
  };
}
