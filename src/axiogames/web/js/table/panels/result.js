/** The result of the game, and the buttons for rematch, replay and review. */
import { dialog } from "../../shared/dialog.js";
import { byId, h } from "../../shared/dom.js";
import { formatList, t } from "../../shared/i18n.js";
import { importLocal, isLocalTable } from "../../local/ids.js";
import { pointsChip } from "../board/shapes.js";
import { postToTable } from "../net/requests.js";
import { openReplay } from "../replay/replay.js";
import { onViewChange, state } from "../state/store.js";
import { seatName, trackName } from "../text.js";
import { outcomeText } from "./status.js";

/** @import {View} from "../net/protocol.js" */
/** @typedef {{track: string, points: number}} Score */

/** @type {() => void} */
let openReview = () => {};

/** @param {() => void} onReview called when the person asks for a review */
export function startResult(onReview) {
  openReview = onReview;
  byId("result").addEventListener("click", () => void showResult());
  byId("rematch").addEventListener("click", () => void rematch());
  byId("replay").addEventListener("click", () => void openReplay());
  onViewChange(render);
}

function render() {
  const { table } = state.view;
  const over = table.status === "over" && !state.replay;
  byId("after").hidden = !over;
  byId("review").hidden = isLocalTable(table.id);
  const label = rematchLabel();
  byId("rematch").hidden = !label;
  byId("rematch").textContent = label;
  const next = byId("new-game");
  next.setAttribute("href", table.daily ? "/daily" : "/");
  next.textContent = t(table.daily ? "table.to_daily" : "table.new_game");
}

function rematchLabel() {
  const { table, yours } = state.view;
  if (table.daily) return "";
  if (table.next) return t(yours.length ? "table.join_rematch" : "table.watch_rematch");
  return yours.length ? t("table.rematch") : "";
}

async function rematch() {
  const { table, yours } = state.view;
  const id = table.next && !yours.length ? table.next : (await postToTable("rematch"))?.id;
  if (id) location.assign(`/t/${id}`);
}

/** Return the points of a seat in ascending order. @param {View} view @param {number} seat @returns {Score[]} */
function sortedScores({ table, now }, seat) {
  const scores = table.tracks.map((track, index) => ({ track, points: now.scores[seat][index] }));
  return scores.sort((a, b) => a.points - b.points);
}

export async function showResult() {
  const { view } = state;
  const places = view.now.result?.place ?? view.now.standing;
  const order = view.seats.map((_, seat) => seat).sort((a, b) => places[a] - places[b]);
  const rows = order.map((seat) => ({ seat, place: places[seat], scores: sortedScores(view, seat) }));
  const [first, second] = rows;
  const decidingIndex = second
    ? first.scores.findIndex(({ points }, index) => points !== second.scores[index].points)
    : -1;
  const rematchText = rematchLabel();
  const { id } = view.table;
  const body = h(
    "div",
    { class: "result" },
    h("p", null, reasonText(view, rows, decidingIndex)),
    h(
      "table",
      null,
      h("caption", { class: "visually-hidden" }, t("table.result_caption")),
      h("tbody", null, rows.map((row) => resultRow(view, row, decidingIndex))),
    ),
    view.table.tracks.length > 1 && view.seats.length > 1 && h("p", { class: "small muted" }, t("scores.compare")),
    view.table.commitment && fairnessDetails(view.table.commitment),
    await recordLink(id),
  );
  const choice = await dialog({
    title: outcomeText(),
    body,
    actions: [
      ...(isLocalTable(id) ? [] : [{ label: t("table.review"), value: "review" }]),
      { label: t("table.replay"), value: "replay", primary: !rematchText },
      ...(rematchText ? [{ label: rematchText, value: "rematch", primary: true }] : []),
    ],
  });
  if (choice === "replay") void openReplay();
  if (choice === "review") openReview();
  if (choice === "rematch") await rematch();
}

/** @param {string} commitment */
const fairnessDetails = (commitment) =>
  h(
    "details",
    { class: "small" },
    h("summary", null, t("table.fair_title")),
    h("p", null, t("table.fair_over")),
    h("code", null, commitment),
  );

/** Return the record of a local table as a file. */
async function localRecord() {
  const record = await (await importLocal()).localRecord();
  return new Blob([JSON.stringify(record)], { type: "application/json" });
}

/** Return the link that downloads the record of the game. @param {string} id */
async function recordLink(id) {
  const href = isLocalTable(id) ? URL.createObjectURL(await localRecord()) : `/api/tables/${id}/record`;
  return h("a", { class: "button button-quiet", id: "record", href, download: `${id}.json` }, t("table.record"));
}

/**
 * Return the reason for the result as a sentence.
 * @param {View} view
 * @param {{seat: number, place: number, scores: Score[]}[]} rows
 * @param {number} decidingIndex index of the sorted points in which the first two seats differ, or -1
 */
function reasonText(view, rows, decidingIndex) {
  const [first, second] = rows;
  const single = view.table.tracks.length === 1;
  const n = first.scores[0].points;
  if (!second && single) return t("table.alone_points", { n });
  if (!second) {
    const low = first.scores.filter(({ points }) => points === n).map(({ track }) => trackName(track));
    return t("table.alone_lowest", { n, colours: formatList(low) });
  }
  const names = { name: seatName(view, first.seat), other: seatName(view, second.seat) };
  if (decidingIndex < 0) return t("table.result_equal", names);
  const numbers = { points: first.scores[decidingIndex].points, others: second.scores[decidingIndex].points };
  const key = single ? "table.result_points" : decidingIndex === 0 ? "table.result_lowest" : "table.result_next";
  return t(key, { ...names, ...numbers, ...(decidingIndex > 0 && { n: decidingIndex }) });
}

/** @param {View} view @param {{seat: number, place: number, scores: Score[]}} row @param {number} decidingIndex */
function resultRow(view, { seat, place, scores }, decidingIndex) {
  const cells = scores.map(({ track, points }, index) =>
    h(
      "td",
      { class: index === decidingIndex ? "deciding" : null },
      pointsChip(track, points),
      h("span", { class: "visually-hidden" }, trackName(track)),
    ),
  );
  const medal = h("span", { class: place === 1 ? "medal first" : "medal" }, place);
  return h("tr", null, h("th", { scope: "row" }, medal, " ", seatName(view, seat)), cells);
}
