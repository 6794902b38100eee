/** Takes what the server says, one thing after another, so that each can be followed with the eye. */
import { explain } from "../../shared/api.js";
import { hasWord, t } from "../../shared/i18n.js";
import { announce, toast } from "../../shared/toast.js";
import { celebrate, showPlacement } from "../board/animation.js";
import { forgetPreview, receivePreview } from "../board/preview.js";
import { arrange } from "../state/legal-moves.js";
import { reset, suggest } from "../input/selection.js";
import { after, mayMove, wonExtra } from "../state/view.js";
import { headline, outcome } from "../panels/status.js";
import { play } from "../panels/sound.js";
import { choiceChanged, state, viewChanged } from "../state/store.js";
import { eventWords, seatName } from "../text.js";

/** @import {Hint, Message, Refused, Step, TableEvent, View} from "./protocol.js" */

/** Whoever has fallen so far behind wants to see the position, not the way there. */
const BEHIND = 6;

const BREATH = 2_000;

/** @type {(View | Step)[]} */
const waiting = [];
let running = false;
/** @type {() => void} */
let resync = () => {};
/** @type {(before: View | null) => void} */
let shown = () => {};

/**
 * @param {{resync: () => void, shown: (before: View | null) => void}} ends `resync` asks for a whole view, `shown` is
 *   called when everything that has happened can be seen
 */
export function startTimeline(ends) {
  ({ resync, shown } = ends);
}

/** The number of the last entry heard of, seen or waiting to be. */
export const heard = () => waiting.at(-1)?.n ?? state.view?.n ?? null;

/** @param {Message} message */
export function receive(message) {
  if (state.replay) {
    // The game is over; all that can still come is the way to the next one.
    if (message.type === "view") state.replay.live = message;
    return;
  }
  switch (message.type) {
    case "view":
    case "step":
      waiting.push(message);
      void run();
      break;
    case "seats":
      state.view = { ...state.view, seats: message.seats };
      viewChanged();
      break;
    case "preview":
      receivePreview(message);
      break;
    case "hint":
      void receiveHint(message);
      break;
    case "refused":
      receiveRefusal(message);
      break;
  }
}

async function run() {
  if (running) return;
  running = true;
  const start = state.view;
  try {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      if (next.type === "view") await show(next, waiting.length < BEHIND);
      else if (next.n === state.view.n + 1) await show(after(state.view, next), waiting.length < BEHIND);
      else if (next.n > state.view.n) {
        waiting.length = 0;
        resync();
      }
      settle(next.ack);
    }
  } finally {
    running = false;
  }
  shown(start);
}

/** @param {string | null} ack */
function settle(ack) {
  if (!ack || state.sending?.id !== ack) return;
  state.sending = null;
  choiceChanged();
}

/** @param {View} view @param {boolean} followed whether there is time to look */
async function show(view, followed) {
  const before = state.view ?? null;
  const mine = state.sending?.placed ?? null;
  const news = before && view.n === before.n + 1 ? view.events.slice(before.events.length) : [];
  const offered = Boolean(before?.moves) === Boolean(view.moves);
  const same = before && view.n === before.n && view.you === before.you && offered;
  state.view = view;
  if (!same) {
    const hand = view.you === null ? [] : view.now.hands[view.you];
    state.options = mayMove(view) && view.moves ? arrange(view.moves, hand, view.board) : null;
    if (before && view.n !== before.n) state.sending = null;
    forgetPreview();
    reset();
  }
  viewChanged();
  if (!before || !news.length) return;
  speak(news);
  for (const event of followed && !document.hidden ? news : []) {
    if (event.t === "place") await showPlacement(view, event, mine !== null && before.yours.includes(event.p));
  }
  if (wonExtra(before, view) && view.now.turn !== null && followed) {
    await celebrate(t("table.extra_for", { name: seatName(view, view.now.turn) }));
  }
}

/** @param {TableEvent[]} news */
function speak(news) {
  const words = news.map((event) => eventWords(state.view, event)).filter(Boolean);
  words.push(state.view.table.status === "over" ? `${headline()} ${outcome()}` : headline());
  announce(words.join(" "));
  if (mayMove(state.view) && news.some((event) => "p" in event && event.p !== state.view.you)) play("turn");
}

/** @param {Hint} message */
async function receiveHint(message) {
  const { view, options } = state;
  const [best] = message.picks;
  if (!best || !options) return void toast(t("table.no_hint"));
  try {
    const { hintWords } = await import("../replay/review-text.js");
    const why = await hintWords(view, message, options.moves.gain[best.pick]);
    if (state.options !== options) return; // somebody has moved meanwhile
    suggest(best.pick, why);
    announce(why);
  } catch (error) {
    toast(explain(error), { kind: "error" });
  }
}

/** @param {Refused} message */
function receiveRefusal(message) {
  const mine = message.id !== null && message.id === state.sending?.id;
  if (mine) {
    state.sending = null;
    play("refused");
  }
  if (message.view) receive(message.view);
  else if (mine) choiceChanged();
  const key = `table.refused_${message.code}`;
  // Who is too fast is not told for what; a fresh start says again what was not carried out.
  if (message.code === "too_fast" && state.sending) setTimeout(resync, BREATH);
  // Nobody has asked for a preview; it may come too late in silence.
  if (!mine && message.code === "stale") return;
  toast(hasWord(key) ? t(key) : t("table.refused", { detail: message.detail }), { kind: "error" });
}
