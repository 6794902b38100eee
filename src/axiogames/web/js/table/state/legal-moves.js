/**
 * The moves on offer, in the way a hand asks for them: a tile, how it is turned, where it goes.
 *
 * Turns are ordered by where the tile's first letter comes to lie, so that turning goes round.
 */

/** @import {Aim, Options, Point, Target, Turn} from "./model.js" */
/** @import {Board, Moves, OtherMove, Shape} from "../net/protocol.js" */

/** @param {Moves} moves @param {string[]} hand @param {Board} board @returns {Options} */
export function arrange(moves, hand, board) {
  /** @type {Map<string, Turn>[]} */
  const turns = hand.map(() => new Map());
  /** @type {Map<string, Target>} */
  const targets = new Map();
  moves.tile.forEach((tile, pick) => {
    const look = moves.look[pick];
    const place = moves.place[pick];
    const [shape, x, y, name] = moves.places[place];
    const letters = moves.looks[look];
    const turn = sought(turns[tile], `${shape} ${look}`, () => ({ shape, letters, first: 0, targets: [] }));
    const target = sought(targets, `${tile} ${shape} ${look} ${place}`, () => {
      const made = { place, x, y, name, picks: [] };
      turn.targets.push(made);
      return made;
    });
    target.picks.push(pick);
  });
  for (const { picks } of targets.values()) picks.sort((a, b) => total(moves, b) - total(moves, a));
  // Of equal tiles the server lists the moves of the first.
  return { moves, tiles: hand.map((letters) => inOrder([...turns[hand.indexOf(letters)].values()], letters, board)) };
}

/**
 * What a map has under a key, made if it is not there.
 * @template Value
 * @param {Map<string, Value>} map
 * @param {string} key
 * @param {() => Value} make
 */
function sought(map, key, make) {
  const found = map.get(key) ?? make();
  map.set(key, found);
  return found;
}

/** @param {Turn[]} turns @param {string} letters @param {Board} board */
function inOrder(turns, letters, board) {
  const angle = (/** @type {number} */ shape, /** @type {number} */ spot) => {
    const [x, y] = board.shapes[shape].spots[spot];
    return Math.atan2(y, x);
  };
  const start = angle(board.hand, 0);
  const full = 2 * Math.PI;
  const round = (/** @type {Turn} */ { shape, first }) => (angle(shape, first) - start + 1.001 * full) % full;
  for (const turn of turns) turn.first = firstLetter(letters, turn.letters);
  return turns.sort((a, b) => round(a) - round(b));
}

/**
 * Where a tile's first letter is after it was turned: the letters have gone round, or read backwards.
 * @param {string} letters
 * @param {string} look
 */
function firstLetter(letters, look) {
  if (look === [...letters].reverse().join("") && look !== letters) return letters.length - 1;
  return Math.max(0, [...letters].findIndex((_, by) => look.slice(by) + look.slice(0, by) === letters));
}

/** @param {Moves} moves @param {number} pick */
export const total = (moves, pick) => moves.gain[pick].reduce((sum, points) => sum + points, 0);

/** @param {Point} a @param {Point} b */
export const distance = (a, b) => Math.hypot(a.x - b.x, a.y - b.y);

/** How far from the middle of a tile it still answers. @param {Shape} shape */
export const reach = (shape) => 0.75 * Math.min(shape.box[2], shape.box[3]);

/** @param {Target[]} targets @param {Point} point @param {number} within @returns {Target | null} */
export function nearest(targets, point, within) {
  return least(targets, (target) => {
    const away = distance(target, point);
    return away <= within ? away : Infinity;
  });
}

/** @param {Target[]} targets @param {(target: Target) => number} cost infinite for what does not count */
function least(targets, cost) {
  let best = null;
  let lowest = Infinity;
  for (const target of targets) {
    const now = cost(target);
    if (now < lowest) [best, lowest] = [target, now];
  }
  return best;
}

/**
 * The place a pointer means: in the turn the tile has, or else in the best turn that fits there.
 * @param {Options} options
 * @param {Board} board
 * @param {{tile: number, turn: number, point: Point, coarse: boolean}} how a finger is coarse: it may be farther off
 * @returns {Aim | null}
 */
export function meant({ tiles, moves }, board, { tile, turn, point, coarse }) {
  const turns = tiles[tile];
  const near = reach(board.shapes[turns[turn].shape]);
  const here = nearest(turns[turn].targets, point, near);
  if (here) return { turn, target: here };
  const others = turns.flatMap((other, index) => {
    const target = nearest(other.targets, point, reach(board.shapes[other.shape]));
    return target ? [{ turn: index, target, gain: total(moves, target.picks[0]) }] : [];
  });
  const [best] = others.sort((a, b) => b.gain - a.gain);
  const far = best || !coarse ? null : nearest(turns[turn].targets, point, 2.5 * near);
  return best ?? (far && { turn, target: far });
}

/**
 * The next place in a direction: not too far to the side, and rather near.
 * @param {Target[]} targets
 * @param {Point} from
 * @param {Point} way of length one
 */
export const beside = (targets, from, way) =>
  least(targets, ({ x, y }) => {
    const ahead = (x - from.x) * way.x + (y - from.y) * way.y;
    const aside = Math.abs((x - from.x) * way.y - (y - from.y) * way.x);
    return ahead < 5 ? Infinity : ahead + 2.2 * aside;
  });

/**
 * The number of a move that is no placement, of these tiles in any order.
 * @param {Moves} moves
 * @param {OtherMove} kind
 * @param {string[]} [tiles]
 */
export function otherPick(moves, kind, tiles) {
  const sorted = (/** @type {string[]} */ letters) => [...letters].sort().join(" ");
  const index = moves.others.findIndex(
    (other) => other.move === kind && (!tiles || sorted(other.tiles ?? []) === sorted(tiles)),
  );
  return index < 0 ? null : moves.tile.length + index;
}
