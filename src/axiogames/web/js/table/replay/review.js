/** A game that is over, reviewed: a graph over the scrubber, what there is to say about each move, luck and skill. */
import { explain, get, post } from "../../shared/api.js";
import { byId, h, s } from "../../shared/dom.js";
import { t } from "../../shared/i18n.js";
import { dialog } from "../../shared/dialog.js";
import { announce, toast } from "../../shared/toast.js";
import { tileAt } from "../board/shapes.js";
import { layers } from "../board/board.js";
import { changeWords, fixed, loadJudged, moveWords, remarkWords, say, valueWords } from "./review-text.js";
import { go, openReplay } from "./replay.js";
import { onView, state } from "../state/store.js";
import { fullName, seatName } from "../text.js";

/** @import {Rating, Review, ReviewedMove, ReviewState} from "../net/protocol.js" */

const PAUSE = 700;
const WIDTH = 600;
const HEIGHT = 90;
const EDGE = 8;
const SIGNS = { forced: "–", best: "✓", good: "·", inaccuracy: "?!", mistake: "?", blunder: "??" };
const WRONG = ["inaccuracy", "mistake", "blunder"];

/** @type {Review | null} */
let review = null;
let asking = false;
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
  layers.ghost.after(best);
  graph.addEventListener("pointerdown", (event) => {
    const { left, width } = graph.getBoundingClientRect();
    go(Math.round(stepAt(((event.clientX - left) / width) * WIDTH)));
  });
  onView(draw);
}

/** Show the review; if there is none yet, have it made. */
export async function openReview() {
  if (asking) return;
  start();
  if (!state.replay) await openReplay(0);
  if (!state.replay) return;
  if (!review) {
    asking = true;
    try {
      review = await made();
    } catch (error) {
      toast(explain(error), { kind: "error" });
    } finally {
      asking = false;
      label(t("table.review"));
    }
    if (!review || !state.replay) return;
    announce(t("table.review_ready"));
  }
  draw();
  await showSummary(review);
}

/** @returns {Promise<Review>} */
async function made() {
  await loadJudged();
  const path = `/api/tables/${state.view.table.id}/review`;
  announce(t("table.review_waits"));
  for (;;) {
    /** @type {ReviewState} */
    let told = await get(path);
    if (told.state === "none") told = await post(path);
    if (told.review) return told.review;
    label(t("table.review_at", { done: told.done, total: told.total }));
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
}

/** @param {string} text */
function label(text) {
  byId("review").textContent = text;
  byId("review").setAttribute("aria-busy", String(asking));
}

// ---------------------------------------------------------------- move by move

/** The moves that led to the position shown: one, and whether a hand was kept after it. */
function movesHere() {
  const at = state.replay?.at ?? 0;
  return (review?.moves ?? []).filter((one) => one.at === (one.move === "keep" ? at : at - 1));
}

function draw() {
  const shown = review !== null && state.replay !== null;
  note.hidden = !shown;
  graph.toggleAttribute("hidden", !shown);
  document.body.classList.toggle("reviewing", shown);
  best.replaceChildren();
  if (!review || !shown) return;
  graph.replaceChildren(...lines(review), cursor());
  graph.setAttribute("role", "img");
  graph.setAttribute("aria-label", say("graph_label", { terms: say(`terms.${review.terms.kind}`) }));
  const here = movesHere();
  note.setAttribute("aria-label", t("table.review"));
  note.replaceChildren(...(here.length ? here.flatMap(told) : [h("p", null, say(`meaning.${review.terms.kind}`))]));
  const better = showsBest && here.find(isWorse);
  if (better) drawBest(better);
}

/** Whether another tile, or another place, was better. @param {ReviewedMove} move */
const isWorse = ({ candidates, made: number }) => number > 0 && candidates[0].tile !== null;

/** @param {ReviewedMove} move */
function told(move) {
  const { terms } = /** @type {Review} */ (review);
  const { rating, given_up, remark, luck } = move;
  const cost = given_up > 0 ? ` ${changeWords(terms, -given_up, true)}` : "";
  const sign = h("b", { "aria-hidden": "true" }, SIGNS[rating]);
  return [
    h("p", { class: "review-facts" },
      h("span", { class: `rated ${rating}` }, sign, ` ${say(`rating.${rating}`)}${cost}`),
      move.candidates.length > 0 && h("span", { class: "muted" }, `${say("luck")} ${changeWords(terms, luck.change, true)}`),
      isWorse(move) && bestButton(move),
    ),
    h("p", null, remarkWords(state.view, terms, remark)),
  ];
}

/** @param {ReviewedMove} move */
function bestButton({ candidates: [first] }) {
  const { terms } = /** @type {Review} */ (review);
  const text = `${say("best_move")}: ${first.move} (${valueWords(terms, first.value)})`;
  const show = () => {
    showsBest = !showsBest;
    draw();
    byId("review-show").focus();
  };
  return h(
    "button",
    { type: "button", class: "button button-quiet", id: "review-show", "aria-pressed": String(showsBest), onclick: show },
    text,
  );
}

/** @param {ReviewedMove} move */
function drawBest({ candidates: [{ tile }] }) {
  if (!tile) return;
  const shape = state.view.board.shapes[tile.shape];
  best.replaceChildren(
    s("g", { class: "ghost set", transform: `translate(${tile.x} ${tile.y})`, "data-best": tile.at.join("-") },
      tileAt(shape, tile.tile),
      s("path", { class: "ghost-edge", d: shape.path }),
    ),
  );
}

// ---------------------------------------------------------------- the graph

const steps = () => Math.max(1, (state.replay?.positions.length ?? 2) - 1);

/** @param {number} step */
const x = (step) => EDGE + ((WIDTH - 2 * EDGE) * step) / steps();

/** @param {number} at */
const stepAt = (at) => ((at - EDGE) / (WIDTH - 2 * EDGE)) * steps();

/** Room for all that can be, or alone for what is. @param {Review} told @returns {(value: number) => number} */
function scale({ terms, seats }) {
  const values = seats.flatMap(({ line }) => line.map(([, value]) => value));
  const whole = terms.kind === "win" || terms.kind === "place";
  const [low, high] = whole ? [0, 1] : [Math.min(...values) - 0.02, Math.max(...values) + 0.02];
  return (value) => EDGE + ((HEIGHT - 2 * EDGE) * (high - value)) / (high - low);
}

/** @param {Review} told */
function lines(told) {
  const y = scale(told);
  const middle = s("path", { class: "review-middle", d: `M${EDGE} ${HEIGHT / 2}H${WIDTH - EDGE}` });
  const drawn = told.seats.map(({ line }, seat) => {
    const points = line.map(([step, value]) => `${x(step).toFixed(1)} ${y(value).toFixed(1)}`);
    return s("path", { class: `review-line seat-${seat}`, d: `M${points.join("L")}` });
  });
  const wrong = told.moves.filter(({ rating }) => WRONG.includes(rating)).map(({ at, rating }) =>
    s("path", { class: `review-mark ${rating}`, d: `M${x(at + 1)} ${HEIGHT}V${HEIGHT - 2 - 4 * WRONG.indexOf(rating)}` }),
  );
  return [middle, ...drawn, ...wrong];
}

const cursor = () => s("path", { class: "review-cursor", d: `M${x(state.replay?.at ?? 0)} 0V${HEIGHT}` });

// ---------------------------------------------------------------- luck and skill

/** @param {Review} told */
async function showSummary(told) {
  const { terms, seats, turning } = told;
  const parts = seats.map(({ account, accuracy, ratings }, seat) => {
    const facts = [
      ["accuracy", accuracy === null ? "–" : fixed(accuracy)],
      ["luck", changeWords(terms, account.luck, true)],
      ["play", changeWords(terms, account.choices + account.others, true)],
      ["result", valueWords(terms, account.result)],
    ].map(([key, text]) => h("div", null, h("dt", null, say(key)), h("dd", null, text)));
    const wrong = WRONG.map((rating) =>
      h("div", null, h("dt", null, say(`rating.${rating}`)), h("dd", null, ratings[/** @type {Rating} */ (rating)])),
    );
    const key = s("svg", { class: "review-key", viewBox: "0 0 30 10", "aria-hidden": "true" },
      s("path", { class: `review-line seat-${seat}`, d: "M1 5H29" }));
    const name = h("h3", null, key, " ", seatName(state.view, seat));
    return h("section", { class: "review-seat" }, name, h("dl", null, facts), h("dl", { class: "small" }, wrong));
  });
  const error = changeWords(terms, 2 * Math.max(...seats.map(({ account }) => account.error)));
  const jumps = turning.map((turn) => {
    const move = told.moves[Math.min(turn.ply, told.moves.length) - 1];
    const jump = () => {
      button.closest("dialog")?.close();
      go(move.at + (turn.by === "choice" || turn.ply > told.moves.length ? 1 : 0));
    };
    const button = h("button", { type: "button", class: "button button-quiet", onclick: jump }, turnWords(told, turn));
    return h("li", null, button);
  });
  const body = h(
    "div",
    { class: "review-summary" },
    h("p", null, say(`meaning.${terms.kind}`)),
    parts,
    h("p", { class: "small muted" }, say("adds_up", { error })),
    h("h3", null, say("turning")),
    jumps.length ? h("ul", { role: "list" }, jumps) : h("p", null, say("no_turning")),
  );
  await dialog({ id: "review-dialog", title: say("summary"), body });
}

/** @param {Review} told @param {Review["turning"][number]} turn */
function turnWords(told, { ply, seat, by, change }) {
  const name = fullName(state.view, seat); // a sentence about somebody, not to them
  if (by === "choice") {
    const move = moveWords(told.moves[ply - 1].move);
    return say("turn_choice", { ply, name, move, change: changeWords(told.terms, -change) });
  }
  const where = ply <= told.moves.length ? "luck" : "end";
  return say(`turn_${where}_${change > 0 ? "good" : "bad"}`, { ply, name, change: changeWords(told.terms, change, true) });
}
