/** Lists of tables on the home page: the person's own, those to join, those to watch. */
import { get, getRecentGames, post } from "../shared/api.js";
import { loadTables } from "../local/store.js";
import { navigate, runBusy } from "../shared/busy-button.js";
import { byId, h, updateList } from "../shared/dom.js";
import { botName, formatRelativeTime, moveTimeName, t } from "../shared/i18n.js";
import { localSummaries } from "./open-table.js";

/** @import {Seat, TableSummary} from "../shared/types.js" */

/** Further tables of the person are shown on request (see css/pages/home.css). */
const MAX_CONTINUED = 3;
const MAX_FINISHED = 6;
const MAX_TABLES = 12;

/** Request all lists and render their changes. */
export async function refreshTables() {
  /** @type {TableSummary[][]} */
  const [mine, open, live] = await Promise.all(
    ["mine", "open", "live"].map((which) => get(`/api/tables?which=${which}`)),
  );
  await renderTables({ mine, open, live });
}

/**
 * Render the lists. Tables of this browser are among the person's own.
 * @param {{mine: TableSummary[], open: TableSummary[], live: TableSummary[]}} tables
 */
export async function renderTables({ mine: onServer, open, live }) {
  const games = await getRecentGames().catch(() => []);
  const local = await loadTables().catch(() => []); // without storage there are none
  const names = new Map(games.map(({ id, name }) => [id, name]));
  const mine = [...onServer, ...localSummaries(local, names)].sort((a, b) => b.updated - a.updated);
  const ownIds = new Set(mine.map((table) => table.id));
  const unfinished = mine.filter(({ status }) => status === "open" || status === "playing");
  unfinished.sort((a, b) => Number(b.your_turn) - Number(a.your_turn) || b.updated - a.updated);
  const finished = mine.filter(({ status }) => status === "over").slice(0, MAX_FINISHED);
  renderList("continue", unfinished, continueLink);
  const others = (/** @type {TableSummary[]} */ tables) =>
    tables.filter(({ id }) => !ownIds.has(id)).slice(0, MAX_TABLES);
  renderList("open", others(open), joinButton);
  renderList("live", others(live), (table) => tableLink(table, "watch", "watch.label"));
  renderList("finished", finished, (table) => tableLink(table, "finished.look", "finished.label"));
  byId("continue-part").hidden = unfinished.length === 0;
  byId("finished-part").hidden = finished.length === 0;
  renderShowAll(unfinished.length);
}

/** Render the button that shows all unfinished tables. @param {number} n */
function renderShowAll(n) {
  const button = byId("continue-all");
  const list = byId("continue").classList;
  button.hidden = n <= MAX_CONTINUED || list.contains("all");
  button.textContent = t("continue.all", { n });
  button.onclick = () => {
    list.add("all");
    button.hidden = true;
  };
}

/**
 * @param {string} id
 * @param {TableSummary[]} tables
 * @param {(table: TableSummary) => Element} action
 */
function renderList(id, tables, action) {
  updateList(
    byId(id),
    tables,
    (table) => table.id,
    (table) => tableRow(table, action(table)),
  );
  const empty = document.getElementById(`${id}-empty`);
  if (empty) empty.hidden = tables.length > 0;
}

/**
 * @param {TableSummary} table
 * @param {Element} action
 */
function tableRow(table, action) {
  const details = [
    table.daily && t("table.daily"),
    table.move_time !== null && t("table.time", { time: moveTimeName(table.move_time) }),
    table.moves > 0 && t("table.moves", { n: table.moves }),
    formatRelativeTime(table.updated),
  ];
  return h(
    "li",
    { class: "card table-line", "data-table": table.id },
    h("h3", null, table.name),
    h("ul", { role: "list", class: "seats", "aria-label": t("table.players") }, table.seats.map(seatChip)),
    h("p", { class: "muted small" }, details.filter(Boolean).join(" · ")),
    action,
  );
}

/** @param {Seat} seat */
function seatChip({ kind, name, level, away }) {
  if (kind === "open") return h("li", { class: "chip chip-open" }, t("seat.free"));
  return h("li", { class: "chip" }, away ?? (kind === "bot" && level ? botName(level) : name));
}

/** @param {TableSummary} table */
function continueLink(table) {
  const key = table.your_turn ? "continue.yours" : table.status === "open" ? "continue.open" : "continue.others";
  return tableLink(table, key, "continue.label", table.your_turn);
}

/**
 * @param {TableSummary} table
 * @param {string} key the key of the link's text
 * @param {string} labelKey the key of its description for screen readers
 * @param {boolean} [primary]
 */
function tableLink({ id, name }, key, labelKey, primary) {
  const label = t(labelKey, { game: name, turn: t(key) });
  return h(
    "a",
    { class: primary ? "button button-primary" : "button", href: `/t/${id}`, "aria-label": label },
    t(key),
  );
}

/** @param {TableSummary} table */
function joinButton({ id, name }) {
  const label = t("join.label", { game: name });
  const button = h("button", { type: "button", class: "button", "data-join": id, "aria-label": label }, t("join"));
  const join = async () => {
    await post(`/api/tables/${id}/join`);
    navigate(`/t/${id}`);
  };
  button.addEventListener("click", () => void runBusy(button, join).then(refreshTables, () => {}));
  return button;
}
