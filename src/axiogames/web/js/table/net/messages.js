/** Process the server's messages in order. Steps are animated one after another, so that people can follow them. */
import { errorText } from "../../shared/api.js";
import { hasText, t } from "../../shared/i18n.js";
import { announce, toast } from "../../shared/toast.js";
import { showExtraTurn, showPlacement } from "../board/animation.js";
import { clearPreview, receivePreview } from "../board/preview.js";
import { resetSelection, showHint } from "../input/selection.js";
import { playSound } from "../panels/sound.js";
import { outcomeText, statusText } from "../panels/status.js";
import { indexMoves } from "../state/legal-moves.js";
import { notifySelection, notifyView, state } from "../state/store.js";
import { applyStep, canMove, wonExtraTurn } from "../state/view.js";
import { eventText, seatName } from "../text.js";
import { reconnect } from "./connection.js";

/** @import {Hint, Message, Refused, Step, TableEvent, View} from "./protocol.js" */

/** With a longer backlog, steps are shown without animation. */
const MAX_BACKLOG = 6;

/** Milliseconds before the page repeats commands that were sent too fast. */
const RETRY_DELAY = 2_000;

/** @type {(View | Step)[]} */
const queue = [];
let processing = false;
/** Whether steps are missing, so that a whole view must be requested. */
let needsView = false;
/** @type {(before: View | null) => void} */
let onRendered = () => {};

/** @param {(before: View | null) => void} callback called when all received steps have been rendered */
export function startMessages(callback) {
  onRendered = callback;
}

/** The number of the last received entry, rendered or queued, or null if a whole view is needed. */
export const lastReceived = () => (needsView ? null : (queue.at(-1)?.n ?? state.view?.n ?? null));

function requestView() {
  needsView = true;
  reconnect();
}

/** Process a message, or queue it behind earlier steps. @param {Message} message */
export function receive(message) {
  if (message.type === "view") needsView = false;
  if (state.replay) {
    // The game is over. Only a rematch can still change the table.
    if (message.type === "view") state.replay.live = message;
    return;
  }
  switch (message.type) {
    case "view":
    case "step":
      queue.push(message);
      void processQueue();
      break;
    case "seats":
      state.view = { ...state.view, seats: message.seats };
      notifyView();
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

async function processQueue() {
  if (processing) return;
  processing = true;
  const before = state.view;
  try {
    for (let next = queue.shift(); next; next = queue.shift()) {
      if (next.type === "view") await showView(next, queue.length < MAX_BACKLOG);
      else if (next.n === state.view.n + 1) await showView(applyStep(state.view, next), queue.length < MAX_BACKLOG);
      else if (next.n > state.view.n) {
        queue.length = 0;
        requestView();
      }
      acknowledge(next.ack);
    }
  } finally {
    processing = false;
  }
  onRendered(before);
}

/** @param {string | null} ack the id of an acknowledged command */
function acknowledge(ack) {
  if (!ack || state.sending?.id !== ack) return;
  state.sending = null;
  notifySelection();
}

/** Replace the view and animate its new events. @param {View} view @param {boolean} animated */
async function showView(view, animated) {
  const before = state.view ?? null;
  const ownPlacement = state.sending?.placed ?? null;
  const newEvents = before && view.n === before.n + 1 ? view.events.slice(before.events.length) : [];
  const sameMoves = Boolean(before?.moves) === Boolean(view.moves);
  // A repeated view of the same position keeps the selection.
  const unchanged = before && view.n === before.n && view.you === before.you && sameMoves;
  state.view = view;
  if (!unchanged) {
    const hand = view.you === null ? [] : view.now.hands[view.you];
    state.legal = canMove(view) && view.moves ? indexMoves(view.moves, hand, view.board) : null;
    if (before && view.n !== before.n) state.sending = null;
    clearPreview();
    resetSelection();
  }
  notifyView();
  if (!before || !newEvents.length) return;
  announceEvents(newEvents);
  for (const event of animated && !document.hidden ? newEvents : []) {
    if (event.t === "place") await showPlacement(view, event, ownPlacement !== null && before.yours.includes(event.p));
  }
  if (wonExtraTurn(before, view) && view.now.turn !== null && animated) {
    await showExtraTurn(t("table.extra_for", { name: seatName(view, view.now.turn) }));
  }
}

/** Announce events and the new status to screen readers. @param {TableEvent[]} newEvents */
function announceEvents(newEvents) {
  const texts = newEvents.map((event) => eventText(state.view, event)).filter(Boolean);
  texts.push(state.view.table.status === "over" ? `${statusText()} ${outcomeText()}` : statusText());
  announce(texts.join(" "));
  if (canMove(state.view) && newEvents.some((event) => "p" in event && event.p !== state.view.you)) playSound("turn");
}

/** @param {Hint} message */
async function receiveHint(message) {
  const { view, legal } = state;
  const [best] = message.picks;
  if (!best || !legal) return void toast(t("table.no_hint"));
  try {
    const { hintText } = await import("../replay/review-text.js");
    const text = await hintText(view, message, legal.moves.gain[best.pick]);
    if (state.legal !== legal) return; // the position has changed meanwhile
    showHint(best.pick, text);
    announce(text);
  } catch (error) {
    toast(errorText(error), { kind: "error" });
  }
}

/** @param {Refused} message */
function receiveRefusal(message) {
  const own = message.id !== null && message.id === state.sending?.id;
  if (own) {
    state.sending = null;
    playSound("refused");
  }
  if (message.view) receive(message.view);
  else if (own) notifySelection();
  const key = `table.refused_${message.code}`;
  // The message does not name the rejected command. After reconnecting, all unanswered commands are repeated.
  if (message.code === "too_fast" && state.sending) setTimeout(requestView, RETRY_DELAY);
  // A stale preview was requested by the page, not by the person.
  if (!own && message.code === "stale") return;
  toast(hasText(key) ? t(key) : t("table.refused", { detail: message.detail }), { kind: "error" });
}
