/**
 * The progress of the rules, shown while a bot or a hint waits for them. After an installation or an upgrade the server
 * compiles its rules; until then moves work, and searches wait.
 */
import { get } from "../../shared/api.js";
import { byId } from "../../shared/dom.js";
import { formatNumber, t } from "../../shared/i18n.js";
import { announce } from "../../shared/toast.js";
import { notifySelection, onSelectionChange, state } from "../state/store.js";

/** @import {RulesProgress} from "../../shared/types.js" */

/** All times are in milliseconds. A search that takes longer than usual may wait for the rules. */
const USUAL_TIME = 2_500;
const POLL_INTERVAL = 1_000;

let timer = 0;
/** Whether the rules of this server are known to be ready. */
let ready = false;

/** The number of the entry after which a hint was requested. */
let hintAfter = -1;

/** Whether the server computes a bot's move or a hint. */
function isSearching() {
  const { view, replay, hintText } = state;
  if (!view || replay || view.table.status !== "playing" || view.now.turn === null) return false;
  return (hintAfter === view.n && !hintText) || view.seats[view.now.turn].kind === "bot";
}

function schedule() {
  if (ready || timer || !isSearching()) return;
  timer = window.setTimeout(check, state.preparation ? POLL_INTERVAL : USUAL_TIME);
}

async function check() {
  /** @type {RulesProgress | null} */
  const progress = isSearching() ? await get("/api/rules-progress").catch(() => null) : null;
  timer = 0;
  ready = progress?.ready ?? false;
  show(progress && !ready && isSearching() ? progress.games[state.view.table.game] : null);
  schedule();
}

/** @param {number | null} share */
function show(share) {
  const before = state.preparation;
  state.preparation = share === null ? "" : t("table.preparing", { percent: formatNumber(Math.floor(100 * share)) });
  if (!before && state.preparation) announce(state.preparation);
  if (before !== state.preparation) notifySelection();
}

function onHintRequested() {
  hintAfter = state.view.n;
  schedule();
}

byId("hint").addEventListener("click", onHintRequested);
addEventListener("keydown", ({ key }) => key === "h" && onHintRequested());
onSelectionChange(schedule);
schedule();
