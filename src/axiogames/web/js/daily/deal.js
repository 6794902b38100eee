/** One deal: play it, your result, the best. */
import { act, go } from "../shell/act.js";
import { post } from "../shell/api.js";
import { h } from "../shell/dom.js";
import { t } from "../shell/i18n.js";
import { scoreChips } from "./scores.js";

/** @import {Deal, Ranked} from "../shell/types.js" */

/**
 * @param {Deal} deal
 * @param {boolean} today
 */
export function dealCard(deal, today) {
  return h(
    "article",
    { class: "card deal", "data-deal": deal.game },
    h("h3", null, deal.name),
    result(deal, today),
    board(deal, today),
    deal.yesterday && h(
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
 * @param {Deal} deal
 * @param {boolean} today
 */
function result({ game, name, attempt }, today) {
  if (attempt?.status === "over") {
    const label = t("daily.look.label", { game: name });
    return h(
      "div",
      { class: "stack" },
      attempt.scores ? h("p", null, t("daily.result"), " ", scoreChips(attempt.scores)) : h("p", { class: "muted" }, t("daily.late")),
      attempt.scores && !attempt.listed && h("p", { class: "muted small", "data-unlisted": game }, t("daily.unlisted")),
      h("a", { class: "button", href: `/t/${attempt.table}`, "aria-label": label }, t("daily.look")),
    );
  }
  if (!today) return h("p", { class: "muted" }, t("daily.missed"));
  const word = attempt ? "daily.go-on" : "daily.play";
  const button = h(
    "button",
    { type: "button", class: "button button-primary", "data-play": game, "aria-label": t(`${word}.label`, { game: name }) },
    t(word),
  );
  button.addEventListener("click", () => void act(button, async () => go(`/t/${(await post(`/api/daily/${game}`)).id}`)));
  return button;
}

/**
 * @param {Deal} deal
 * @param {boolean} today
 */
function board({ name, best }, today) {
  if (best.length === 0) return h("p", { class: "muted small" }, t(today ? "daily.nobody" : "daily.nobody.then"));
  return h("ol", { role: "list", class: "best", "aria-label": t("daily.best", { game: name }) }, best.map(line));
}

/** @param {Ranked} ranked */
function line({ place, name, you, scores, table }) {
  return h(
    "li",
    { class: you ? "row you" : "row" },
    h("span", { class: "place muted" }, place),
    h("span", null, table ? h("a", { href: `/t/${table}`, "data-replay": table }, name) : name, you && ` (${t("you")})`),
    scoreChips(scores),
  );
}
