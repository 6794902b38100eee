/** The other players: name, presence, points and hand size. */
import { byId, h } from "../../shared/dom.js";
import { botName, t } from "../../shared/i18n.js";
import { symbolIcon, tileImage, trackColours } from "../board/shapes.js";
import { onViewChange, state } from "../state/store.js";
import { ownSeat } from "../state/view.js";
import { fullName, isColour, scoreText } from "../text.js";

/** @type {Map<number, HTMLElement>} */
const panels = new Map();

export function startOpponents() {
  onViewChange(render);
}

/** The element from which a seat's tiles and to which its points fly. @param {number} seat @param {string} [track] */
export function seatPanel(seat, track) {
  const panel = panels.get(seat) ?? null;
  return (track && /** @type {HTMLElement | null} */ (panel?.querySelector(`[data-track="${track}"]`))) || panel;
}

function render() {
  const { view } = state;
  const own = ownSeat(view);
  panels.clear();
  view.seats.forEach((_, seat) => seat !== own && panels.set(seat, opponentPanel(seat)));
  byId("opponents").replaceChildren(...panels.values());
  byId("opponents").hidden = panels.size === 0;
}

/** @param {number} seat */
function opponentPanel(seat) {
  const { view } = state;
  const { now, table, seats } = view;
  const player = seats[seat];
  const turn = now.turn === seat && table.status === "playing";
  const place = now.result?.place[seat];
  const points = table.tracks.map((track, index) => trackChip(track, now.scores[seat]?.[index] ?? 0, seat));
  return h(
    "article",
    { class: turn ? "card seat turn" : "card seat", "data-seat": seat },
    h(
      "p",
      { class: "seat-name" },
      h("span", { class: player.here || player.kind === "bot" ? "presence here" : "presence" }),
      h("b", null, fullName(view, seat)),
      presenceNote(seat) && h("small", null, presenceNote(seat)),
      place && h("span", { class: place === 1 ? "medal first" : "medal" }, String(place)),
    ),
    h("p", { class: "visually-hidden" }, scoreText(view, seat)),
    h("div", { class: "seat-points", "aria-hidden": "true" }, points),
    opponentHand(seat),
  );
}

/** @param {number} seat */
function presenceNote(seat) {
  const { kind, level, away, here } = state.view.seats[seat];
  if (away) return t("table.bot_plays", { bot: botName(level ?? "") });
  return kind === "person" && !here && state.view.table.status === "playing" ? t("table.away") : "";
}

/** @param {string} track @param {number} points @param {number} seat */
function trackChip(track, points, seat) {
  const { tracks } = state.view.table;
  const lowest = state.view.now.lowest[seat] ?? [];
  const low = lowest.includes(track) && lowest.length < tracks.length;
  return h(
    "span",
    { class: low ? "seat-track low" : "seat-track", "data-track": track, style: trackColours(track) },
    isColour(track) && symbolIcon(track),
    h("b", null, points),
  );
}

/** @param {number} seat */
function opponentHand(seat) {
  const tiles = state.view.now.hands[seat] ?? [];
  if (!tiles.length) return null;
  const { board } = state.view;
  if (tiles.some((tile) => tile !== "?")) {
    return h("div", { class: "seat-hand" }, tiles.map((tile) => tileImage(board, board.hand, tile)));
  }
  const n = tiles.length;
  return h("p", { class: "seat-held", title: t("table.holds", { n }) }, tileImage(board, board.hand, "?"), `×${n}`);
}
