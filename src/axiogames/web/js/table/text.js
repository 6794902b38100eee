/** Tiles, points, moves and boards as text, for the history, labels and screen readers. */
import { botName, colourName, formatList, t } from "../shared/i18n.js";

/** @import {Seat, TableEvent, View} from "./net/protocol.js" */

/** @param {string} letter */
const symbolName = (letter) => (letter === "_" ? t("table.empty_corner") : colourName(letter));

/** @param {string} letters */
export const tileName = (letters) =>
  letters === "?" ? t("table.hidden_tile") : [...letters].map(symbolName).join(", ");

/** @param {string[]} tiles */
export const tileNames = (tiles) => tiles.map((tile) => `${tileName(tile)}`).join("; ");

/** Return whether a track counts one colour rather than all points. @param {string} track */
export const isColour = (track) => track.length === 1;

/** @param {string} track */
export const trackName = (track) => (isColour(track) ? colourName(track) : t("table.points"));

/** @param {Record<string, number>} gain by track @returns {string} */
export function gainText(gain) {
  const scored = Object.entries(gain).filter(([, points]) => points > 0);
  if (!scored.length) return t("table.no_points");
  const words = scored.map(([track, n]) =>
    isColour(track) ? t("table.gain_colour", { count: n, colour: colourName(track) }) : t("table.gain_points", { n }),
  );
  return words.join(", ");
}

/** @param {View} view @param {number[]} gain in the order of the tracks */
export function gainListText({ table }, gain) {
  return gainText(Object.fromEntries(table.tracks.map((track, index) => [track, gain[index]])));
}

/** @param {string[]} cells */
export const cellsName = (cells) => cells.join("–");

/**
 * The name of a seat. Bots are named by level, equal names are numbered.
 * @param {View} view
 * @param {number} seat
 */
export function fullName({ seats }, seat) {
  const name = (/** @type {Seat} */ { away, level, name }) => away ?? (level && name === level ? botName(level) : name);
  const own = name(seats[seat]) || t("table.free_seat");
  const alike = seats.flatMap((other, index) => (name(other) === own ? [index] : []));
  return alike.length > 1 ? t("table.name_number", { name: own, number: alike.indexOf(seat) + 1 }) : own;
}

/** @param {View} view @param {number} seat */
export const seatName = (view, seat) =>
  view.yours.length === 1 && view.yours[0] === seat ? t("table.you") : fullName(view, seat);

/**
 * An event as a sentence; "" for events that are not shown.
 * @param {View} view
 * @param {TableEvent} event
 * @returns {string}
 */
export function eventText(view, event) {
  if (event.t === "start") return t("table.log_start", { n: event.display.length });
  if (event.t === "removed") return t("table.log_removed", { n: event.tiles.length });
  const mine = view.yours.length === 1 && view.yours[0] === event.p;
  const who = { name: seatName(view, event.p) };
  const key = (/** @type {string} */ word) => `table.log_${word}${mine ? "_you" : ""}`;
  switch (event.t) {
    case "place": {
      const { named, pyramids = [] } = event;
      const what = { tile: tileName(event.tile), place: cellsName(event.at), points: gainText(event.gain) };
      const words = [t(key("place"), { ...who, ...what })];
      if (named) words.push(t("table.log_named", { colour: colourName(named) }));
      if (pyramids.length) words.push(t("table.log_pyramids", { n: pyramids.length, cells: formatList(pyramids) }));
      return words.join(" ");
    }
    case "exchange":
      return event.shown.some((tile) => tile !== "?")
        ? t(key("exchange_shown"), { ...who, n: event.shown.length, tiles: tileNames(event.shown) })
        : t(key("exchange"), { ...who, n: event.shown.length });
    case "pass":
      return t(key("pass"), who);
    case "draw":
      return mine && !event.tiles.includes("?") ? t("table.log_draw_you", { tiles: tileNames(event.tiles) }) : "";
  }
}

/** The points of a seat as a sentence. @param {View} view @param {number} seat */
export function scoreText(view, seat) {
  const { tracks } = view.table;
  const points = view.now.scores[seat] ?? [];
  const name = seatName(view, seat);
  if (tracks.length === 1) return t("table.score_points", { name, n: points[0] ?? 0 });
  const parts = tracks.map((track, index) => `${trackName(track)} ${points[index] ?? 0}`);
  const low = view.now.lowest[seat] ?? [];
  const words = t("table.score_colours", { name, parts: parts.join(", ") });
  if (low.length === 0 || low.length === tracks.length) return words;
  return `${words} ${t("table.score_lowest", { colours: formatList(low.map(trackName)) })}`;
}

/** The contents of the board as lines. @param {View} view @returns {string[]} */
export function boardLines({ board, tiles, now: { pyramids } }) {
  const printed = board.printed.map(([letter, , , , cell]) => `${cell}: ${symbolName(letter)}`);
  const lying = [...tiles]
    .sort((a, b) => a.y - b.y || a.x - b.x)
    .map(({ tile, at }) => `${cellsName(at)}: ${tileName(tile)}`);
  return [
    ...(printed.length ? [t("table.board_printed", { list: printed.join("; ") })] : []),
    lying.length ? t("table.board_tiles", { n: lying.length, list: lying.join("; ") }) : t("table.board_empty"),
    ...(pyramids.length ? [t("table.board_pyramids", { n: pyramids.length, list: pyramids.join(", ") })] : []),
  ];
}
