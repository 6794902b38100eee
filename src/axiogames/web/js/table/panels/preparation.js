/**
 * The progress of the rules, shown while a bot or a hint waits for them. After an installation or an upgrade the server
 * compiles its rules; until then moves work, and searches wait.
 */
import { get } from "../../shared/api.js";
import { announce } from "../../shared/toast.js";
import { notifySelection, onSelectionChange, state } from "../state/store.js";
import { preparationText } from "./status.js";

/** @import {RulesProgress} from "../../shared/types.js" */

/** All times are in milliseconds. A search that takes longer than usual may wait for the rules. */
const USUAL_TIME = 2_500;
const POLL_INTERVAL = 1_000;

let timer = 0;
/** Whether the rules of this server are known to be ready. */
let ready = false;

/** Show the progress whenever a bot or a hint takes long, until the rules are ready. */
export function startPreparation() {
  onSelectionChange(schedule);
}

/** Whether the server is computing a move or a hint. */
function isWaiting() {
  const { view, replay, hintRequested } = state;
  const { turn } = view.now;
  if (replay || view.table.status !== "playing" || turn === null) return false;
  return hintRequested || view.seats[turn].kind === "bot";
}

function schedule() {
  if (ready || timer || !isWaiting()) return;
  timer = window.setTimeout(check, state.preparation === null ? USUAL_TIME : POLL_INTERVAL);
}

async function check() {
  const before = state.preparation;
  /** @type {RulesProgress | null} */
  const progress = await get("/api/rules-progress").catch(() => null);
  timer = 0;
  ready ||= progress?.ready ?? false;
  const share = progress?.games[state.view.table.game] ?? 0;
  state.preparation = progress && !ready && isWaiting() ? Math.floor(100 * share) : null;
  if (before === null && state.preparation !== null) announce(preparationText());
  if (before !== state.preparation) notifySelection();
  schedule();
}
