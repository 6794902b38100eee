/** The own score: a track for each colour, with the points that the preview would add. */
import { byId, h } from "../../shared/dom.js";
import { t } from "../../shared/i18n.js";
import { symbolIcon, trackColours } from "../board/shapes.js";
import { shownPick } from "../input/selection.js";
import { ownSeat } from "../state/view.js";
import { onSelectionChange, state } from "../state/store.js";
import { isColour, seatName, trackName } from "../text.js";

/**
 * @typedef {{row: HTMLElement, spoken: HTMLElement, now: HTMLElement, then: HTMLElement}} Track
 * @type {Map<string, Track>}
 */
const rows = new Map();

export function startScoreTracks() {
  onSelectionChange(render);
}

/** The element to which points fly. @param {string} track */
export const ownTrack = (track) => rows.get(track)?.row ?? null;

function render() {
  const { view } = state;
  const seat = ownSeat(view);
  const own = byId("own");
  own.hidden = seat === null;
  if (seat === null) return;
  const { tracks } = view.table;
  if (rows.size !== tracks.length) buildTracks(tracks);
  byId("own-name").textContent = view.yours.length === 1 ? t("table.your_points") : seatName(view, seat);
  const pick = shownPick();
  const gain = pick === null || state.sending ? [] : (state.legal?.moves.gain[pick] ?? []);
  tracks.forEach((track, index) => updateTrack(track, view.now.scores[seat]?.[index] ?? 0, gain[index] ?? 0, seat));
}

/** @param {string[]} tracks */
function buildTracks(tracks) {
  rows.clear();
  for (const track of tracks) {
    const spoken = h("span", { class: "visually-hidden" });
    const now = h("b");
    const then = h("span", { class: "then" });
    const rail = h(
      "span",
      { class: "rail" },
      h("i", { class: "rail-then" }),
      h("i", { class: "rail-now" }),
      h("i", { class: "marker" }, isColour(track) && symbolIcon(track)),
    );
    const score = h("span", { class: "score" }, now, then);
    const row = h(
      "li",
      { class: "track", "data-track": track, style: trackColours(track) },
      spoken,
      h("span", { class: "track-parts", "aria-hidden": "true" }, rail, score),
    );
    rows.set(track, { row, spoken, now, then });
  }
  byId("tracks").replaceChildren(...[...rows.values()].map(({ row }) => row));
  byId("tracks").classList.toggle("single", tracks.length === 1);
}

/** @param {string} track @param {number} points @param {number} gain @param {number} seat */
function updateTrack(track, points, gain, seat) {
  const found = rows.get(track);
  if (!found) return;
  const { row, spoken, now, then } = found;
  const { cap, tracks } = state.view.table;
  // Without a cap, tracks are as long as the highest score.
  const end = cap ?? Math.max(10, ...state.view.now.scores.flat(), points + gain);
  const reached = cap === null ? points + gain : Math.min(cap, points + gain);
  const low = tracks.length > 1 && (state.view.now.lowest[seat] ?? []).includes(track);
  const { style, classList } = row;
  style.setProperty("--at", String(points / end));
  style.setProperty("--then", String(reached / end));
  style.setProperty("--steps", String(cap ?? 0));
  classList.toggle("low", low && state.view.now.lowest[seat].length < tracks.length);
  classList.toggle("full", points === cap);
  classList.toggle("gains", gain > 0);
  now.textContent = String(points);
  then.textContent = gain > 0 ? `→${reached}` : "";
  const key = cap === null ? "table.track_points" : low ? "table.track_low" : "table.track";
  spoken.textContent = t(key, { track: trackName(track), points, cap: cap ?? 0 });
}
