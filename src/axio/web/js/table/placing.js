/** What a person does with the hand: pick, turn, aim, set down, confirm, or exchange. No drawing here. */
import { setting } from "../shell/settings.js";
import { newId } from "./connection.js";
import { beside, distance, meant, nearest, otherPick, reach } from "./options.js";
import { choiceChanged, nothing, state } from "./state.js";

/** @import {Point, Target, Turn} from "./options.js" */
/** @import {Order} from "./protocol.js" */

/** @type {(order: Order) => void} */
let send = () => {};

/** @param {(order: Order) => void} sender */
export function placeBy(sender) {
  send = sender;
}

/** Where the pointer is, if it leads the tile. @type {Point | null} */
let pointed = null;

/** @returns {Turn[]} the turns of the picked tile */
const turns = () => (state.options && state.choice.tile !== null ? state.options.tiles[state.choice.tile] : []);

/** The turn that is shown: that of the ghost, or the one the tile has in hand. */
export function shownTurn() {
  const { set, aim, turn } = state.choice;
  return turns()[(set ?? aim)?.turn ?? turn] ?? null;
}

/** What the ghost would do, as the number of a move. */
export function shownPick() {
  const { set, aim, pick } = state.choice;
  return set ? pick : (aim?.target.picks[0] ?? null);
}

/** Whether a tile can be placed at all now. */
export const canPlace = () => state.options !== null && state.sending === null && state.replay === null;

export function reset() {
  state.choice = nothing();
  state.why = "";
  // Where there is no choice, nobody should have to make one.
  const usable = state.options?.tiles.flatMap((one, index) => (one.length ? [index] : [])) ?? [];
  const hand = state.view.now.hands[state.view.you ?? -1] ?? [];
  if (canPlace() && usable.length === 1 && hand.length === 1) pick(usable[0]);
}

/** @param {number} tile */
function pick(tile) {
  const { board, now, you } = state.view;
  const letters = now.hands[you ?? 0][tile];
  const ways = state.options?.tiles[tile] ?? [];
  const asHeld = ways.findIndex((way) => way.shape === board.hand && way.letters === letters);
  state.choice = { ...nothing(), tile, turn: Math.max(0, asHeld) };
  state.why = "";
}

/**
 * Take a tile up; the one already taken up is turned.
 * @param {number} tile
 */
export function touchTile(tile) {
  const { swap } = state.choice;
  if (swap) {
    if (!swap.delete(tile)) swap.add(tile);
  } else if (!canPlace() || !state.options?.tiles[tile]?.length) {
    return;
  } else if (state.choice.tile === tile) {
    turnBy(1);
    return;
  } else {
    pick(tile);
  }
  choiceChanged();
}

/**
 * Take a tile up without turning it.
 * @param {number} tile
 */
export function takeTile(tile) {
  if (state.choice.tile !== tile) touchTile(tile);
}

/**
 * Turn the tile round its first letter, or under the pointer; where it does not fit like that, as near as it does.
 * @param {number} by
 */
export function turnBy(by) {
  const ways = turns();
  if (ways.length < 2) return;
  const { choice } = state;
  const held = choice.set ?? choice.aim;
  const from = held?.turn ?? choice.turn;
  const to = (from + by + ways.length) % ways.length;
  state.why = "";
  choice.turn = to;
  if (held) {
    const under = choice.set ? null : pointed;
    const around = under ?? turned(held.target, ways[from], ways[to]);
    const within = under ? reach(state.view.board.shapes[ways[to].shape]) : Infinity;
    const target = nearest(ways[to].targets, around, within);
    if (choice.set) set(target && { turn: to, target });
    else choice.aim = target && { turn: to, target };
  }
  choiceChanged();
}

/**
 * @param {Target} target
 * @param {Turn} from
 * @param {Turn} to
 * @returns {Point}
 */
function turned(target, from, to) {
  const [ax, ay] = pivot(from);
  const [bx, by] = pivot(to);
  return { x: target.x + ax - bx, y: target.y + ay - by };
}

/** @param {Turn} turn */
const pivot = (turn) => state.view.board.shapes[turn.shape].spots[turn.first];

/**
 * @param {Point | null} point
 * @param {boolean} [coarse]
 */
export function aimAt(point, coarse = false) {
  const { choice, options, view } = state;
  if (choice.tile === null || !options || !canPlace()) return;
  pointed = point;
  const aim = point && meant(options, view.board, choice.tile, choice.turn, point, coarse);
  if (aim?.target === choice.aim?.target && aim?.turn === choice.aim?.turn) return;
  choice.aim = aim;
  choiceChanged();
}

/** @param {import("./state.js").Aim | null} aim */
function set(aim) {
  state.choice.set = aim;
  state.choice.pick = aim && aim.target.picks[0];
  if (aim) state.choice.turn = aim.turn;
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
  if (!setting("confirm") && (choice.set?.target.picks.length ?? 0) < 2) confirm();
  else choiceChanged();
}

/**
 * Whether a point lies on the tile that waits to be confirmed.
 * @param {Point} point
 */
export function onSet(point) {
  const { choice, view } = state;
  const turn = shownTurn();
  if (!choice.set || !turn) return false;
  const { spots, box } = view.board.shapes[turn.shape];
  const { x, y } = choice.set.target;
  const near = 0.58 * Math.min(box[2], box[3]);
  return spots.some(([dx, dy]) => distance(point, { x: x + dx, y: y + dy }) < near);
}

/**
 * Move among the places for the tile as it is turned.
 * @param {Point} way
 */
export function step(way) {
  const { choice, view } = state;
  const turn = turns()[choice.turn];
  if (!turn || !canPlace()) return;
  const held = choice.set ?? choice.aim;
  const [x, y, width, height] = view.board.box;
  const from = held?.target ?? { x: x + width / 2, y: y + height / 2 };
  const targets = turns()[held?.turn ?? choice.turn].targets;
  const target = held ? beside(targets, from, way) : nearest(turn.targets, from, Infinity);
  if (!target) return;
  set(null);
  pointed = null;
  choice.aim = { turn: held?.turn ?? choice.turn, target };
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
  const { choice } = state;
  state.why = "";
  if (choice.set || choice.aim) {
    choice.set = choice.aim = null;
    choice.pick = null;
  } else {
    reset();
  }
  choiceChanged();
}

/** @returns {number | null} what Confirm would do now */
export function confirmable() {
  const { choice, options, view } = state;
  if (!options || state.sending) return null;
  if (!choice.swap) return choice.set ? choice.pick : null;
  const hand = view.now.hands[view.you ?? 0];
  return choice.swap.size ? otherPick(options.moves, "exchange", [...choice.swap].map((tile) => hand[tile])) : null;
}

export function confirm() {
  const pick = confirmable();
  if (pick === null) return;
  const { choice, view } = state;
  const turn = shownTurn();
  const placed = choice.set && turn && { tile: turn.letters, at: [], shape: turn.shape, x: choice.set.target.x, y: choice.set.target.y };
  order({ do: "move", pick, ...(setting("hold") && { hold: true }), n: view.n }, placed);
}

/** @param {"exchange" | "keep" | "pass"} kind */
export function other(kind) {
  const pick = state.options && otherPick(state.options.moves, kind);
  if (pick !== null) order({ do: "move", pick, n: state.view.n });
}

/** @param {"draw" | "back"} what */
export const ask = (what) => order({ do: what, n: state.view.n });

/**
 * @param {Order} what
 * @param {import("./protocol.js").Placed | null} [placed]
 */
function order(what, placed = null) {
  if (state.sending) return;
  const id = newId();
  state.sending = { id, placed };
  state.why = "";
  send({ ...what, id });
  choiceChanged();
}

export function startSwap() {
  state.choice = { ...nothing(), swap: new Set() };
  choiceChanged();
}

/**
 * Show a move as if it had been chosen.
 * @param {number} pick
 * @param {string} why
 */
export function suggest(pick, why) {
  const { options } = state;
  if (!options || !canPlace()) return;
  const tile = options.moves.tile[pick];
  state.choice = { ...nothing(), tile: tile ?? null };
  options.tiles[tile]?.forEach((turn, index) => {
    const target = turn.targets.find((one) => one.picks.includes(pick));
    if (target) set({ turn: index, target });
  });
  if (state.choice.set) state.choice.pick = pick;
  state.why = why;
  choiceChanged();
}
