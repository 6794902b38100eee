/** What the server judged, in words: values, changes and remarks. Loaded when there is something judged. */
import { get } from "../../shared/api.js";
import { language, t } from "../../shared/i18n.js";
import { fullName, pickGain } from "../text.js";

/** @import {Hint, Remark, Terms, View} from "../net/protocol.js" */

/** @type {Record<string, string>} */
let words = {};

/** The words come from the server, in the language of the page. */
export async function loadJudged() {
  if (!Object.keys(words).length) words = await get(`/api/review/words?lang=${language()}`);
}

/** @param {string} key @param {Record<string, string | number>} [holes] */
export const say = (key, holes = {}) =>
  (words[key] ?? key).replace(/\{(\w+)\}/g, (hole, name) => String(holes[name] ?? hole));

/** @param {number} n @param {number} [places] @param {boolean} [signed] */
export function fixed(n, places = 0, signed = false) {
  const round = Number(n.toFixed(places)) || 0;
  /** @type {Intl.NumberFormatOptions} */
  const digits = { minimumFractionDigits: places, maximumFractionDigits: places };
  return new Intl.NumberFormat(language(), { ...digits, signDisplay: signed ? "exceptZero" : "auto" }).format(round);
}

/** @param {Terms} terms */
const places = ({ kind }) => (kind === "win" ? 0 : kind === "place" ? 2 : 1);

/** What a position is worth. @param {Terms} terms @param {number} value */
export function valueWords(terms, value) {
  const told = terms.kind === "place" ? 1 + (1 - value) * terms.full : value * terms.full;
  return say(`value.${terms.kind}`, { n: fixed(told, places(terms)) });
}

/** How much better or worse something is. @param {Terms} terms @param {number} change @param {boolean} [signed] */
export function changeWords(terms, change, signed = false) {
  const amount = change * terms.full;
  const digits = places(terms) + (terms.kind === "win" && Math.abs(amount) < 9.95 ? 1 : 0);
  const n = fixed(amount, digits, signed);
  const key = `change.${terms.kind}`;
  return say(key in words ? key : `${key}.${n === "1" ? "one" : "other"}`, { n });
}

/** A move in a sentence. @param {string} move */
export const moveWords = (move) => (move in words ? say(move) : move);

/** A remark as a sentence. @param {View} view @param {Terms} terms @param {Remark} remark */
export function remarkWords(view, terms, remark) {
  const { key, move, track, seat, mine, other, count, value, best, behind, within } = remark;
  /** @type {Record<string, string | number>} */
  const holes = {};
  if (move !== undefined) holes.move = moveWords(move);
  if (track !== undefined) holes.track = words[`colour.${track}`] ?? track;
  if (seat !== undefined) holes.seat = fullName(view, seat);
  if (count !== undefined) holes.count = count;
  if (mine !== undefined) {
    const digits = other === undefined || Math.round(mine) !== Math.round(other) ? 0 : 1;
    holes.mine = fixed(mine, digits);
    if (other !== undefined) holes.other = fixed(other, digits);
  }
  if (value !== undefined && best !== undefined) {
    Object.assign(holes, { value: valueWords(terms, value), best: valueWords(terms, best) });
  }
  if (behind !== undefined && within !== undefined) {
    Object.assign(holes, { behind: changeWords(terms, behind), within: changeWords(terms, within) });
  }
  return capital(say(key, holes));
}

/** @param {string} sentence */
const capital = (sentence) => sentence.charAt(0).toUpperCase() + sentence.slice(1);

/**
 * A hint with its reasons.
 * @param {View} view
 * @param {Hint} hint
 * @param {number[] | undefined} gain what the move scores, if it is a placement
 */
export async function hintWords(view, { picks: [best], terms }, gain) {
  await loadJudged();
  const what = gain
    ? t("table.hint_why", { why: pickGain(view, gain) })
    : t("table.hint_other", { move: t(`table.${best.move.split(" ")[0]}`) });
  const told = best.remarks.map((remark) => remarkWords(view, terms, remark));
  if (best.value === null) return [what, ...told].join(" ");
  const worth = say("hint_value", { terms: say(`terms.${terms.kind}`), value: valueWords(terms, best.value) });
  return [what, capital(worth), ...told].join(" ");
}
