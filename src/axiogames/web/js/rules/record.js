/** Records of games in the format `axio-record/1` (docs/reference/record_format.md). */

/** @import {Game} from "./game.js" */

/**
 * Return the record of a game.
 * @param {Game} game
 * @param {string[]} names a name for each seat
 */
export function recordOf({ variant, state, events, over }, names) {
  const { data } = variant;
  const seats = Array.from({ length: data.players }, (_, seat) => seat);
  const named = (/** @type {number[]} */ points) =>
    Object.fromEntries(data.tracks.map((track, index) => [track, points[index]]));
  const place = over ? variant.ranks(state) : [];
  const result = {
    scores: seats.map((seat) => named(variant.scores(state, seat))),
    place,
    winners: seats.filter((seat) => place[seat] === 1),
  };
  return {
    format: "axio-record/1",
    game: data.game,
    players: names,
    options: Object.fromEntries(data.options.map((option) => [option, true])),
    setup: data.setup,
    events,
    ...(over && { result }),
  };
}
