/** The daily deal: the same tiles for all players, one attempt each. */
import { errorText, get, getMe, onConnectionChange, post } from "./shared/api.js";
import { navigate, runBusy } from "./shared/busy-button.js";
import { countdown } from "./shared/countdown.js";
import { byId, h } from "./shared/dom.js";
import { initPage } from "./shared/frame.js";
import { formatDate, formatList, formatNumber, language, t } from "./shared/i18n.js";

/** @import {Daily, DailyDeal, DailyResult} from "./shared/types.js" */

await initPage({ title: "daily.title" });
await refresh();
onConnectionChange((connected) => connected && void refresh());

async function refresh() {
  const requestedDay = new URLSearchParams(location.search).get("day");
  const query = new URLSearchParams({ lang: language(), ...(requestedDay ? { day: requestedDay } : {}) });
  try {
    await getMe();
    renderDay(await get(`/api/daily?${query}`));
  } catch (error) {
    const back = requestedDay && h("a", { class: "button", href: "/daily" }, t("daily.today"));
    byId("deals").replaceChildren(h("li", { class: "card stack" }, h("p", null, errorText(error)), back));
  }
  byId("deal-day").hidden = false;
}

/** @param {Daily} daily */
function renderDay(daily) {
  const isToday = daily.days.after === null;
  byId("day").textContent = formatDate(daily.day);
  byId("days").replaceChildren(
    dayLink(daily.days.before, "daily.before", "prev", "‹"),
    isToday ? h("span") : dayLink(daily.days.after, "daily.after", "next", "›"),
  );
  byId("next").replaceChildren(
    ...(isToday
      ? [t("daily.next"), " ", countdown(() => void refresh())]
      : [h("a", { class: "button", href: "/daily" }, t("daily.today"))]),
  );
  byId("deals").replaceChildren(...daily.deals.map((deal) => h("li", null, dealCard(deal, isToday))));
  const results = daily.deals.flatMap((deal) => [...deal.best, deal.attempt]);
  byId("compare").hidden = !results.some((result) => (result?.scores?.length ?? 0) > 1);
}

/**
 * @param {string | null} day
 * @param {string} key the key of the link's text
 * @param {string} rel
 * @param {string} arrow
 */
function dayLink(day, key, rel, arrow) {
  if (!day) return h("span");
  return h("a", { class: "button", href: `/daily?day=${day}`, rel, "data-day": day }, arrow, " ", t(key));
}

/**
 * @param {DailyDeal} deal
 * @param {boolean} isToday
 */
function dealCard(deal, isToday) {
  return h(
    "article",
    { class: "card deal", "data-deal": deal.game },
    h("h3", null, deal.name),
    attemptResult(deal, isToday),
    resultList(deal, isToday),
    deal.yesterday &&
      h(
        "p",
        { class: "small yesterday" },
        t("daily.yesterday", { name: deal.yesterday.name }),
        " ",
        scoreChips(deal.yesterday.scores),
        " ",
        h("a", { href: `/t/${deal.yesterday.table}`, "data-replay": deal.yesterday.table }, t("daily.replay")),
      ),
  );
}

/**
 * @param {DailyDeal} deal
 * @param {boolean} isToday
 */
function attemptResult({ game, name, attempt }, isToday) {
  if (attempt?.status === "over") {
    const label = t("daily.look.label", { game: name });
    return h(
      "div",
      { class: "stack" },
      attempt.scores
        ? h("p", null, t("daily.result"), " ", scoreChips(attempt.scores))
        : h("p", { class: "muted" }, t("daily.late")),
      attempt.scores && !attempt.listed && h("p", { class: "muted small", "data-unlisted": game }, t("daily.unlisted")),
      h("a", { class: "button", href: `/t/${attempt.table}`, "aria-label": label }, t("daily.look")),
    );
  }
  if (!isToday) return h("p", { class: "muted" }, t("daily.missed"));
  const key = attempt ? "daily.go-on" : "daily.play";
  const button = h(
    "button",
    {
      type: "button",
      class: "button button-primary",
      "data-play": game,
      "aria-label": t(`${key}.label`, { game: name }),
    },
    t(key),
  );
  button.addEventListener(
    "click",
    () => void runBusy(button, async () => navigate(`/t/${(await post(`/api/daily/${game}`)).id}`)),
  );
  return button;
}

/**
 * @param {DailyDeal} deal
 * @param {boolean} isToday
 */
function resultList({ name, best }, isToday) {
  if (best.length === 0) return h("p", { class: "muted small" }, t(isToday ? "daily.nobody" : "daily.nobody.then"));
  return h("ol", { role: "list", class: "best", "aria-label": t("daily.best", { game: name }) }, best.map(resultLine));
}

/** @param {DailyResult} result */
function resultLine({ place, name, you, scores, table }) {
  return h(
    "li",
    { class: you ? "row you" : "row" },
    h("span", { class: "place muted" }, place),
    h(
      "span",
      null,
      table ? h("a", { href: `/t/${table}`, "data-replay": table }, name) : name,
      you && ` (${t("you")})`,
    ),
    scoreChips(scores),
  );
}

/** @param {number[]} scores */
function scoreChips(scores) {
  return h(
    "span",
    { class: "scores" },
    h("span", { class: "visually-hidden" }, t("scores.label", { scores: formatList(scores.map(formatNumber)) })),
    scores.map((points, i) =>
      h("span", { class: i === 0 ? "chip chip-strong" : "chip", "aria-hidden": "true" }, formatNumber(points)),
    ),
  );
}
