/**
 * The moves on offer, in the way a hand asks for them: a tile, how it is turned, where it goes.
 *
 * A tile lies in a turn: a shape and the letters as they read there. Turns are ordered by where the tile's
 * first letter comes to lie, so that turning goes round.
 */

/** @import {Board, Moves, Shape} from "./protocol.js" */

/**
 * @typedef {{place: number, x: number, y: number, name: string, picks: number[]}} Target
 * @typedef {{shape: number, letters: string, first: number, targets: Target[]}} Turn `first`: where the first letter lies
 * @typedef {{tiles: Turn[][], moves: Moves}} Options
 */

/**
 * @param {Moves} moves
 * @param {string[]} hand
 * @param {Board} board
 * @returns {Options}
 */
export function arrange(moves, hand, board) {
  /** @type {Map<string, Turn>[]} */
  const found = hand.map(() => new Map());
  /** @type {Map<string, Target>} */
  const targets = new Map();
  moves.tile.forEach((tile, pick) => {
    const [shape, x, y, name] = moves.places[moves.place[pick]];
    const key = `${shape} ${moves.look[pick]}`;
    let turn = found[tile].get(key);
    if (!turn) found[tile].set(key, (turn = { shape, letters: moves.looks[moves.look[pick]], first: 0, targets: [] }));
    const spot = `${tile} ${key} ${moves.place[pick]}`;
    let target = targets.get(spot);
    if (!target) {
      target = { place: moves.place[pick], x, y, name, picks: [] };
      targets.set(spot, target);
      turn.targets.push(target);
    }
    target.picks.push(pick);
  });
  // Of equal tiles the server lists the moves of one.
  const tiles = hand.map((letters) => ordered([...(found[hand.indexOf(letters)]?.values() ?? [])], letters, board));
  for (const target of targets.values()) target.picks.sort((a, b) => total(moves, b) - total(moves, a));
  return { tiles, moves };
}

/**
 * @param {Turn[]} turns
 * @param {string} letters
 * @param {Board} board
 */
function ordered(turns, letters, board) {
  const start = angle(board.shapes[board.hand], 0);
  const round = (/** @type {Turn} */ turn) =>
    (angle(board.shapes[turn.shape], turn.first) - start + 2.001 * Math.PI) % (2 * Math.PI);
  for (const turn of turns) turn.first = firstLetter(letters, turn.letters);
  return turns.sort((a, b) => round(a) - round(b));
}

/**
 * Where the first letter of a tile is after it was turned: the letters have gone round or read backwards.
 * @param {string} letters
 * @param {string} look
 */
function firstLetter(letters, look) {
  const size = letters.length;
  if (look === letters) return 0;
  if (look === [...letters].reverse().join("")) return size - 1;
  const round = [...letters].findIndex((_, by) => letters.slice(size - by) + letters.slice(0, size - by) === look);
  return Math.max(0, round);
}

/**
 * @param {Shape} shape
 * @param {number} spot
 */
const angle = ({ spots }, spot) => Math.atan2(spots[spot][1], spots[spot][0]);

/**
 * @param {Moves} moves
 * @param {number} pick
 */
export const total = (moves, pick) => moves.gain[pick].reduce((sum, points) => sum + points, 0);

/**
 * @typedef {{x: number, y: number}} Point
 * @param {Point} a
 * @param {Point} b
 */
export const distance = (a, b) => Math.hypot(a.x - b.x, a.y - b.y);

/**
 * How far from the middle of a tile it still answers.
 * @param {Shape} shape
 */
export const reach = (shape) => 0.75 * Math.min(shape.box[2], shape.box[3]);

/**
 * @param {Target[]} targets
 * @param {Point} point
 * @param {number} within
 * @returns {Target | null}
 */
export function nearest(targets, point, within) {
  let best = null;
  let least = within;
  for (const target of targets) {
    const away = distance(target, point);
    if (away <= least) [best, least] = [target, away];
  }
  return best;
}

/**
 * The place a pointer means: in the turn the tile has, or else in the best turn that fits there.
 * @param {Options} options
 * @param {Board} board
 * @param {number} tile
 * @param {number} turn
 * @param {Point} point
 * @param {boolean} coarse a finger may be farther off than a mouse
 * @returns {{turn: number, target: Target} | null}
 */
export function meant(options, board, tile, turn, point, coarse) {
  const turns = options.tiles[tile];
  const near = reach(board.shapes[turns[turn].shape]);
  const here = nearest(turns[turn].targets, point, near);
  if (here) return { turn, target: here };
  /** @type {{turn: number, target: Target} | null} */
  let best = null;
  turns.forEach((other, index) => {
    const target = nearest(other.targets, point, reach(board.shapes[other.shape]));
    if (!target) return;
    const better = !best || total(options.moves, target.picks[0]) > total(options.moves, best.target.picks[0]);
    if (better) best = { turn: index, target };
  });
  if (best || !coarse) return best;
  const far = nearest(turns[turn].targets, point, 2.5 * near);
  return far && { turn, target: far };
}

/**
 * The next place in a direction: not too far to the side, and rather near.
 * @param {Target[]} targets
 * @param {Point} from
 * @param {Point} way a step of length one
 * @returns {Target | null}
 */
export function beside(targets, from, way) {
  let best = null;
  let least = Infinity;
  for (const target of targets) {
    const ahead = (target.x - from.x) * way.x + (target.y - from.y) * way.y;
    const aside = Math.abs((target.x - from.x) * way.y - (target.y - from.y) * way.x);
    if (ahead < 5) continue;
    const cost = ahead + 2.2 * aside;
    if (cost < least) [best, least] = [target, cost];
  }
  return best;
}

/**
 * The number of another move: a whole one, or one of several tiles in any order.
 * @param {Moves} moves
 * @param {"exchange" | "keep" | "pass"} kind
 * @param {string[]} [tiles]
 * @returns {number | null}
 */
export function otherPick(moves, kind, tiles) {
  const wanted = tiles && [...tiles].sort().join(" ");
  const index = moves.others.findIndex(
    (other) => other.move === kind && (!wanted || [...(other.tiles ?? [])].sort().join(" ") === wanted),
  );
  return index < 0 ? null : moves.tile.length + index;
}
