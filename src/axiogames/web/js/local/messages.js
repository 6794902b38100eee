/** Views and steps of a local table, in the form in which the server sends those of its tables. */
import { redactEvent } from "../rules/game.js";
import { offeredMoves, placeOf } from "../rules/offer.js";
import { DRAW, OFFER, OVER } from "../rules/variant.js";
import { boardAt } from "../rules/board.js";

/** @import {LocalTable} from "./table.js" */
/** @import {RecordArray} from "../rules/module.js" */
/** @import {PlacedTile, Step, TableEvent, TableState, View} from "../table/net/protocol.js" */

/**
 * Return everything that a seat may know.
 * @param {LocalTable} table
 * @param {number | null} seat
 * @param {string | null} ack
 * @returns {View}
 */
export function viewMessage(table, seat, ack) {
  const { game, stored } = table;
  const { data } = game.variant;
  const tiles = placedTiles(table, game.events);
  const own = stored.seats.flatMap(({ kind }, index) => (kind === "me" ? [index] : []));
  return {
    type: "view",
    n: table.n,
    ack,
    table: {
      id: stored.id,
      game: stored.game,
      name: table.title,
      options: Object.fromEntries(stored.options.map((option) => [option, true])),
      status: game.over ? "over" : "playing",
      public: false,
      move_time: null,
      commitment: "",
      daily: null,
      next: stored.next,
      host: true,
      invite: null,
      hints: !game.over,
      tracks: data.tracks,
      cap: data.cap,
      colours: data.colours,
    },
    seats: stored.seats.map(({ kind, name, level }) => ({
      name,
      kind: kind === "me" ? "person" : "bot",
      level,
      here: true,
      away: null,
    })),
    you: seat,
    yours: own,
    board: boardOf(table),
    tiles,
    events: visible(table, game.events, seat),
    ...position(table, seat),
  };
}

/**
 * Return the changes by the last entry, as a seat may know them.
 * @param {LocalTable} table
 * @param {number | null} seat
 * @param {string | null} ack
 * @returns {Step}
 */
export function stepMessage(table, seat, ack) {
  const events = table.game.events.slice(table.eventsBefore);
  const tiles = placedTiles(table, events);
  return {
    type: "step",
    n: table.n,
    ack,
    you: seat,
    events: visible(table, events, seat),
    tiles,
    ...position(table, seat),
    ...(tiles.length > 0 && table.game.variant.data.torus && { board: boardOf(table) }),
  };
}

/**
 * Return the replay of a finished game: the view at the start and all later steps, with open hands.
 * @param {LocalTable} table a table in its first position
 * @param {number[]} actions
 * @returns {{view: View, steps: Step[]}}
 */
export function replayMessages(table, actions) {
  const { game } = table;
  const rest = [...actions];
  const draw = () => {
    while (rest.length && game.state.get("phase") >= DRAW) game.apply(/** @type {number} */ (rest.shift()));
  };
  draw();
  const view = viewMessage(table, null, null);
  const steps = [];
  for (let action = rest.shift(); action !== undefined; action = rest.shift()) {
    table.eventsBefore = game.events.length;
    table.n += 1;
    game.apply(action);
    draw();
    steps.push(stepMessage(table, null, null));
  }
  return { view: { ...view, table: { ...view.table, status: "over" } }, steps };
}

/** @param {LocalTable} table @param {TableEvent[]} events @param {number | null} seat */
function visible({ game, openHands }, events, seat) {
  if (game.over || openHands) return events;
  return events.map((event) => redactEvent(event, seat, !game.variant.data.exchange_is_public));
}

/**
 * Return the tiles that events have placed.
 * @param {LocalTable} table
 * @param {TableEvent[]} events
 * @returns {PlacedTile[]}
 */
function placedTiles({ game: { variant } }, events) {
  const placed = events.flatMap((event) => {
    if (event.t === "start") return event.display.map(({ tile, at }) => ({ tile, at: [at] }));
    return event.t === "place" ? [{ tile: event.tile, at: event.at }] : [];
  });
  return placed.map(({ tile, at }) => {
    const [shape, x, y] = placeOf(variant, at);
    return { tile, at, shape, x, y };
  });
}

/** @param {LocalTable} table */
const boardOf = ({ game }) => boardAt(game.variant, game.state);

/** @param {LocalTable} table @param {number | null} seat */
function position(table, seat) {
  const { game, stored } = table;
  const { variant } = game;
  // A finished game has no secrets.
  const view = game.over || table.openHands ? game.state : game.view(seat);
  const mayMove = seat !== null && seat === table.turn && stored.held === null && stored.seats[seat].kind === "me";
  const offer = mayMove ? offeredMoves(variant, view) : null;
  if (offer && seat !== null) table.offer = { n: table.n, seat, actions: offer.actions };
  return { now: state(table, view, seat), moves: offer?.moves ?? null };
}

/**
 * @param {LocalTable} table
 * @param {RecordArray} view
 * @param {number | null} seat
 * @returns {TableState}
 */
function state(table, view, seat) {
  const { game, stored } = table;
  const { variant } = game;
  const { data } = variant;
  const seats = stored.seats.map((_, index) => index);
  const scores = seats.map((index) => variant.scores(view, index));
  const standing = variant.ranks(view);
  const phase = view.get("phase");
  const lastPlaced = game.events.findLast((event) => event.t === "place");
  const named = (/** @type {number[]} */ points) =>
    Object.fromEntries(data.tracks.map((track, index) => [track, points[index]]));
  return {
    turn: table.turn,
    phase: phase === OVER ? "over" : phase >= DRAW ? "draw" : phase === OFFER ? "offer" : "place",
    scores,
    hands: seats.map((index) => variant.hand(view, index)),
    in_bag: view.get("in_bag"),
    standing,
    extra: view.has("extra") ? view.get("extra") : view.has("again") ? view.get("again") : 0,
    pyramids: variant.pyramidCells(view),
    spent: variant.spentCells(view),
    last: lastPlaced?.at ?? [],
    lowest: scores.map((points) => lowestTracks(data.tracks, points)),
    back: table.canTakeBack(seat),
    held: stored.held !== null && stored.held === seat,
    deadline: null,
    result: game.over
      ? { scores: scores.map(named), place: standing, winners: seats.filter((index) => standing[index] === 1) }
      : null,
  };
}

/** Return the tracks with the fewest points, none for games with a single track. @param {string[]} tracks @param {number[]} points */
function lowestTracks(tracks, points) {
  const least = Math.min(...points);
  return tracks.length > 1 ? tracks.filter((_, index) => points[index] === least) : [];
}
