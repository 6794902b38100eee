/** The status line: turn, instruction, number of tiles in the bag, clock. */
import { byId } from "../../shared/dom.js";
import { formatList, formatNumber, t } from "../../shared/i18n.js";
import { shownPick } from "../input/selection.js";
import { onSelectionChange, onViewChange, state } from "../state/store.js";
import { canMove, ownSeat } from "../state/view.js";
import { seatName, trackName } from "../text.js";

/** The clock is highlighted below this many milliseconds. */
const HURRY_TIME = 15_000;

export function startStatus() {
  onSelectionChange(render);
  onViewChange(renderClock);
  setInterval(renderClock, 500);
}

function render() {
  const { view } = state;
  byId("status").textContent = statusText();
  byId("detail").textContent = detailText();
  byId("left").textContent = t("table.left", { n: view.now.in_bag });
  byId("left").hidden = view.table.status !== "playing" && !state.replay;
  byId("prompt").classList.toggle("mine", canMove(view));
}

/** @returns {string} */
export function statusText() {
  const { view, replay } = state;
  const { now, table, seats } = view;
  if (replay) return t("table.replay_at", { move: replay.at, moves: replay.positions.length - 1 });
  if (table.status === "over") return t("table.over");
  if (table.status !== "playing" || now.turn === null) return t(`table.status_${table.status}`);
  if (view.you === now.turn || (view.yours.length === 1 && view.yours[0] === now.turn)) {
    if (now.held) return t("table.held");
    if (now.phase === "offer") return t("table.may_exchange");
    if (state.sending) return t("table.sending");
    return now.extra > 0 ? t("table.your_turn_extra", { n: now.extra + 1 }) : t("table.your_turn");
  }
  const name = seatName(view, now.turn);
  return t(seats[now.turn].kind === "bot" ? "table.thinks" : "table.their_turn", { name });
}

function detailText() {
  const { view, selection, legal, hintText } = state;
  const { now, table } = view;
  if (state.replay) return "";
  if (table.status === "over") return outcomeText();
  if (state.preparation) return state.preparation;
  if (view.yours.length === 0) return t("table.watching");
  if (!canMove(view) || state.sending) return now.held ? t("table.held_help") : "";
  if (hintText) return hintText;
  const seat = ownSeat(view) ?? 0;
  if (now.phase === "offer") {
    const lowest = now.lowest[seat] ?? [];
    return t("table.offer_why", { n: lowest.length, colours: formatList(lowest.map(trackName)) });
  }
  if (selection.exchange) return t("table.swap_help");
  if (state.preview?.ends && state.preview.pick === shownPick()) return t("table.ends_game");
  if (selection.pending)
    return selection.pending.target.picks.length > 1 ? t("table.help_name") : t("table.help_confirm");
  if (selection.tile !== null) return t("table.help_place");
  return legal?.tiles.some((rotations) => rotations.length) ? t("table.help_pick") : t("table.help_other");
}

/** Return the outcome as a short sentence. */
export function outcomeText() {
  const { view } = state;
  const winners = view.now.result?.winners ?? [];
  if (view.seats.length === 1) return t("table.finished_alone");
  const won = winners.some((seat) => view.yours.includes(seat)) && view.yours.length === 1;
  if (won && winners.length === 1) return t("table.you_win");
  if (winners.length === 1) return t("table.wins", { name: seatName(view, winners[0]) });
  return t("table.shared", { names: formatList(winners.map((seat) => seatName(view, seat))) });
}

function renderClock() {
  const clock = byId("clock");
  const { deadline } = state.view.now;
  clock.hidden = deadline === null || state.replay !== null || state.view.table.status !== "playing";
  if (deadline === null || clock.hidden) return;
  const remaining = Math.max(0, deadline - Date.now());
  clock.textContent = formatDuration(Math.ceil(remaining / 1000));
  clock.classList.toggle("hurry", remaining < HURRY_TIME);
}

/** @param {number} seconds */
function formatDuration(seconds) {
  const days = Math.floor(seconds / 86_400);
  if (days > 0) return t("table.days", { n: days });
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const shown = parts[0] > 0 ? parts : parts.slice(1);
  return shown.map((part, index) => (index === 0 ? formatNumber(part) : String(part).padStart(2, "0"))).join(":");
}
