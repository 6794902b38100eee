/** The review of a finished game: a graph above the scrubber, remarks on each move, and a summary of luck and skill. */
import { errorText, get, post } from "../../shared/api.js";
import { dialog } from "../../shared/dialog.js";
import { byId, h, s } from "../../shared/dom.js";
import { t } from "../../shared/i18n.js";
import { announce, toast } from "../../shared/toast.js";
import { layers } from "../board/board.js";
import { tileGroup } from "../board/shapes.js";
import { onViewChange, state } from "../state/store.js";
import { fullName, seatName } from "../text.js";
import { goTo, openReplay } from "./replay.js";
import {
  changeText,
  formatFixed,
  loadReviewTexts,
  moveText,
  remarkText,
  reviewText,
  valueText,
} from "./review-text.js";

/** @import {Rating, Review, ReviewState, ReviewedMove} from "../net/protocol.js" */

/** Milliseconds between requests for the progress of the review. */
const POLL_INTERVAL = 700;
/** Size and margin of the graph. */
const WIDTH = 600;
const HEIGHT = 90;
const MARGIN = 8;
const RATING_SYMBOLS = { forced: "–", best: "✓", good: "·", inaccuracy: "?!", mistake: "?", blunder: "??" };
const STYLES = new URL("../../../css/table/review.css", import.meta.url);
const ERRORS = ["inaccuracy", "mistake", "blunder"];

/** @type {Review | null} */
let review = null;
let loading = false;
let showsBetterMove = false;

const note = h("div", { id: "review-note", "aria-live": "polite", role: "group" });
const graph = s("svg", { id: "review-graph", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none" });
const betterMoveLayer = s("g", { class: "review-best" });

let started = false;

function start() {
  if (started) return;
  started = true;
  document.head.append(h("link", { rel: "stylesheet", href: STYLES }));
  byId("scrubber").before(note, graph);
  layers.preview.after(betterMoveLayer);
  graph.addEventListener("pointerdown", (event) => {
    const { left, width } = graph.getBoundingClientRect();
    goTo(Math.round(stepAtX(((event.clientX - left) / width) * WIDTH)));
  });
  onViewChange(render);
}

/** Show the review. The first call requests it from the server. */
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
    let response = await get(path);
    if (response.state === "none") response = await post(path);
    if (response.review) return response.review;
    setButtonLabel(t("table.review_at", { done: response.done, total: response.total }));
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL));
  }
}

/** @param {string} text */
function setButtonLabel(text) {
  byId("review").textContent = text;
  byId("review").setAttribute("aria-busy", String(loading));
}

// --- Remarks on moves

/** The moves that led to the shown position: a move, and possibly the decision to keep the hand after it. */
function shownMoves() {
  const at = state.replay?.at ?? 0;
  return (review?.moves ?? []).filter((reviewed) => reviewed.at === (reviewed.move === "keep" ? at : at - 1));
}

function render() {
  const shown = review !== null && state.replay !== null;
  note.hidden = !shown;
  graph.toggleAttribute("hidden", !shown);
  document.body.classList.toggle("reviewing", shown);
  betterMoveLayer.replaceChildren();
  if (!review || !shown) return;
  graph.replaceChildren(...graphLines(review), cursor());
  graph.setAttribute("role", "img");
  graph.setAttribute("aria-label", reviewText("graph_label", { terms: reviewText(`terms.${review.terms.kind}`) }));
  const moves = shownMoves();
  note.setAttribute("aria-label", t("table.review"));
  note.replaceChildren(
    ...(moves.length ? moves.flatMap(moveNotes) : [h("p", null, reviewText(`meaning.${review.terms.kind}`))]),
  );
  const better = showsBetterMove && moves.find(hasBetterMove);
  if (better) renderBetterMove(better);
}

/** Return whether another placement was better. @param {ReviewedMove} move */
const hasBetterMove = ({ candidates, made }) => made > 0 && candidates[0].tile !== null;

/** @param {ReviewedMove} move */
function moveNotes(move) {
  const { terms } = /** @type {Review} */ (review);
  const { rating, given_up, remark, luck } = move;
  const loss = given_up > 0 ? ` ${changeText(terms, -given_up, true)}` : "";
  const symbol = h("b", { "aria-hidden": "true" }, RATING_SYMBOLS[rating]);
  return [
    h(
      "p",
      { class: "review-facts" },
      h("span", { class: `rated ${rating}` }, symbol, ` ${reviewText(`rating.${rating}`)}${loss}`),
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
  const toggle = () => {
    showsBetterMove = !showsBetterMove;
    render();
    byId("review-show").focus();
  };
  return h(
    "button",
    {
      type: "button",
      class: "button button-quiet",
      id: "review-show",
      "aria-pressed": String(showsBetterMove),
      onclick: toggle,
    },
    text,
  );
}

/** @param {ReviewedMove} move */
function renderBetterMove({ candidates: [{ tile }] }) {
  if (!tile) return;
  const shape = state.view.board.shapes[tile.shape];
  betterMoveLayer.replaceChildren(
    s(
      "g",
      { class: "preview pending", transform: `translate(${tile.x} ${tile.y})`, "data-best": tile.at.join("-") },
      tileGroup(shape, tile.tile),
      s("path", { class: "preview-edge", d: shape.path }),
    ),
  );
}

// --- Graph

const stepCount = () => Math.max(1, (state.replay?.positions.length ?? 2) - 1);

/** @param {number} step */
const graphX = (step) => MARGIN + ((WIDTH - 2 * MARGIN) * step) / stepCount();

/** @param {number} x */
const stepAtX = (x) => ((x - MARGIN) / (WIDTH - 2 * MARGIN)) * stepCount();

/**
 * Return the vertical scale: the full range for chances and places, else the range of the values.
 * @param {Review} review
 * @returns {(value: number) => number}
 */
function valueScale({ terms, seats }) {
  const values = seats.flatMap(({ line }) => line.map(([, value]) => value));
  const fullRange = terms.kind === "win" || terms.kind === "place";
  const [low, high] = fullRange ? [0, 1] : [Math.min(...values) - 0.02, Math.max(...values) + 0.02];
  return (value) => MARGIN + ((HEIGHT - 2 * MARGIN) * (high - value)) / (high - low);
}

/** @param {Review} review */
function graphLines(review) {
  const y = valueScale(review);
  const middle = s("path", { class: "review-middle", d: `M${MARGIN} ${HEIGHT / 2}H${WIDTH - MARGIN}` });
  const lines = review.seats.map(({ line }, seat) => {
    const points = line.map(([step, value]) => `${graphX(step).toFixed(1)} ${y(value).toFixed(1)}`);
    return s("path", { class: `review-line seat-${seat}`, d: `M${points.join("L")}` });
  });
  const errors = review.moves
    .filter(({ rating }) => ERRORS.includes(rating))
    .map(({ at, rating }) =>
      s("path", {
        class: `review-mark ${rating}`,
        d: `M${graphX(at + 1)} ${HEIGHT}V${HEIGHT - 2 - 4 * ERRORS.indexOf(rating)}`,
      }),
    );
  return [middle, ...lines, ...errors];
}

const cursor = () => s("path", { class: "review-cursor", d: `M${graphX(state.replay?.at ?? 0)} 0V${HEIGHT}` });

// --- Luck and skill

/** @param {Review} review */
async function showSummary(review) {
  const { terms, seats, turning } = review;
  // Two standard errors, for the seat with the largest one.
  const error = changeText(terms, 2 * Math.max(...seats.map(({ account }) => account.error)));
  const turningPoints = turning.map((turn) => h("li", null, turningPointButton(review, turn)));
  const body = h(
    "div",
    { class: "review-summary" },
    h("p", null, reviewText(`meaning.${terms.kind}`)),
    seats.map((_, seat) => seatSummary(review, seat)),
    h("p", { class: "small muted" }, reviewText("adds_up", { error })),
    h("h3", null, reviewText("turning")),
    turningPoints.length ? h("ul", { role: "list" }, turningPoints) : h("p", null, reviewText("no_turning")),
  );
  await dialog({ id: "review-dialog", title: reviewText("summary"), body });
}

/** @param {Review} review @param {number} seat */
function seatSummary({ terms, seats }, seat) {
  const { account, accuracy, ratings } = seats[seat];
  const facts = [
    ["accuracy", accuracy === null ? "–" : formatFixed(accuracy)],
    ["luck", changeText(terms, account.luck, true)],
    ["play", changeText(terms, account.choices + account.others, true)],
    ["result", valueText(terms, account.result)],
  ].map(([key, text]) => h("div", null, h("dt", null, reviewText(key)), h("dd", null, text)));
  const errors = ERRORS.map((rating) =>
    h("div", null, h("dt", null, reviewText(`rating.${rating}`)), h("dd", null, ratings[/** @type {Rating} */ (rating)])),
  );
  const key = s(
    "svg",
    { class: "review-key", viewBox: "0 0 30 10", "aria-hidden": "true" },
    s("path", { class: `review-line seat-${seat}`, d: "M1 5H29" }),
  );
  const name = h("h3", null, key, " ", seatName(state.view, seat));
  return h("section", { class: "review-seat" }, name, h("dl", null, facts), h("dl", { class: "small" }, errors));
}

/**
 * Build a button that shows the position after a turning point: a choice, or the draws before a move or the end.
 * @param {Review} review
 * @param {Review["turning"][number]} turn
 */
function turningPointButton(review, turn) {
  const move = review.moves[Math.min(turn.ply, review.moves.length) - 1];
  const jump = () => {
    button.closest("dialog")?.close();
    goTo(move.at + (turn.by === "choice" || turn.ply > review.moves.length ? 1 : 0));
  };
  const button = h(
    "button",
    { type: "button", class: "button button-quiet", onclick: jump },
    turningPointText(review, turn),
  );
  return button;
}

/** @param {Review} review @param {Review["turning"][number]} turn */
function turningPointText(review, { ply, seat, by, change }) {
  const name = fullName(state.view, seat); // not "You": the texts are in the third person
  if (by === "choice") {
    const move = moveText(review.moves[ply - 1].move);
    return reviewText("turn_choice", { ply, name, move, change: changeText(review.terms, -change) });
  }
  const cause = ply <= review.moves.length ? "luck" : "end";
  return reviewText(`turn_${cause}_${change > 0 ? "good" : "bad"}`, {
    ply,
    name,
    change: changeText(review.terms, change, true),
  });
}
