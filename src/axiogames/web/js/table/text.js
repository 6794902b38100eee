/** Tiles, points and moves as text, for the history, labels and screen readers. */
import { botName, colourName, formatList, t } from "../shared/i18n.js";

/** @import {Seat, TableEvent, View} from "./net/protocol.js" */

/** @param {string} letter */
export const symbolName = (letter) => (letter === "_" ? t("table.empty_corner") : colourName(letter));

/** @param {string} letters */
export const tileName = (letters) =>
  letters === "?" ? t("table.hidden_tile") : [...letters].map(symbolName).join(", ");

/** @param {string[]} tiles */
export const tileNames = (tiles) => tiles.map(tileName).join("; ");

/** Return whether a track counts the points of one colour, not all points. @param {string} track */
export const isColour = (track) => track.length === 1;

/** @param {string} track */
export const trackName = (track) => (isColour(track) ? colourName(track) : t("table.points"));

/** Return the points of a move as text. @param {Record<string, number>} gain by track @returns {string} */
export function gainText(gain) {
  const scored = Object.entries(gain).filter(([, points]) => points > 0);
  if (!scored.length) return t("table.no_points");
  const parts = scored.map(([track, n]) =>
    isColour(track) ? t("table.gain_colour", { count: n, colour: colourName(track) }) : t("table.gain_points", { n }),
  );
  return parts.join(", ");
}

/** @param {View} view @param {number[]} gain in the order of the tracks */
export function gainListText({ table }, gain) {
  return gainText(Object.fromEntries(table.tracks.map((track, index) => [track, gain[index]])));
}

/** Return the name of a slot, such as "k8–j8". @param {string[]} cells */
export const cellsName = (cells) => cells.join("–");

/**
 * The name of a seat. Bots are named by level. Equal names are numbered.
 * @param {View} view
 * @param {number} seat
 */
export function fullName({ seats }, seat) {
  const name = (/** @type {Seat} */ { away, level, name }) => away ?? (level && name === level ? botName(level) : name);
  const base = name(seats[seat]) || t("table.free_seat");
  const namesakes = seats.flatMap((other, index) => (name(other) === base ? [index] : []));
  return namesakes.length > 1 ? t("table.name_number", { name: base, number: namesakes.indexOf(seat) + 1 }) : base;
}

/** The name of a seat, or "You". @param {View} view @param {number} seat */
export const seatName = (view, seat) =>
  view.yours.length === 1 && view.yours[0] === seat ? t("table.you") : fullName(view, seat);

/**
 * An event as a sentence, or "" if it is not shown.
 * @param {View} view
 * @param {TableEvent} event
 * @returns {string}
 */
export function eventText(view, event) {
  if (event.t === "start") return t("table.log_start", { n: event.display.length });
  if (event.t === "removed") return t("table.log_removed", { n: event.tiles.length });
  const own = view.yours.length === 1 && view.yours[0] === event.p;
  const player = { name: seatName(view, event.p) };
  const key = (/** @type {string} */ kind) => `table.log_${kind}${own ? "_you" : ""}`;
  switch (event.t) {
    case "place": {
      const { named, pyramids = [] } = event;
      const placement = { tile: tileName(event.tile), place: cellsName(event.at), points: gainText(event.gain) };
      const sentences = [t(key("place"), { ...player, ...placement })];
      if (named) sentences.push(t("table.log_named", { colour: colourName(named) }));
      if (pyramids.length) sentences.push(t("table.log_pyramids", { n: pyramids.length, cells: formatList(pyramids) }));
      return sentences.join(" ");
    }
    case "exchange":
      return event.shown.some((tile) => tile !== "?")
        ? t(key("exchange_shown"), { ...player, n: event.shown.length, tiles: tileNames(event.shown) })
        : t(key("exchange"), { ...player, n: event.shown.length });
    case "pass":
      return t(key("pass"), player);
    case "draw":
      return own && !event.tiles.includes("?") ? t("table.log_draw_you", { tiles: tileNames(event.tiles) }) : "";
  }
}

/** The points of a seat as a sentence. @param {View} view @param {number} seat */
export function scoreText(view, seat) {
  const { tracks } = view.table;
  const points = view.now.scores[seat] ?? [];
  const name = seatName(view, seat);
  if (tracks.length === 1) return t("table.score_points", { name, n: points[0] ?? 0 });
  const parts = tracks.map((track, index) => `${trackName(track)} ${points[index] ?? 0}`);
  const lowest = view.now.lowest[seat] ?? [];
  const text = t("table.score_colours", { name, parts: parts.join(", ") });
  if (lowest.length === 0 || lowest.length === tracks.length) return text;
  return `${text} ${t("table.score_lowest", { colours: formatList(lowest.map(trackName)) })}`;
}
