/** What a person does with the hand: pick, turn, aim, set down, confirm, or exchange. No drawing here. */
import { setting } from "../../shared/settings.js";
import { newId } from "../net/connection.js";
import { beside, distance, meant, nearest, otherPick, reach } from "../state/legal-moves.js";
import { choiceChanged, nothing, state } from "../state/store.js";

/** @import {Aim, Point, Turn} from "../state/model.js" */
/** @import {Order, OtherMove, Placed} from "../net/protocol.js" */

/** @type {(order: Order) => void} */
let send = () => {};
/** Where the pointer is, if it leads the tile. @type {Point | null} */
let pointed = null;

/** @param {(order: Order) => void} sender */
export function startPlacing(sender) {
  send = sender;
}

/** The turns of the picked tile. @returns {Turn[]} */
const turns = () => (state.choice.tile === null ? [] : (state.options?.tiles[state.choice.tile] ?? []));

/** The ghost: what waits to be confirmed, or what follows the pointer. */
export const ghost = () => state.choice.set ?? state.choice.aim;

/** The turn that is shown: that of the ghost, or the one the tile has in hand. */
export const shownTurn = () => turns()[ghost()?.turn ?? state.choice.turn] ?? null;

/** What the ghost would do, as the number of a move. */
export const shownPick = () => (state.choice.set ? state.choice.pick : (state.choice.aim?.target.picks[0] ?? null));

/** The tiles in the hand we look at. */
export const hand = () => state.view.now.hands[state.view.you ?? -1] ?? [];

/** Whether a tile can be placed at all now. */
export const canPlace = () => state.options !== null && state.sending === null && state.replay === null;

export function reset() {
  state.choice = nothing();
  state.why = "";
  // Where there is no choice, nobody should have to make one.
  if (canPlace() && hand().length === 1 && state.options?.tiles[0].length) pick(0);
}

/** @param {number} tile */
function pick(tile) {
  const held = state.options?.tiles[tile].findIndex(
    (turn) => turn.shape === state.view.board.hand && turn.letters === hand()[tile],
  );
  state.choice = { ...nothing(), tile, turn: Math.max(0, held ?? 0) };
  state.why = "";
}

/** Take a tile up, unless it cannot be placed. @param {number} tile */
export function takeTile(tile) {
  if (!canPlace() || !state.options?.tiles[tile]?.length || state.choice.tile === tile) return;
  pick(tile);
  choiceChanged();
}

/** Take a tile up, turn the one already taken up, or put it among those to exchange. @param {number} tile */
export function touchTile(tile) {
  const { swap } = state.choice;
  if (!swap) return state.choice.tile === tile ? turnBy(1) : takeTile(tile);
  if (!swap.delete(tile)) swap.add(tile);
  choiceChanged();
}

/** Turn the tile; one that lies somewhere, to the next turn that fits there. @param {number} by */
export function turnBy(by) {
  const ways = turns();
  if (ways.length < 2 || !canPlace()) return;
  const { choice } = state;
  const held = ghost();
  const from = held?.turn ?? choice.turn;
  const others = ways.map((_, steps) => (from + by * (steps + 1) + ways.length * ways.length) % ways.length);
  const aim = held && turnedAim(held, others, choice.set ? null : pointed);
  choice.turn = aim?.turn ?? others[0];
  state.why = "";
  if (choice.set) set(aim);
  else choice.aim = aim;
  choiceChanged();
}

/**
 * Where a tile lies after turning round its first letter, or under the pointer.
 * @param {Aim} held
 * @param {number[]} others the turns in the order in which they are tried
 * @param {Point | null} under
 * @returns {Aim | null}
 */
function turnedAim(held, others, under) {
  const ways = turns();
  const found = (/** @type {number} */ turn, /** @type {number} */ within) => {
    const target = nearest(ways[turn].targets, under ?? turned(held.target, ways[held.turn], ways[turn]), within);
    return target && { turn, target };
  };
  for (const turn of others) {
    const near = found(turn, 1.1 * reach(state.view.board.shapes[ways[turn].shape]));
    if (near && turn !== held.turn) return near;
  }
  // It fits here only as it lies. A pointer shows where else; without one the tile goes there.
  return under ? null : found(others[0], Infinity);
}

/** @param {Point} point @param {Turn} from @param {Turn} to @returns {Point} */
function turned(point, from, to) {
  const { shapes } = state.view.board;
  const [[ax, ay], [bx, by]] = [from, to].map(({ shape, first }) => shapes[shape].spots[first]);
  return { x: point.x + ax - bx, y: point.y + ay - by };
}

/** @param {Point | null} point @param {boolean} [coarse] */
export function aimAt(point, coarse = false) {
  const { choice, options, view } = state;
  const { tile, turn } = choice;
  if (tile === null || !options || !canPlace()) return;
  pointed = point;
  const aim = point && meant(options, view.board, { tile, turn, point, coarse });
  if (aim?.target === choice.aim?.target) return;
  choice.aim = aim;
  choiceChanged();
}

/** @param {Aim | null} aim */
function set(aim) {
  const { choice } = state;
  choice.set = aim;
  choice.pick = aim && aim.target.picks[0];
  if (aim) choice.turn = aim.turn;
}

/** Take the tile off the board again, as it is turned. */
export function pickUp() {
  if (!state.choice.set) return;
  set(null);
  choiceChanged();
}

/** Set the tile down where it is aimed at; once more confirms. */
export function setDown() {
  const { choice } = state;
  if (!choice.aim || !canPlace()) return;
  set(choice.aim);
  choice.aim = null;
  state.why = "";
  // Where a colour can be named there is still something to choose.
  if (!setting("confirm") && choice.set?.target.picks.length === 1) confirm();
  else choiceChanged();
}

/** Whether a point lies on the tile that waits to be confirmed. @param {Point} point */
export function onSet(point) {
  const turn = shownTurn();
  const target = state.choice.set?.target;
  if (!target || !turn) return false;
  const { spots, box } = state.view.board.shapes[turn.shape];
  const near = 0.58 * Math.min(box[2], box[3]);
  return spots.some(([x, y]) => distance(point, { x: target.x + x, y: target.y + y }) < near);
}

/** Move among the places for the tile as it is turned. @param {Point} way */
export function step(way) {
  const held = ghost();
  const index = held?.turn ?? state.choice.turn;
  const targets = turns()[index]?.targets;
  if (!targets || !canPlace()) return;
  const [x, y, width, height] = state.view.board.box;
  const middle = { x: x + width / 2, y: y + height / 2 };
  const target = held ? beside(targets, held.target, way) : nearest(targets, middle, Infinity);
  if (!target) return;
  set(null);
  pointed = null;
  state.choice.aim = { turn: index, target };
  state.why = "";
  choiceChanged();
}

/** @param {number} pick the same placement with another colour named */
export function name(pick) {
  state.choice.pick = pick;
  choiceChanged();
}

/** One step back: from the ghost to the tile, from the tile to nothing. */
export function cancel() {
  if (ghost()) {
    set(null);
    state.choice.aim = null;
    state.why = "";
  } else {
    reset();
  }
  choiceChanged();
}

export function startSwap() {
  state.choice = { ...nothing(), swap: new Set() };
  choiceChanged();
}

/** What Confirm would do now. @returns {number | null} */
export function confirmable() {
  const { choice, options, sending } = state;
  if (!options || sending) return null;
  if (!choice.swap) return choice.pick;
  return choice.swap.size ? otherPick(options.moves, "exchange", [...choice.swap].map((tile) => hand()[tile])) : null;
}

export function confirm() {
  const pick = confirmable();
  if (pick === null) return;
  const turn = shownTurn();
  const target = state.choice.set?.target;
  const placed = target && turn ? { tile: turn.letters, at: [], shape: turn.shape, x: target.x, y: target.y } : null;
  order({ do: "move", pick, hold: setting("hold") }, placed);
}

/** @param {OtherMove} kind */
export function other(kind) {
  const pick = state.options && otherPick(state.options.moves, kind);
  if (pick !== null) order({ do: "move", pick });
}

/** Say what we want, once; it counts when the server says so. @param {Order} what @param {Placed | null} [placed] */
export function order(what, placed = null) {
  if (state.sending) return;
  const id = newId();
  state.sending = { id, placed };
  state.why = "";
  send({ ...what, id, n: state.view.n });
  choiceChanged();
}

/** Show a move as if it had been chosen. @param {number} pick @param {string} why */
export function suggest(pick, why) {
  const { options } = state;
  if (!options || !canPlace()) return;
  const tile = options.moves.tile[pick];
  state.choice = { ...nothing(), tile: tile ?? null };
  options.tiles[tile]?.forEach(({ targets }, turn) => {
    const target = targets.find((one) => one.picks.includes(pick));
    if (target) set({ turn, target });
  });
  if (state.choice.set) state.choice.pick = pick;
  state.why = why;
  choiceChanged();
}
