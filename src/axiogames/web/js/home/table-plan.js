/** The plan of a new table, and the changes that the form makes to it. This module does not use the DOM. */

/** @import {SeatRequest, TableRequest, TablePlan, PlannedSeat, Preset, SeatKind} from "../shared/types.js" */

/** The kind of all seats except the person's own. @type {Record<Preset, SeatKind | null>} */
const OTHER_SEATS = { bot: "bot", friends: "open", screen: "person", alone: null };

export const PRESETS = /** @type {Preset[]} */ (Object.keys(OTHER_SEATS));

/**
 * @param {SeatKind} kind
 * @param {string} level
 * @returns {PlannedSeat}
 */
const planSeat = (kind, level) => ({ kind, name: "", level });

/**
 * Return a plan for a game against one bot.
 * @param {string} game
 * @param {string} level the level of the bot
 * @returns {TablePlan}
 */
export function newPlan(game, level) {
  const seats = [planSeat("me", level), planSeat("bot", level)];
  return { game, seats, options: {}, public: false, move_time: null, shuffle: true };
}

/**
 * Replace all seats except the first.
 * @param {TablePlan} plan
 * @param {Preset} preset
 * @param {string} level the level of new bots
 */
export function applyPreset(plan, preset, level) {
  const kind = OTHER_SEATS[preset];
  const otherCount = kind ? Math.max(1, plan.seats.length - 1) : 0;
  plan.seats = [plan.seats[0], ...Array.from({ length: otherCount }, () => planSeat(kind ?? "bot", level))];
}

/**
 * Return the preset with the seats of a plan, or undefined.
 * @param {TablePlan} plan
 */
export function findPreset({ seats }) {
  const [kind = null, ...more] = new Set(seats.slice(1).map((seat) => seat.kind));
  return more.length > 0 ? undefined : PRESETS.find((preset) => OTHER_SEATS[preset] === kind);
}

/**
 * Change the number of players. New seats are like the last one.
 * @param {TablePlan} plan
 * @param {number} players
 * @param {string} level
 */
export function setPlayers(plan, players, level) {
  const last = plan.seats.length > 1 ? plan.seats[plan.seats.length - 1] : planSeat("bot", level);
  plan.seats = Array.from({ length: players }, (_, i) => plan.seats[i] ?? planSeat(last.kind, last.level));
}

/**
 * Return the body of the request that opens the table.
 * @param {TablePlan} plan
 * @param {(seat: number) => string} personName returns the default name of another person at this screen
 * @returns {TableRequest}
 */
export function tableRequest(plan, personName) {
  /** @type {SeatRequest[]} */
  const seats = plan.seats.map(({ kind, name, level }, i) => {
    if (kind === "open") return { kind };
    if (kind === "bot") return { kind, level };
    return { kind: "me", name: name.trim() || (kind === "me" ? null : personName(i + 1)) };
  });
  return { ...plan, seats, public: plan.public && seats.length > 1 };
}
