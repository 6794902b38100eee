/** The deal of the day: the same tiles for everybody, one attempt each. */
import { explain, get, me, onConnection } from "../shell/api.js";
import { byId, h } from "../shell/dom.js";
import { frame } from "../shell/frame.js";
import { date, language, t } from "../shell/i18n.js";
import { countdown } from "./countdown.js";
import { dealCard } from "./deal.js";

/** @import {Daily} from "../shell/types.js" */

await frame({ title: "daily.title" });
await show();
onConnection((up) => up && void show());

async function show() {
  const asked = new URLSearchParams(location.search).get("day");
  const query = new URLSearchParams({ lang: language(), ...(asked ? { day: asked } : {}) });
  try {
    await me();
    draw(await get(`/api/daily?${query}`));
  } catch (error) {
    const back = asked && h("a", { class: "button", href: "/daily" }, t("daily.today"));
    byId("deals").replaceChildren(h("li", { class: "card stack" }, h("p", null, explain(error)), back));
  }
  byId("deal-day").hidden = false;
}

/** @param {Daily} daily */
function draw(daily) {
  const today = daily.days.after === null;
  byId("day").textContent = date(daily.day);
  byId("days").replaceChildren(
    step(daily.days.before, "daily.before", "prev", "‹"),
    today ? h("span") : step(daily.days.after, "daily.after", "next", "›"),
  );
  byId("next").replaceChildren(
    ...(today
      ? [t("daily.next"), " ", countdown(() => void show())]
      : [h("a", { class: "button", href: "/daily" }, t("daily.today"))]),
  );
  byId("deals").replaceChildren(...daily.deals.map((deal) => h("li", null, dealCard(deal, today))));
  const results = daily.deals.flatMap((deal) => [...deal.best, deal.attempt]);
  byId("compare").hidden = !results.some((one) => (one?.scores?.length ?? 0) > 1);
}

/**
 * @param {string | null} day
 * @param {string} word
 * @param {string} rel
 * @param {string} arrow
 */
function step(day, word, rel, arrow) {
  if (!day) return h("span");
  return h("a", { class: "button", href: `/daily?day=${day}`, rel, "data-day": day }, arrow, " ", t(word));
}
