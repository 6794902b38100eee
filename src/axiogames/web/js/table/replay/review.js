/** The review of a finished game: a graph above the scrubber, remarks on each move, luck and skill. */
import { errorText, get, post } from "../../shared/api.js";
import { byId, h, s } from "../../shared/dom.js";
import { t } from "../../shared/i18n.js";
import { dialog } from "../../shared/dialog.js";
import { announce, toast } from "../../shared/toast.js";
import { tileAt } from "../board/shapes.js";
import { layers } from "../board/board.js";
import {
  changeText,
  formatFixed,
  loadReviewTexts,
  moveText,
  remarkText,
  reviewText,
  valueText,
} from "./review-text.js";
import { goTo, openReplay } from "./replay.js";
import { onViewChange, state } from "../state/store.js";
import { fullName, seatName } from "../text.js";

/** @import {Rating, Review, ReviewedMove, ReviewState} from "../net/protocol.js" */

const POLL_INTERVAL = 700;
const WIDTH = 600;
const HEIGHT = 90;
const EDGE = 8;
const RATING_SYMBOLS = { forced: "–", best: "✓", good: "·", inaccuracy: "?!", mistake: "?", blunder: "??" };
const ERRORS = ["inaccuracy", "mistake", "blunder"];

/** @type {Review | null} */
let review = null;
let loading = false;
let showsBest = false;

const note = h("div", { id: "review-note", "aria-live": "polite", role: "group" });
const graph = s("svg", { id: "review-graph", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none" });
const best = s("g", { class: "review-best" });

let started = false;

function start() {
  if (started) return;
  started = true;
  document.head.append(h("link", { rel: "stylesheet", href: "/static/css/table/review.css" }));
  byId("scrubber").before(note, graph);
  layers.preview.after(best);
  graph.addEventListener("pointerdown", (event) => {
    const { left, width } = graph.getBoundingClientRect();
    goTo(Math.round(stepAtX(((event.clientX - left) / width) * WIDTH)));
  });
  onViewChange(render);
}

/** Show the review; request it first if there is none. */
export async function openReview() {
  if (loading) return;
  start();
  if (!state.replay) await openReplay(0);
  if (!state.replay) return;
  if (!review) {
    loading = true;
    try {
      review = await loadReview();
    } catch (error) {
      toast(errorText(error), { kind: "error" });
    } finally {
      loading = false;
      setButtonLabel(t("table.review"));
    }
    if (!review || !state.replay) return;
    announce(t("table.review_ready"));
  }
  render();
  await showSummary(review);
}

/** @returns {Promise<Review>} */
async function loadReview() {
  await loadReviewTexts();
  const path = `/api/tables/${state.view.table.id}/review`;
  announce(t("table.review_waits"));
  for (;;) {
    /** @type {ReviewState} */
    let answer = await get(path);
    if (answer.state === "none") answer = await post(path);
    if (answer.review) return answer.review;
    setButtonLabel(t("table.review_at", { done: answer.done, total: answer.total }));
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL));
  }
}

/** @param {string} text */
function setButtonLabel(text) {
  byId("review").textContent = text;
  byId("review").setAttribute("aria-busy", String(loading));
}

// --- Remarks on moves

/** The moves that led to the shown position: one, and possibly the decision to keep the hand after it. */
function shownMoves() {
  const at = state.replay?.at ?? 0;
  return (review?.moves ?? []).filter((one) => one.at === (one.move === "keep" ? at : at - 1));
}

function render() {
  const shown = review !== null && state.replay !== null;
  note.hidden = !shown;
  graph.toggleAttribute("hidden", !shown);
  document.body.classList.toggle("reviewing", shown);
  best.replaceChildren();
  if (!review || !shown) return;
  graph.replaceChildren(...graphLines(review), cursor());
  graph.setAttribute("role", "img");
  graph.setAttribute("aria-label", reviewText("graph_label", { terms: reviewText(`terms.${review.terms.kind}`) }));
  const here = shownMoves();
  note.setAttribute("aria-label", t("table.review"));
  note.replaceChildren(
    ...(here.length ? here.flatMap(moveNotes) : [h("p", null, reviewText(`meaning.${review.terms.kind}`))]),
  );
  const better = showsBest && here.find(hasBetterMove);
  if (better) renderBetterMove(better);
}

/** Return whether another placement was better. @param {ReviewedMove} move */
const hasBetterMove = ({ candidates, made: number }) => number > 0 && candidates[0].tile !== null;

/** @param {ReviewedMove} move */
function moveNotes(move) {
  const { terms } = /** @type {Review} */ (review);
  const { rating, given_up, remark, luck } = move;
  const cost = given_up > 0 ? ` ${changeText(terms, -given_up, true)}` : "";
  const sign = h("b", { "aria-hidden": "true" }, RATING_SYMBOLS[rating]);
  return [
    h(
      "p",
      { class: "review-facts" },
      h("span", { class: `rated ${rating}` }, sign, ` ${reviewText(`rating.${rating}`)}${cost}`),
      move.candidates.length > 0 &&
        h("span", { class: "muted" }, `${reviewText("luck")} ${changeText(terms, luck.change, true)}`),
      hasBetterMove(move) && betterMoveButton(move),
    ),
    h("p", null, remarkText(state.view, terms, remark)),
  ];
}

/** @param {ReviewedMove} move */
function betterMoveButton({ candidates: [first] }) {
  const { terms } = /** @type {Review} */ (review);
  const text = `${reviewText("best_move")}: ${first.move} (${valueText(terms, first.value)})`;
  const show = () => {
    showsBest = !showsBest;
    render();
    byId("review-show").focus();
  };
  return h(
    "button",
    {
      type: "button",
      class: "button button-quiet",
      id: "review-show",
      "aria-pressed": String(showsBest),
      onclick: show,
    },
    text,
  );
}

/** @param {ReviewedMove} move */
function renderBetterMove({ candidates: [{ tile }] }) {
  if (!tile) return;
  const shape = state.view.board.shapes[tile.shape];
  best.replaceChildren(
    s(
      "g",
      { class: "preview pending", transform: `translate(${tile.x} ${tile.y})`, "data-best": tile.at.join("-") },
      tileAt(shape, tile.tile),
      s("path", { class: "preview-edge", d: shape.path }),
    ),
  );
}

// --- Graph

const stepCount = () => Math.max(1, (state.replay?.positions.length ?? 2) - 1);

/** @param {number} step */
const graphX = (step) => EDGE + ((WIDTH - 2 * EDGE) * step) / stepCount();

/** @param {number} at */
const stepAtX = (at) => ((at - EDGE) / (WIDTH - 2 * EDGE)) * stepCount();

/** The vertical scale: the full range for chances and places, else the range of the values. @param {Review} told @returns {(value: number) => number} */
function valueScale({ terms, seats }) {
  const values = seats.flatMap(({ line }) => line.map(([, value]) => value));
  const whole = terms.kind === "win" || terms.kind === "place";
  const [low, high] = whole ? [0, 1] : [Math.min(...values) - 0.02, Math.max(...values) + 0.02];
  return (value) => EDGE + ((HEIGHT - 2 * EDGE) * (high - value)) / (high - low);
}

/** @param {Review} told */
function graphLines(told) {
  const y = valueScale(told);
  const middle = s("path", { class: "review-middle", d: `M${EDGE} ${HEIGHT / 2}H${WIDTH - EDGE}` });
  const drawn = told.seats.map(({ line }, seat) => {
    const points = line.map(([step, value]) => `${graphX(step).toFixed(1)} ${y(value).toFixed(1)}`);
    return s("path", { class: `review-line seat-${seat}`, d: `M${points.join("L")}` });
  });
  const wrong = told.moves
    .filter(({ rating }) => ERRORS.includes(rating))
    .map(({ at, rating }) =>
      s("path", {
        class: `review-mark ${rating}`,
        d: `M${graphX(at + 1)} ${HEIGHT}V${HEIGHT - 2 - 4 * ERRORS.indexOf(rating)}`,
      }),
    );
  return [middle, ...drawn, ...wrong];
}

const cursor = () => s("path", { class: "review-cursor", d: `M${graphX(state.replay?.at ?? 0)} 0V${HEIGHT}` });

// --- Luck and skill

/** @param {Review} told */
async function showSummary(told) {
  const { terms, seats, turning } = told;
  const parts = seats.map(({ account, accuracy, ratings }, seat) => {
    const facts = [
      ["accuracy", accuracy === null ? "–" : formatFixed(accuracy)],
      ["luck", changeText(terms, account.luck, true)],
      ["play", changeText(terms, account.choices + account.others, true)],
      ["result", valueText(terms, account.result)],
    ].map(([key, text]) => h("div", null, h("dt", null, reviewText(key)), h("dd", null, text)));
    const wrong = ERRORS.map((rating) =>
      h(
        "div",
        null,
        h("dt", null, reviewText(`rating.${rating}`)),
        h("dd", null, ratings[/** @type {Rating} */ (rating)]),
      ),
    );
    const key = s(
      "svg",
      { class: "review-key", viewBox: "0 0 30 10", "aria-hidden": "true" },
      s("path", { class: `review-line seat-${seat}`, d: "M1 5H29" }),
    );
    const name = h("h3", null, key, " ", seatName(state.view, seat));
    return h("section", { class: "review-seat" }, name, h("dl", null, facts), h("dl", { class: "small" }, wrong));
  });
  const error = changeText(terms, 2 * Math.max(...seats.map(({ account }) => account.error)));
  const jumps = turning.map((turn) => {
    const move = told.moves[Math.min(turn.ply, told.moves.length) - 1];
    const jump = () => {
      button.closest("dialog")?.close();
      goTo(move.at + (turn.by === "choice" || turn.ply > told.moves.length ? 1 : 0));
    };
    const button = h(
      "button",
      { type: "button", class: "button button-quiet", onclick: jump },
      turningPointText(told, turn),
    );
    return h("li", null, button);
  });
  const body = h(
    "div",
    { class: "review-summary" },
    h("p", null, reviewText(`meaning.${terms.kind}`)),
    parts,
    h("p", { class: "small muted" }, reviewText("adds_up", { error })),
    h("h3", null, reviewText("turning")),
    jumps.length ? h("ul", { role: "list" }, jumps) : h("p", null, reviewText("no_turning")),
  );
  await dialog({ id: "review-dialog", title: reviewText("summary"), body });
}

/** @param {Review} told @param {Review["turning"][number]} turn */
function turningPointText(told, { ply, seat, by, change }) {
  const name = fullName(state.view, seat); // third person, also for the own seat
  if (by === "choice") {
    const move = moveText(told.moves[ply - 1].move);
    return reviewText("turn_choice", { ply, name, move, change: changeText(told.terms, -change) });
  }
  const where = ply <= told.moves.length ? "luck" : "end";
  return reviewText(`turn_${where}_${change > 0 ? "good" : "bad"}`, {
    ply,
    name,
    change: changeText(told.terms, change, true),
  });
}
