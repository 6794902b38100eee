/** Short explanations when something happens for the first time in a game. The texts come from the server. */
import { games } from "../../shared/api.js";
import { byId } from "../../shared/dom.js";
import { setSetting, setting } from "../../shared/settings.js";
import { mayMove, ownSeat, wonExtra } from "../state/view.js";
import { onChoice, state } from "../state/store.js";

/** @import {View} from "../net/protocol.js" */

/** @type {Record<string, string>} */
let texts = {};
/** @type {Set<string>} */
let told = new Set();
/** @type {string[]} */
const queue = [];

const key = () => `coach ${state.view.table.id}`;

export async function startCoach() {
  byId("coach-next").addEventListener("click", dismiss);
  byId("coach-off").addEventListener("click", () => {
    setSetting("coach", false);
    queue.length = 0;
    draw();
  });
  try {
    told = new Set(JSON.parse(sessionStorage.getItem(key()) ?? "[]"));
  } catch {
    // Then everything is told once more.
  }
  const all = await games().catch(() => []);
  texts = all.find((game) => game.id === state.view.table.game)?.coach ?? {};
  onChoice(fromChoice);
  notice(null);
}

/** @param {string} situation */
function tell(situation) {
  if (!setting("coach") || told.has(situation) || !texts[situation] || state.replay) return;
  told.add(situation);
  queue.push(situation);
  try {
    sessionStorage.setItem(key(), JSON.stringify([...told]));
  } catch {
    // It is remembered as long as the page is open.
  }
  draw();
}

/** What is chosen has changed: the explanation follows the hand. */
function fromChoice() {
  const { choice, view } = state;
  if (!mayMove(view) || !told.has("pick")) return;
  if (choice.tile !== null && !choice.set) tell((state.options?.tiles[choice.tile].length ?? 0) > 1 ? "turn" : "place");
  if (choice.set) tell(choice.set.target.picks.length > 1 ? "naming" : "place");
}

/** Something has happened at the table. @param {View | null} before */
export function notice(before) {
  const { view } = state;
  const seat = ownSeat(view);
  if (seat === null || view.yours.length === 0 || view.table.status === "open") return;
  // Whoever has moved on does not want to read what led there.
  if (before && view.n > before.n) queue.length = 0;
  if (view.table.status === "over") return tell("end");
  tell("welcome");
  const low = view.now.lowest[seat] ?? [];
  const scored = view.now.scores[seat]?.some((points) => points > 0);
  if (scored) tell("score");
  if (scored && low.length > 0 && low.length < view.table.tracks.length) tell("lowest");
  if (view.now.pyramids.length) tell("pyramid");
  if (before && wonExtra(before, view)) tell("extra");
  draw();
  if (!mayMove(view)) return view.events.length ? tell("wait") : undefined;
  if (view.now.phase === "offer" || view.moves?.others.some((one) => one.move === "exchange")) tell("exchange");
  if (view.now.phase === "place") tell("pick");
}

/** The next one, if one is waiting; Escape does the same. */
export function dismiss() {
  if (!queue.length) return false;
  queue.shift();
  draw();
  return true;
}

function draw() {
  const box = byId("coach");
  const [situation] = queue;
  box.hidden = !situation;
  if (situation) byId("coach-text").textContent = texts[situation];
}
