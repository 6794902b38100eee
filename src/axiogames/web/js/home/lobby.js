/** Tables: yours to go on with, open ones to join, live ones to watch. */
import { act, go } from "../shared/busy-button.js";
import { get, me, post } from "../shared/api.js";
import { byId, h, showList } from "../shared/dom.js";
import { ago, botName, moveTimeName, t } from "../shared/i18n.js";

/** @import {Seat, Summary} from "../shared/types.js" */

/** More of your tables than these are shown on request (see css/home.css). */
const FIRST = 3;
const FINISHED = 6;
const MOST = 12;

/** Ask for all lists and show what has changed. */
export async function showTables() {
  await me();
  /** @type {Summary[][]} */
  const [mine, open, live] = await Promise.all(["mine", "open", "live"].map((which) => get(`/api/tables?which=${which}`)));
  const own = new Set(mine.map((table) => table.id));
  const running = mine.filter(({ status }) => status === "open" || status === "playing");
  running.sort((one, other) => Number(other.your_turn) - Number(one.your_turn) || other.updated - one.updated);
  const finished = mine.filter(({ status }) => status === "over").slice(0, FINISHED);
  show("continue", running, continued);
  const others = (/** @type {Summary[]} */ tables) => tables.filter(({ id }) => !own.has(id)).slice(0, MOST);
  show("open", others(open), joinable);
  show("live", others(live), (table) => link(table, "watch", "watch.label"));
  show("finished", finished, (table) => link(table, "finished.look", "finished.label"));
  byId("continue-part").hidden = running.length === 0;
  byId("finished-part").hidden = finished.length === 0;
  offerAll(running.length);
}

/** @param {number} n */
function offerAll(n) {
  const button = byId("continue-all");
  const list = byId("continue").classList;
  button.hidden = n <= FIRST || list.contains("all");
  button.textContent = t("continue.all", { n });
  button.onclick = () => {
    list.add("all");
    button.hidden = true;
  };
}

/**
 * @param {string} id
 * @param {Summary[]} tables
 * @param {(table: Summary) => Element} action
 */
function show(id, tables, action) {
  showList(byId(id), tables, (table) => table.id, (table) => row(table, action(table)));
  const empty = document.getElementById(`${id}-empty`);
  if (empty) empty.hidden = tables.length > 0;
}

/**
 * @param {Summary} table
 * @param {Element} action
 */
function row(table, action) {
  const facts = [
    table.daily && t("table.daily"),
    table.move_time !== null && t("table.time", { time: moveTimeName(table.move_time) }),
    table.moves > 0 && t("table.moves", { n: table.moves }),
    ago(table.updated),
  ];
  return h(
    "li",
    { class: "card table-line", "data-table": table.id },
    h("h3", null, table.name),
    h("ul", { role: "list", class: "seats", "aria-label": t("table.players") }, table.seats.map(seat)),
    h("p", { class: "muted small" }, facts.filter(Boolean).join(" · ")),
    action,
  );
}

/** @param {Seat} seat */
function seat({ kind, name, level, away }) {
  if (kind === "open") return h("li", { class: "chip chip-open" }, t("seat.free"));
  return h("li", { class: "chip" }, away ?? (kind === "bot" && level ? botName(level) : name));
}

/** @param {Summary} table */
function continued(table) {
  const word = table.your_turn ? "continue.yours" : table.status === "open" ? "continue.open" : "continue.others";
  return link(table, word, "continue.label", table.your_turn);
}

/**
 * @param {Summary} table
 * @param {string} word
 * @param {string} label
 * @param {boolean} [primary]
 */
function link({ id, name }, word, label, primary) {
  const spoken = t(label, { game: name, turn: t(word) });
  return h("a", { class: primary ? "button button-primary" : "button", href: `/t/${id}`, "aria-label": spoken }, t(word));
}

/** @param {Summary} table */
function joinable({ id, name }) {
  const label = t("join.label", { game: name });
  const button = h("button", { type: "button", class: "button", "data-join": id, "aria-label": label }, t("join"));
  const join = async () => {
    await post(`/api/tables/${id}/join`);
    go(`/t/${id}`);
  };
  button.addEventListener("click", () => void act(button, join).then(showTables, () => {}));
  return button;
}
