/** Evaluations as text: values, changes and remarks. This module is loaded on demand. */
import { get } from "../../shared/api.js";
import { language, t } from "../../shared/i18n.js";
import { fullName, gainListText } from "../text.js";

/** @import {Hint, Remark, Terms, View} from "../net/protocol.js" */

/** @type {Record<string, string>} */
let texts = {};

/** Load the texts from the server, in the language of the page. */
export async function loadReviewTexts() {
  if (!Object.keys(texts).length) texts = await get(`/api/review/words?lang=${language()}`);
}

/** @param {string} key @param {Record<string, string | number>} [params] */
export const reviewText = (key, params = {}) =>
  (texts[key] ?? key).replace(/\{(\w+)\}/g, (placeholder, name) => String(params[name] ?? placeholder));

/**
 * Format a number with a fixed number of decimals.
 * @param {number} n
 * @param {number} [decimals]
 * @param {boolean} [signed] whether positive numbers have a plus sign
 */
export function formatFixed(n, decimals = 0, signed = false) {
  const rounded = Number(n.toFixed(decimals)) || 0;
  /** @type {Intl.NumberFormatOptions} */
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  return new Intl.NumberFormat(language(), { ...digits, signDisplay: signed ? "exceptZero" : "auto" }).format(rounded);
}

/** @param {Terms} terms */
const decimalsOf = ({ kind }) => (kind === "win" ? 0 : kind === "place" ? 2 : 1);

/** Return the value of a position as text. @param {Terms} terms @param {number} value */
export function valueText(terms, value) {
  const shown = terms.kind === "place" ? 1 + (1 - value) * terms.full : value * terms.full;
  return reviewText(`value.${terms.kind}`, { n: formatFixed(shown, decimalsOf(terms)) });
}

/** Return a difference of values as text. @param {Terms} terms @param {number} change @param {boolean} [signed] */
export function changeText(terms, change, signed = false) {
  const amount = change * terms.full;
  // Changes below 10 percentage points have a decimal.
  const digits = decimalsOf(terms) + (terms.kind === "win" && Math.abs(amount) < 9.95 ? 1 : 0);
  const n = formatFixed(amount, digits, signed);
  const key = `change.${terms.kind}`;
  return reviewText(key in texts ? key : `${key}.${n === "1" ? "one" : "other"}`, { n });
}

/** Return a move as part of a sentence. @param {string} move */
export const moveText = (move) => (move in texts ? reviewText(move) : move);

/** Return a remark as a sentence. @param {View} view @param {Terms} terms @param {Remark} remark */
export function remarkText(view, terms, remark) {
  const { key, move, track, seat, mine, other, count, value, best, behind, within } = remark;
  /** @type {Record<string, string | number>} */
  const params = {};
  if (move !== undefined) params.move = moveText(move);
  if (track !== undefined) params.track = texts[`colour.${track}`] ?? track;
  if (seat !== undefined) params.seat = fullName(view, seat);
  if (count !== undefined) params.count = count;
  if (mine !== undefined) {
    const digits = other === undefined || Math.round(mine) !== Math.round(other) ? 0 : 1;
    params.mine = formatFixed(mine, digits);
    if (other !== undefined) params.other = formatFixed(other, digits);
  }
  if (value !== undefined && best !== undefined) {
    Object.assign(params, { value: valueText(terms, value), best: valueText(terms, best) });
  }
  if (behind !== undefined && within !== undefined) {
    Object.assign(params, { behind: changeText(terms, behind), within: changeText(terms, within) });
  }
  return capitalize(reviewText(key, params));
}

/** @param {string} sentence */
const capitalize = (sentence) => sentence.charAt(0).toUpperCase() + sentence.slice(1);

/**
 * Return a hint with its reasons.
 * @param {View} view
 * @param {Hint} hint
 * @param {number[] | undefined} gain the points of the move, if it is a placement
 */
export async function hintText(view, { picks: [best], terms }, gain) {
  await loadReviewTexts();
  const summary = gain
    ? t("table.hint_why", { why: gainListText(view, gain) })
    : t("table.hint_other", { move: t(`table.${best.move.split(" ")[0]}`) });
  const remarks = best.remarks.map((remark) => remarkText(view, terms, remark));
  if (best.value === null) return [summary, ...remarks].join(" ");
  const value = reviewText("hint_value", {
    terms: reviewText(`terms.${terms.kind}`),
    value: valueText(terms, best.value),
  });
  return [summary, capitalize(value), ...remarks].join(" ");
}
