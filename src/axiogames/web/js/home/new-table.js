/** The dialog with the form for a new table. */
import { getBots, errorText, getGames, getMe, post } from "../shared/api.js";
import { runBusy, navigate } from "../shared/busy-button.js";
import { radioGroup, select, toggle } from "../shared/controls.js";
import { h } from "../shared/dom.js";
import { levelName, moveTimeName, t } from "../shared/i18n.js";
import { dialog } from "../shared/dialog.js";
import { toast } from "../shared/toast.js";
import { PRESETS, applyPreset, newPlan, findPreset, tableRequest, setPlayers } from "./table-plan.js";

/** @import {Bot, Game, TablePlan, PlannedSeat, Preset, SeatKind} from "../shared/types.js" */

const MAX_NAME_LENGTH = 24;

/** @type {SeatKind[]} */
const KINDS = ["bot", "open", "person"];

const DAY = 86_400;
/** Time limits per move in seconds; null for none. */
const MOVE_TIMES = [null, 60, 120, 300, DAY, 3 * DAY];

/** @param {string} [wanted] the id of a game; default: the first game */
export async function openNewTableDialog(wanted) {
  try {
    const [offered, levels, { name }] = await Promise.all([getGames(), getBots(), getMe()]);
    const game = offered.find(({ id }) => id === wanted) ?? offered[0];
    const level = (levels.find((bot) => bot.default) ?? levels[0]).level;
    await showForm(newPlan(game.id, level), { offered, levels, level, name });
  } catch (error) {
    toast(errorText(error), {
      kind: "error",
      action: { label: t("again"), run: () => void openNewTableDialog(wanted) },
    });
  }
}

/** @typedef {{offered: Game[], levels: Bot[], level: string, name: string}} Known `level` is the default, `name` the person's */

/**
 * @param {TablePlan} plan
 * @param {Known} known
 */
async function showForm(plan, known) {
  const body = h("div", { class: "stack" });
  const start = h("button", { class: "button button-primary", id: "new-start" });
  const problem = h("p", { class: "error-text", role: "alert" });

  /** Render the form again after a change that affects other controls. The focused control keeps the focus. */
  const render = () => {
    const used = document.activeElement?.id;
    body.replaceChildren(...formParts(plan, known, render));
    start.textContent = t(plan.seats.some(({ kind }) => kind === "open") ? "new.open" : "new.start");
    if (used) document.getElementById(used)?.focus();
  };
  const create = async () => {
    const { id } = await post(
      "/api/tables",
      tableRequest(plan, (seat) => t("seat.person.name", { seat })),
    );
    navigate(`/t/${id}`);
  };
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    problem.textContent = "";
    void runBusy(start, create, (text) => void (problem.textContent = text));
  };

  render();
  const form = h("form", { onsubmit: submit }, body, problem, h("div", { class: "actions sheet-bottom" }, start));
  await dialog({ id: "new-table", title: t("new.title"), body: form });
  // Reloading the page must not open the form again.
  history.replaceState(null, "", location.pathname);
}

/**
 * @param {TablePlan} plan
 * @param {Known} known
 * @param {() => void} draw
 */
function formParts(plan, { offered, levels, level, name }, draw) {
  const game = offered.find(({ id }) => id === plan.game) ?? offered[0];
  const counts = Array.from({ length: game.most_players }, (_, i) => String(i + 1));
  const seats = seatRows(plan, { levels, myName: name, changed: draw });
  return [
    select(
      "new-game",
      t("new.game"),
      offered.map((one) => [one.id, one.name]),
      plan.game,
      (id) => {
        plan.game = id;
        plan.options = {};
        const most = offered.find((one) => one.id === id)?.most_players ?? 1;
        if (plan.seats.length > most) setPlayers(plan, most, level);
        draw();
      },
    ),
    radioGroup(
      "preset",
      t("new.with"),
      PRESETS.map((one) => [one, t(`preset.${one}`)]),
      findPreset(plan) ?? "",
      (preset) => {
        applyPreset(plan, /** @type {Preset} */ (preset), level);
        draw();
      },
    ),
    radioGroup(
      "players",
      t("new.players"),
      counts.map((n) => [n, n]),
      String(plan.seats.length),
      (players) => {
        setPlayers(plan, Number(players), level);
        draw();
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
 * Options that apply only to several players.
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
    select("new-time", t("new.time"), times, String(plan.move_time ?? ""), (chosen) => {
      plan.move_time = chosen ? Number(chosen) : null;
    }),
  );
}

/**
 * @param {TablePlan} plan
 * @param {{levels: Bot[], myName: string, changed: () => void}} about `changed` is called when the kind of a seat changes
 */
function seatRows(plan, { levels, myName, changed }) {
  return plan.seats.map((seat, i) => {
    const label = t("seat.number", { seat: i + 1 });
    return h(
      "li",
      { class: "seat", "data-seat": i },
      seat.kind === "me" ? h("span", { class: "seat-kind" }, t("seat.me")) : kindSelect(seat, label, changed),
      seatDetail(seat, label, levels, seat.kind === "me" ? myName : t("seat.person.name", { seat: i + 1 })),
    );
  });
}

/**
 * @param {PlannedSeat} seat
 * @param {string} label
 * @param {() => void} changed
 */
function kindSelect(seat, label, changed) {
  const select = h(
    "select",
    { "aria-label": t("seat.kind", { label }), "data-kind": true, value: seat.kind },
    KINDS.map((kind) => h("option", { value: kind }, t(`seat.${kind}`))),
  );
  select.addEventListener("change", () => {
    seat.kind = /** @type {SeatKind} */ (select.value);
    changed();
  });
  return select;
}

/**
 * The level of a bot, or the name of a person.
 * @param {PlannedSeat} seat
 * @param {string} label
 * @param {Bot[]} levels
 * @param {string} usual the name if the person enters none
 */
function seatDetail(seat, label, levels, usual) {
  if (seat.kind === "open") return h("span", { class: "muted small seat-note" }, t("seat.open.note"));
  if (seat.kind === "bot") {
    const select = h(
      "select",
      { "aria-label": t("seat.level", { label }), "data-level": true, value: seat.level },
      levels.map((bot) => h("option", { value: bot.level }, levelName(bot.level))),
    );
    select.addEventListener("change", () => void (seat.level = select.value));
    return select;
  }
  const input = h("input", {
    "aria-label": t("seat.name", { label }),
    "data-name": true,
    placeholder: usual,
    maxlength: MAX_NAME_LENGTH,
    autocomplete: "off",
    value: seat.name,
  });
  input.addEventListener("input", () => void (seat.name = input.value));
  return input;
}
