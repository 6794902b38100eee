/** The dialog with the form for a new table. */
import { ApiError, errorText, getBots, getKnownGames, getMe, getRecentGames } from "../shared/api.js";
import { runBusy } from "../shared/busy-button.js";
import { radioGroup, select, toggle } from "../shared/controls.js";
import { dialog } from "../shared/dialog.js";
import { h } from "../shared/dom.js";
import { levelName, moveTimeName, t } from "../shared/i18n.js";
import { toast } from "../shared/toast.js";
import { DEFAULT_LEVEL, LOCAL_LEVELS, openTable } from "./open-table.js";
import { PRESETS, applyPreset, findPreset, newPlan, setPlayers, tableRequest } from "./table-plan.js";

/** @import {Bot, Game, PlannedSeat, Preset, SeatKind, TablePlan} from "../shared/types.js" */

const MAX_NAME_LENGTH = 24;

/** @type {SeatKind[]} */
const SEAT_KINDS = ["bot", "open", "person"];

/** Seconds. */
const DAY = 86_400;
/** Time limits per move in seconds; null for none. */
const MOVE_TIMES = [null, 60, 120, 300, DAY, 3 * DAY];

/** @param {string} [gameId] the game to select; default: the first one */
export async function openNewTableDialog(gameId) {
  try {
    const [games, bots, { name }] = await Promise.all([getRecentGames(), getBots(), getMe()]).catch(offlineChoices);
    const game = games.find(({ id }) => id === gameId) ?? games[0];
    const defaultLevel = (bots.find((bot) => bot.default) ?? bots[0]).level;
    await showForm(newPlan(game.id, defaultLevel), { games, bots, defaultLevel, name });
  } catch (error) {
    toast(errorText(error), {
      kind: "error",
      action: { label: t("again"), run: () => void openNewTableDialog(gameId) },
    });
  }
}

/**
 * Return what the form needs without the server, if it is known.
 * @param {unknown} error
 * @returns {[Game[], Bot[], {name: string}]}
 */
function offlineChoices(error) {
  const games = getKnownGames();
  if (!games || !(error instanceof ApiError) || error.code !== "offline") throw error;
  return [games, LOCAL_LEVELS.map((level) => ({ level, default: level === DEFAULT_LEVEL })), { name: "" }];
}

/**
 * Data for the form. `name` is the name of the person.
 * @typedef {{games: Game[], bots: Bot[], defaultLevel: string, name: string}} Context
 */

/**
 * @param {TablePlan} plan
 * @param {Context} context
 */
async function showForm(plan, context) {
  const body = h("div", { class: "stack" });
  const start = h("button", { class: "button button-primary", id: "new-start" });
  const errorElement = h("p", { class: "error-text", role: "alert" });

  /** Render the form again after a change that affects other controls. The focus is kept. */
  const render = () => {
    const focusedId = document.activeElement?.id;
    body.replaceChildren(...formParts(plan, context, render));
    start.textContent = t(plan.seats.some(({ kind }) => kind === "open") ? "new.open" : "new.start");
    if (focusedId) document.getElementById(focusedId)?.focus();
  };
  const create = () => openTable(tableRequest(plan, (seat) => t("seat.person.name", { seat })));
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    errorElement.textContent = "";
    void runBusy(start, create, (text) => void (errorElement.textContent = text));
  };

  render();
  const form = h("form", { onsubmit: submit }, body, errorElement, h("div", { class: "actions sheet-bottom" }, start));
  await dialog({ id: "new-table", title: t("new.title"), body: form });
  // Reloading the page must not open the form again.
  history.replaceState(null, "", location.pathname);
}

/**
 * @param {TablePlan} plan
 * @param {Context} context
 * @param {() => void} render
 */
function formParts(plan, { games, bots, defaultLevel, name }, render) {
  const game = games.find(({ id }) => id === plan.game) ?? games[0];
  const playerCounts = Array.from({ length: game.most_players }, (_, i) => String(i + 1));
  const seats = seatRows(plan, bots, name, render);
  return [
    select(
      "new-game",
      t("new.game"),
      games.map((option) => [option.id, option.name]),
      plan.game,
      (id) => {
        plan.game = id;
        plan.options = {};
        const maxPlayers = games.find((other) => other.id === id)?.most_players ?? 1;
        if (plan.seats.length > maxPlayers) setPlayers(plan, maxPlayers, defaultLevel);
        render();
      },
    ),
    radioGroup(
      "preset",
      t("new.with"),
      PRESETS.map((preset) => [preset, t(`preset.${preset}`)]),
      findPreset(plan) ?? "",
      (preset) => {
        applyPreset(plan, /** @type {Preset} */ (preset), defaultLevel);
        render();
      },
    ),
    radioGroup(
      "players",
      t("new.players"),
      playerCounts.map((n) => [n, n]),
      String(plan.seats.length),
      (players) => {
        setPlayers(plan, Number(players), defaultLevel);
        render();
      },
    ),
    h("ol", { role: "list", class: "stack", "aria-label": t("new.seats") }, seats),
    ...(game.options.length > 0 ? [optionSwitches(game, plan)] : []),
    ...(plan.seats.length > 1 ? [multiplayerOptions(plan)] : []),
  ];
}

/**
 * @param {Game} game
 * @param {TablePlan} plan
 */
function optionSwitches(game, plan) {
  const switches = game.options.map(({ name, summary }) => {
    const text = summary.charAt(0).toUpperCase() + summary.slice(1);
    return toggle(`option-${name}`, text, "", Boolean(plan.options[name]), (on) => void (plan.options[name] = on));
  });
  return h("fieldset", null, h("legend", null, t("new.options")), switches);
}

/**
 * Build the controls that apply only to tables for several players.
 * @param {TablePlan} plan
 */
function multiplayerOptions(plan) {
  const times = MOVE_TIMES.map(
    (seconds) => /** @type {[string, string]} */ ([String(seconds ?? ""), moveTimeName(seconds)]),
  );
  return h(
    "fieldset",
    null,
    h("legend", { class: "visually-hidden" }, t("new.extras")),
    toggle("new-public", t("new.public"), t("new.public.help"), plan.public, (on) => void (plan.public = on)),
    toggle("new-shuffle", t("new.shuffle"), t("new.shuffle.help"), plan.shuffle, (on) => void (plan.shuffle = on)),
    select("new-time", t("new.time"), times, String(plan.move_time ?? ""), (seconds) => {
      plan.move_time = seconds ? Number(seconds) : null;
    }),
  );
}

/**
 * @param {TablePlan} plan
 * @param {Bot[]} bots
 * @param {string} ownName
 * @param {() => void} onKindChange called when the kind of a seat changes
 */
function seatRows(plan, bots, ownName, onKindChange) {
  return plan.seats.map((seat, i) => {
    const label = t("seat.number", { seat: i + 1 });
    return h(
      "li",
      { class: "seat", "data-seat": i },
      seat.kind === "me" ? h("span", { class: "seat-kind" }, t("seat.me")) : kindSelect(seat, label, onKindChange),
      seatDetail(seat, label, bots, seat.kind === "me" ? ownName : t("seat.person.name", { seat: i + 1 })),
    );
  });
}

/**
 * @param {PlannedSeat} seat
 * @param {string} label
 * @param {() => void} onChange
 */
function kindSelect(seat, label, onChange) {
  const list = h(
    "select",
    { "aria-label": t("seat.kind", { label }), "data-kind": true, value: seat.kind },
    SEAT_KINDS.map((kind) => h("option", { value: kind }, t(`seat.${kind}`))),
  );
  list.addEventListener("change", () => {
    seat.kind = /** @type {SeatKind} */ (list.value);
    onChange();
  });
  return list;
}

/**
 * Build the control for the level of a bot or the name of a person.
 * @param {PlannedSeat} seat
 * @param {string} label
 * @param {Bot[]} bots
 * @param {string} defaultName used if the person enters none
 */
function seatDetail(seat, label, bots, defaultName) {
  if (seat.kind === "open") return h("span", { class: "muted small seat-note" }, t("seat.open.note"));
  if (seat.kind === "bot") {
    const list = h(
      "select",
      { "aria-label": t("seat.level", { label }), "data-level": true, value: seat.level },
      bots.map((bot) => h("option", { value: bot.level }, levelName(bot.level))),
    );
    list.addEventListener("change", () => void (seat.level = list.value));
    return list;
  }
  const input = h("input", {
    "aria-label": t("seat.name", { label }),
    "data-name": true,
    placeholder: defaultName,
    maxlength: MAX_NAME_LENGTH,
    autocomplete: "off",
    value: seat.name,
  });
  input.addEventListener("input", () => void (seat.name = input.value));
  return input;
}
