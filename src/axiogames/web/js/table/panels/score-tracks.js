/** The own score: a track for each colour, with the points that the shown placement would add. */
import { byId, h } from "../../shared/dom.js";
import { t } from "../../shared/i18n.js";
import { symbolIcon, trackColours } from "../board/shapes.js";
import { shownPick } from "../input/selection.js";
import { onSelectionChange, state } from "../state/store.js";
import { ownSeat } from "../state/view.js";
import { isColour, seatName, trackName } from "../text.js";

/**
 * `label` is read by screen readers, `preview` shows the points after the shown placement.
 * @typedef {{row: HTMLElement, label: HTMLElement, score: HTMLElement, preview: HTMLElement}} Track
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
    const label = h("span", { class: "visually-hidden" });
    const score = h("b");
    const preview = h("span", { class: "score-preview" });
    const rail = h(
      "span",
      { class: "rail" },
      h("i", { class: "rail-preview" }),
      h("i", { class: "rail-score" }),
      h("i", { class: "marker" }, isColour(track) && symbolIcon(track)),
    );
    const row = h(
      "li",
      { class: "track", "data-track": track, style: trackColours(track) },
      label,
      h(
        "span",
        { class: "track-parts", "aria-hidden": "true" },
        rail,
        h("span", { class: "score" }, score, preview),
      ),
    );
    rows.set(track, { row, label, score, preview });
  }
  byId("tracks").replaceChildren(...[...rows.values()].map(({ row }) => row));
  byId("tracks").classList.toggle("single", tracks.length === 1);
}

/** @param {string} track @param {number} points @param {number} gain @param {number} seat */
function updateTrack(track, points, gain, seat) {
  const elements = rows.get(track);
  if (!elements) return;
  const { row, label, score, preview } = elements;
  const { cap, tracks } = state.view.table;
  // Without a cap, tracks are as long as the highest score.
  const length = cap ?? Math.max(10, ...state.view.now.scores.flat(), points + gain);
  const total = cap === null ? points + gain : Math.min(cap, points + gain);
  const lowest = state.view.now.lowest[seat] ?? [];
  const isLowest = tracks.length > 1 && lowest.includes(track);
  const { style, classList } = row;
  style.setProperty("--score", String(points / length));
  style.setProperty("--preview", String(total / length));
  style.setProperty("--steps", String(cap ?? 0));
  classList.toggle("low", isLowest && lowest.length < tracks.length);
  classList.toggle("full", points === cap);
  classList.toggle("gains", gain > 0);
  score.textContent = String(points);
  preview.textContent = gain > 0 ? `→${total}` : "";
  const key = cap === null ? "table.track_points" : isLowest ? "table.track_low" : "table.track";
  label.textContent = t(key, { track: trackName(track), points, cap: cap ?? 0 });
}
