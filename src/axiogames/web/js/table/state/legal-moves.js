/**
 * The legal moves, indexed by tile, rotation and target.
 *
 * Rotations are sorted by the angle of the tile's first letter, so that repeated rotations turn the tile in one
 * direction.
 */

/** @import {Placement, LegalMoves, Point, Target, Rotation} from "./model.js" */
/** @import {Board, Moves, NonPlacement, Shape} from "../net/protocol.js" */

/**
 * Index the moves that the server offers.
 * @param {Moves} moves
 * @param {string[]} hand
 * @param {Board} board
 * @returns {LegalMoves}
 */
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

/** @param {Rotation[]} rotations @param {string} letters @param {Board} board */
function sortRotations(rotations, letters, board) {
  const angle = (/** @type {number} */ shape, /** @type {number} */ spot) => {
    const [x, y] = board.shapes[shape].spots[spot];
    return Math.atan2(y, x);
  };
  const upright = angle(board.hand, 0);
  const fullTurn = 2 * Math.PI;
  // The excess of 0.001 turns keeps a rounding error from sorting the upright rotation last.
  const order = (/** @type {Rotation} */ { shape, first }) =>
    (angle(shape, first) - upright + 1.001 * fullTurn) % fullTurn;
  for (const rotation of rotations) rotation.first = firstLetterIndex(letters, rotation.letters);
  return rotations.sort((a, b) => order(a) - order(b));
}

/**
 * Return the index of a tile's first letter after a rotation, which rotates or reverses the letters.
 * @param {string} letters
 * @param {string} rotated
 */
function firstLetterIndex(letters, rotated) {
  if (rotated === [...letters].reverse().join("") && rotated !== letters) return letters.length - 1;
  return Math.max(
    0,
    [...letters].findIndex((_, shift) => rotated.slice(shift) + rotated.slice(0, shift) === letters),
  );
}

/** The points of a placement on all tracks. @param {Moves} moves @param {number} pick */
export const totalGain = (moves, pick) => moves.gain[pick].reduce((sum, points) => sum + points, 0);

/** @param {Point} a @param {Point} b */
export const distance = (a, b) => Math.hypot(a.x - b.x, a.y - b.y);

/** The distance from the centre of a tile within which a pointer hits it. @param {Shape} shape */
export const hitRadius = (shape) => 0.75 * Math.min(shape.box[2], shape.box[3]);

/**
 * Return the target that is nearest to a point, or null if none is within the maximum distance.
 * @param {Target[]} targets
 * @param {Point} point
 * @param {number} maxDistance
 * @returns {Target | null}
 */
export function nearestTarget(targets, point, maxDistance) {
  return minBy(targets, (target) => {
    const separation = distance(target, point);
    return separation <= maxDistance ? separation : Infinity;
  });
}

/**
 * Return the target with the lowest cost, or null.
 * @param {Target[]} targets
 * @param {(target: Target) => number} cost infinite to exclude a target
 */
function minBy(targets, cost) {
  let best = null;
  let lowest = Infinity;
  for (const target of targets) {
    const value = cost(target);
    if (value < lowest) [best, lowest] = [target, value];
  }
  return best;
}

/**
 * Return the placement under a pointer: in the current rotation, or else in the best rotation that fits there.
 * @param {LegalMoves} legal
 * @param {Board} board
 * @param {{tile: number, rotation: number, point: Point, coarse: boolean}} query `coarse` for a finger, which may miss
 *   a target by more than a mouse
 * @returns {Placement | null}
 */
export function placementAt({ tiles, moves }, board, { tile, rotation, point, coarse }) {
  const rotations = tiles[tile];
  const radius = hitRadius(board.shapes[rotations[rotation].shape]);
  const current = nearestTarget(rotations[rotation].targets, point, radius);
  if (current) return { rotation, target: current };
  const alternatives = rotations.flatMap((other, index) => {
    const target = nearestTarget(other.targets, point, hitRadius(board.shapes[other.shape]));
    return target ? [{ rotation: index, target, gain: totalGain(moves, target.picks[0]) }] : [];
  });
  const [best] = alternatives.sort((a, b) => b.gain - a.gain);
  const distant = best || !coarse ? null : nearestTarget(rotations[rotation].targets, point, 2.5 * radius);
  return best ?? (distant && { rotation, target: distant });
}

/**
 * Return the next target in a direction: preferably near, and not far to the side.
 * @param {Target[]} targets
 * @param {Point} from
 * @param {Point} direction a unit vector
 */
export const targetInDirection = (targets, from, direction) =>
  minBy(targets, ({ x, y }) => {
    const ahead = (x - from.x) * direction.x + (y - from.y) * direction.y;
    const sideways = Math.abs((x - from.x) * direction.y - (y - from.y) * direction.x);
    return ahead < 5 ? Infinity : ahead + 2.2 * sideways;
  });

/**
 * Return the pick number of a non-placement, or null. `tiles` may be in any order.
 * @param {Moves} moves
 * @param {NonPlacement} kind
 * @param {string[]} [tiles]
 */
export function findNonPlacement(moves, kind, tiles) {
  const sorted = (/** @type {string[]} */ letters) => [...letters].sort().join(" ");
  const index = moves.others.findIndex(
    (other) => other.move === kind && (!tiles || sorted(other.tiles ?? []) === sorted(tiles)),
  );
  return index < 0 ? null : moves.tile.length + index;
}
