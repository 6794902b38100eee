/**
 * The legal moves, indexed by tile, rotation and target.
 *
 * Rotations are sorted by the angle of the tile's first letter, so that rotating goes round.
 */

/** @import {Placement, LegalMoves, Point, Target, Rotation} from "./model.js" */
/** @import {Board, Moves, OtherMove, Shape} from "../net/protocol.js" */

/** @param {Moves} moves @param {string[]} hand @param {Board} board @returns {LegalMoves} */
export function indexMoves(moves, hand, board) {
  /** @type {Map<string, Rotation>[]} */
  const rotations = hand.map(() => new Map());
  /** @type {Map<string, Target>} */
  const targets = new Map();
  moves.tile.forEach((tile, pick) => {
    const look = moves.look[pick];
    const place = moves.place[pick];
    const [shape, x, y, name] = moves.places[place];
    const letters = moves.looks[look];
    const rotation = getOrCreate(rotations[tile], `${shape} ${look}`, () => ({
      shape,
      letters,
      first: 0,
      targets: [],
    }));
    const target = getOrCreate(targets, `${tile} ${shape} ${look} ${place}`, () => {
      const created = { place, x, y, name, picks: [] };
      rotation.targets.push(created);
      return created;
    });
    target.picks.push(pick);
  });
  for (const { picks } of targets.values()) picks.sort((a, b) => totalGain(moves, b) - totalGain(moves, a));
  // The server lists the moves of equal tiles only once, for the first of them.
  return {
    moves,
    tiles: hand.map((letters) => sortRotations([...rotations[hand.indexOf(letters)].values()], letters, board)),
  };
}

/**
 * Return the value of a key, created if it is missing.
 * @template Value
 * @param {Map<string, Value>} map
 * @param {string} key
 * @param {() => Value} create
 */
function getOrCreate(map, key, create) {
  const value = map.get(key) ?? create();
  map.set(key, value);
  return value;
}

/** @param {Rotation[]} turns @param {string} letters @param {Board} board */
function sortRotations(turns, letters, board) {
  const angle = (/** @type {number} */ shape, /** @type {number} */ spot) => {
    const [x, y] = board.shapes[shape].spots[spot];
    return Math.atan2(y, x);
  };
  const start = angle(board.hand, 0);
  const full = 2 * Math.PI;
  const round = (/** @type {Rotation} */ { shape, first }) => (angle(shape, first) - start + 1.001 * full) % full;
  for (const turn of turns) turn.first = firstLetterIndex(letters, turn.letters);
  return turns.sort((a, b) => round(a) - round(b));
}

/**
 * The index of a tile's first letter after rotation: the letters are rotated or reversed.
 * @param {string} letters
 * @param {string} look
 */
function firstLetterIndex(letters, look) {
  if (look === [...letters].reverse().join("") && look !== letters) return letters.length - 1;
  return Math.max(
    0,
    [...letters].findIndex((_, by) => look.slice(by) + look.slice(0, by) === letters),
  );
}

/** @param {Moves} moves @param {number} pick */
export const totalGain = (moves, pick) => moves.gain[pick].reduce((sum, points) => sum + points, 0);

/** @param {Point} a @param {Point} b */
export const distance = (a, b) => Math.hypot(a.x - b.x, a.y - b.y);

/** The distance from the centre of a tile within which a pointer hits it. @param {Shape} shape */
export const hitRadius = (shape) => 0.75 * Math.min(shape.box[2], shape.box[3]);

/** @param {Target[]} targets @param {Point} point @param {number} within @returns {Target | null} */
export function nearestTarget(targets, point, within) {
  return minBy(targets, (target) => {
    const away = distance(target, point);
    return away <= within ? away : Infinity;
  });
}

/** @param {Target[]} targets @param {(target: Target) => number} cost infinite to exclude a target */
function minBy(targets, cost) {
  let best = null;
  let lowest = Infinity;
  for (const target of targets) {
    const now = cost(target);
    if (now < lowest) [best, lowest] = [target, now];
  }
  return best;
}

/**
 * The placement under a pointer: in the current rotation, or else in the best rotation that fits there.
 * @param {LegalMoves} options
 * @param {Board} board
 * @param {{tile: number, rotation: number, point: Point, coarse: boolean}} how `coarse` for a finger, which may be farther off
 * @returns {Placement | null}
 */
export function placementAt({ tiles, moves }, board, { tile, rotation, point, coarse }) {
  const rotations = tiles[tile];
  const near = hitRadius(board.shapes[rotations[rotation].shape]);
  const here = nearestTarget(rotations[rotation].targets, point, near);
  if (here) return { rotation, target: here };
  const others = rotations.flatMap((other, index) => {
    const target = nearestTarget(other.targets, point, hitRadius(board.shapes[other.shape]));
    return target ? [{ rotation: index, target, gain: totalGain(moves, target.picks[0]) }] : [];
  });
  const [best] = others.sort((a, b) => b.gain - a.gain);
  const far = best || !coarse ? null : nearestTarget(rotations[rotation].targets, point, 2.5 * near);
  return best ?? (far && { rotation, target: far });
}

/**
 * The next target in a direction: preferably near and not far to the side.
 * @param {Target[]} targets
 * @param {Point} from
 * @param {Point} direction of length one
 */
export const targetInDirection = (targets, from, direction) =>
  minBy(targets, ({ x, y }) => {
    const ahead = (x - from.x) * direction.x + (y - from.y) * direction.y;
    const aside = Math.abs((x - from.x) * direction.y - (y - from.y) * direction.x);
    return ahead < 5 ? Infinity : ahead + 2.2 * aside;
  });

/**
 * The pick number of a move other than a placement, with these tiles in any order.
 * @param {Moves} moves
 * @param {OtherMove} kind
 * @param {string[]} [tiles]
 */
export function findNonPlacement(moves, kind, tiles) {
  const sorted = (/** @type {string[]} */ letters) => [...letters].sort().join(" ");
  const index = moves.others.findIndex(
    (other) => other.move === kind && (!tiles || sorted(other.tiles ?? []) === sorted(tiles)),
  );
  return index < 0 ? null : moves.tile.length + index;
}
