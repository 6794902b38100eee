/** The teaser of the daily deal on the home page. */
import { get, getMe } from "../shared/api.js";
import { countdown } from "../shared/countdown.js";
import { h } from "../shared/dom.js";
import { language, t } from "../shared/i18n.js";

/** @import {Daily} from "../shared/types.js" */

/** @param {Element} parent */
export async function renderTeaser(parent) {
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
  try {
    await getMe();
    /** @type {Daily} */
    const daily = await get(`/api/daily?lang=${language()}`);
    const done = daily.deals.filter((deal) => deal.attempt?.status === "over").length;
    if (done > 0) progress.textContent = t("teaser.done", { done, all: daily.deals.length });
  } catch {
    // The teaser stays without the person's progress.
  }
}
