/** A table that is being planned: plain data and what may be changed about it. Nothing here knows the page. */

/** @import {NewSeat, NewTable, Plan, PlannedSeat, Preset, SeatKind} from "../shell/types.js" */

/** @type {Record<Preset, SeatKind | null>} who sits on all seats but yours */
const OTHERS = { bot: "bot", friends: "open", screen: "person", alone: null };

export const PRESETS = /** @type {Preset[]} */ (Object.keys(OTHERS));

/**
 * @param {SeatKind} kind
 * @param {string} level
 * @returns {PlannedSeat}
 */
const seat = (kind, level) => ({ kind, name: "", level });

/**
 * @param {string} game
 * @param {string} level of bots
 * @returns {Plan}
 */
export function newPlan(game, level) {
  return {
    game,
    seats: [seat("me", level), seat("bot", level)],
    options: {},
    public: false,
    move_time: null,
    shuffle: true,
  };
}

/**
 * @param {Plan} plan
 * @param {Preset} preset
 * @param {string} level
 */
export function applyPreset(plan, preset, level) {
  const kind = OTHERS[preset];
  const players = kind ? Math.max(2, plan.seats.length) : 1;
  plan.seats = plan.seats.slice(0, 1);
  while (kind && plan.seats.length < players) plan.seats.push(seat(kind, level));
}

/**
 * The preset that a plan is like, if it is like one.
 * @param {Plan} plan
 * @returns {Preset | undefined}
 */
export function presetOf(plan) {
  const kinds = new Set(plan.seats.slice(1).map((one) => one.kind));
  if (kinds.size > 1) return undefined;
  const [kind = null] = kinds;
  return PRESETS.find((preset) => OTHERS[preset] === kind);
}

/**
 * More seats are like the last one there is.
 * @param {Plan} plan
 * @param {number} players
 * @param {string} level
 */
export function setPlayers(plan, players, level) {
  const last = plan.seats.at(-1);
  const like = last && last.kind !== "me" ? last : seat("bot", level);
  plan.seats = plan.seats.slice(0, players);
  while (plan.seats.length < players) plan.seats.push(seat(like.kind, like.level));
}

/** @param {Plan} plan */
export const waitsForOthers = (plan) => plan.seats.some((one) => one.kind === "open");

/**
 * What the server is asked for.
 * @param {Plan} plan
 * @param {(seat: number) => string} personName for people at this screen who gave no name
 * @returns {NewTable}
 */
export function request(plan, personName) {
  const seats = plan.seats.map((one, i) => {
    /** @type {NewSeat} */
    let asked = { kind: "open" };
    if (one.kind === "bot") asked = { kind: "bot", level: one.level };
    if (one.kind === "me") asked = { kind: "me", name: one.name.trim() || null };
    if (one.kind === "person") asked = { kind: "me", name: one.name.trim() || personName(i + 1) };
    return asked;
  });
  return { ...plan, seats, public: plan.public && seats.length > 1 };
}
