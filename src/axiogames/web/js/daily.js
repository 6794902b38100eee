/** The daily deal: the same tiles for all players, one attempt each. */
import { runBusy, navigate } from "./shared/busy-button.js";
import { errorText, get, getMe, onConnectionChange, post } from "./shared/api.js";
import { countdown } from "./shared/countdown.js";
import { byId, h } from "./shared/dom.js";
import { initPage } from "./shared/frame.js";
import { formatDate, language, formatList, formatNumber, t } from "./shared/i18n.js";

/** @import {Daily, DailyDeal, DailyResult} from "./shared/types.js" */

await initPage({ title: "daily.title" });
await refresh();
onConnectionChange((up) => up && void refresh());

async function refresh() {
  const asked = new URLSearchParams(location.search).get("day");
  const query = new URLSearchParams({ lang: language(), ...(asked ? { day: asked } : {}) });
  try {
    await getMe();
    renderDay(await get(`/api/daily?${query}`));
  } catch (error) {
    const back = asked && h("a", { class: "button", href: "/daily" }, t("daily.today"));
    byId("deals").replaceChildren(h("li", { class: "card stack" }, h("p", null, errorText(error)), back));
  }
  byId("deal-day").hidden = false;
}

/** @param {Daily} daily */
function renderDay(daily) {
  const today = daily.days.after === null;
  byId("day").textContent = formatDate(daily.day);
  byId("days").replaceChildren(
    dayLink(daily.days.before, "daily.before", "prev", "‹"),
    today ? h("span") : dayLink(daily.days.after, "daily.after", "next", "›"),
  );
  byId("next").replaceChildren(
    ...(today
      ? [t("daily.next"), " ", countdown(() => void refresh())]
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
function dayLink(day, word, rel, arrow) {
  if (!day) return h("span");
  return h("a", { class: "button", href: `/daily?day=${day}`, rel, "data-day": day }, arrow, " ", t(word));
}

/**
 * @param {DailyDeal} deal
 * @param {boolean} today
 */
function dealCard(deal, today) {
  return h(
    "article",
    { class: "card deal", "data-deal": deal.game },
    h("h3", null, deal.name),
    attemptResult(deal, today),
    resultList(deal, today),
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
 * @param {boolean} today
 */
function attemptResult({ game, name, attempt }, today) {
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
  if (!today) return h("p", { class: "muted" }, t("daily.missed"));
  const word = attempt ? "daily.go-on" : "daily.play";
  const button = h(
    "button",
    {
      type: "button",
      class: "button button-primary",
      "data-play": game,
      "aria-label": t(`${word}.label`, { game: name }),
    },
    t(word),
  );
  button.addEventListener(
    "click",
    () => void runBusy(button, async () => navigate(`/t/${(await post(`/api/daily/${game}`)).id}`)),
  );
  return button;
}

/**
 * @param {DailyDeal} deal
 * @param {boolean} today
 */
function resultList({ name, best }, today) {
  if (best.length === 0) return h("p", { class: "muted small" }, t(today ? "daily.nobody" : "daily.nobody.then"));
  return h("ol", { role: "list", class: "best", "aria-label": t("daily.best", { game: name }) }, best.map(resultLine));
}

/** @param {DailyResult} ranked */
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
