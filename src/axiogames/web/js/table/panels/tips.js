/** Tips that explain a situation when it first occurs. Their texts come from the server. */
import { getRecentGames } from "../../shared/api.js";
import { byId } from "../../shared/dom.js";
import { getSetting, setSetting } from "../../shared/settings.js";
import { onSelectionChange, state } from "../state/store.js";
import { canMove, ownSeat, wonExtraTurn } from "../state/view.js";

/** @import {View} from "../net/protocol.js" */

/** @type {Record<string, string>} */
let texts = {};
/** @type {Set<string>} */
let shownTips = new Set();
/** @type {string[]} */
const queue = [];

const storageKey = () => `coach ${state.view.table.id}`;

export async function startTips() {
  byId("tip-next").addEventListener("click", dismissTip);
  byId("tips-off").addEventListener("click", () => {
    setSetting("coach", false);
    queue.length = 0;
    render();
  });
  try {
    shownTips = new Set(JSON.parse(sessionStorage.getItem(storageKey()) ?? "[]"));
  } catch {
    // Without storage, tips are shown again after a reload.
  }
  const games = await getRecentGames().catch(() => []);
  texts = games.find((game) => game.id === state.view.table.game)?.coach ?? {};
  onSelectionChange(onSelection);
  updateTips(null);
}

/** Queue a tip unless it has been shown. @param {string} situation */
function queueTip(situation) {
  if (!getSetting("coach") || shownTips.has(situation) || !texts[situation] || state.replay) return;
  shownTips.add(situation);
  queue.push(situation);
  try {
    sessionStorage.setItem(storageKey(), JSON.stringify([...shownTips]));
  } catch {
    // Without storage, shown tips are remembered until the page is closed.
  }
  render();
}

/** Queue the tip for the current selection. */
function onSelection() {
  const { selection, view } = state;
  if (!canMove(view) || !shownTips.has("pick")) return;
  if (selection.tile !== null && !selection.pending)
    queueTip((state.legal?.tiles[selection.tile].length ?? 0) > 1 ? "turn" : "place");
  if (selection.pending) queueTip(selection.pending.target.picks.length > 1 ? "naming" : "place");
}

/** Queue the tips for the current position. @param {View | null} before */
export function updateTips(before) {
  const { view } = state;
  const seat = ownSeat(view);
  if (seat === null || view.yours.length === 0 || view.table.status === "open") return;
  // Tips about earlier moves are out of date.
  if (before && view.n > before.n) queue.length = 0;
  if (view.table.status === "over") return queueTip("end");
  queueTip("welcome");
  const lowest = view.now.lowest[seat] ?? [];
  const scored = view.now.scores[seat]?.some((points) => points > 0);
  if (scored) queueTip("score");
  if (scored && lowest.length > 0 && lowest.length < view.table.tracks.length) queueTip("lowest");
  if (view.now.pyramids.length) queueTip("pyramid");
  if (before && wonExtraTurn(before, view)) queueTip("extra");
  render();
  if (!canMove(view)) return view.events.length ? queueTip("wait") : undefined;
  if (view.now.phase === "offer" || view.moves?.others.some(({ move }) => move === "exchange")) queueTip("exchange");
  if (view.now.phase === "place") queueTip("pick");
}

/** Close the current tip. @returns {boolean} whether there was one */
export function dismissTip() {
  if (!queue.length) return false;
  queue.shift();
  render();
  return true;
}

function render() {
  const box = byId("tips");
  const [situation] = queue;
  box.hidden = !situation;
  if (situation) byId("tip-text").textContent = texts[situation];
}
