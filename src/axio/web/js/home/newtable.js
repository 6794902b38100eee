/** The form for a new table, as a sheet over the home page. */
import { act, go } from "../shell/act.js";
import { bots, explain, games, me, post } from "../shell/api.js";
import { h } from "../shell/dom.js";
import { t } from "../shell/i18n.js";
import { closeBeside, closeButton, toast } from "../shell/say.js";
import { choice, select, toggle } from "../shell/controls.js";
import { PRESETS, applyPreset, newPlan, presetOf, request, setPlayers, waitsForOthers } from "./plan.js";
import { seatRows } from "./seatrows.js";
import { TIMES, timeName } from "./times.js";

/** @import {Bot, Game, Plan, Preset} from "../shell/types.js" */

/**
 * @param {string} [wanted] the id of a game; the first one if there is none of that id
 */
export async function openNewTable(wanted) {
  try {
    const [offered, levels, { name }] = await Promise.all([games(), bots(), me()]);
    const game = offered.find((one) => one.id === wanted) ?? offered[0];
    show(offered, levels, newPlan(game.id, usualLevel(levels)), name);
  } catch (error) {
    toast(explain(error), { kind: "error", action: { label: t("again"), run: () => void openNewTable(wanted) } });
  }
}

/** @param {Bot[]} levels */
const usualLevel = (levels) => (levels.find((bot) => bot.default) ?? levels[0]).level;

/**
 * @param {Game[]} offered
 * @param {Bot[]} levels
 * @param {Plan} plan
 * @param {string} myName
 */
function show(offered, levels, plan, myName) {
  const body = h("div", { class: "new-parts" });
  const start = h("button", { class: "button button-primary", id: "new-start" });
  const problem = h("p", { class: "error-text", id: "new-problem", role: "alert" });
  const form = h("form", null, body, problem, h("div", { class: "actions sheet-bottom" }, start));
  const title = h("h2", { id: "new-title", tabindex: "-1" }, t("new.title"));
  const box = h(
    "dialog",
    { class: "sheet", id: "new-table", "aria-labelledby": title.id },
    h("div", { class: "sheet-top" }, title, closeButton()),
    form,
  );

  /** Draw the form again where a choice changes what else can be chosen; the control in use keeps the focus. */
  const draw = () => {
    const used = document.activeElement?.id;
    body.replaceChildren(...parts(offered, levels, plan, myName, draw));
    start.textContent = t(waitsForOthers(plan) ? "new.open" : "new.start");
    if (used) document.getElementById(used)?.focus();
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    problem.textContent = "";
    const open = async () => {
      const { id } = await post("/api/tables", request(plan, (seat) => t("seat.person.name", { seat })));
      go(`/t/${id}`);
    };
    void act(start, open, (text) => void (problem.textContent = text));
  });
  const before = document.activeElement;
  box.addEventListener("close", () => {
    box.remove();
    if (before instanceof HTMLElement) before.focus();
    // Who reloads the page does not want the form again.
    history.replaceState(null, "", location.pathname);
  });
  document.body.append(box);
  closeBeside(box);
  draw();
  box.showModal();
  title.focus();
}

/**
 * @param {Game[]} offered
 * @param {Bot[]} levels
 * @param {Plan} plan
 * @param {string} myName
 * @param {() => void} draw
 */
function parts(offered, levels, plan, myName, draw) {
  const game = offered.find((one) => one.id === plan.game) ?? offered[0];
  const level = usualLevel(levels);
  const counts = Array.from({ length: game.most_players }, (_, i) => i + 1);
  const several = plan.seats.length > 1;
  return [
    select("new-game", t("new.game"), offered.map((one) => [one.id, one.name]), plan.game, (id) => {
      plan.game = id;
      plan.options = {};
      const most = offered.find((one) => one.id === id)?.most_players ?? plan.seats.length;
      if (plan.seats.length > most) setPlayers(plan, most, level);
      draw();
    }),
    choice("preset", t("new.with"), PRESETS.map((one) => [one, t(`preset.${one}`)]), presetOf(plan) ?? "", (preset) => {
      applyPreset(plan, /** @type {Preset} */ (preset), level);
      draw();
    }),
    choice("players", t("new.players"), counts.map((n) => [String(n), String(n)]), String(plan.seats.length), (players) => {
      setPlayers(plan, Number(players), level);
      draw();
    }),
    h(
      "ol",
      { role: "list", class: "seat-rows", "aria-label": t("new.seats") },
      seatRows(plan, { levels, myName, changed: draw }),
    ),
    game.options.length > 0 && options(game, plan),
    several && extras(plan),
  ].filter((part) => part !== false);
}

/**
 * @param {Game} game
 * @param {Plan} plan
 */
function options(game, plan) {
  return h(
    "fieldset",
    null,
    h("legend", null, t("new.options")),
    game.options.map(({ name, summary }) => {
      const text = summary.charAt(0).toUpperCase() + summary.slice(1);
      return toggle(`option-${name}`, text, "", Boolean(plan.options[name]), (on) => void (plan.options[name] = on));
    }),
  );
}

/**
 * What matters only where several play.
 * @param {Plan} plan
 */
function extras(plan) {
  const times = TIMES.map((seconds) => /** @type {[string, string]} */ ([String(seconds ?? ""), timeName(seconds)]));
  return h(
    "fieldset",
    { class: "new-extras" },
    h("legend", { class: "visually-hidden" }, t("new.extras")),
    toggle("new-public", t("new.public"), t("new.public.help"), plan.public, (on) => void (plan.public = on)),
    toggle("new-shuffle", t("new.shuffle"), t("new.shuffle.help"), plan.shuffle, (on) => void (plan.shuffle = on)),
    select("new-time", t("new.time"), times, String(plan.move_time ?? ""), (chosen) => {
      plan.move_time = chosen ? Number(chosen) : null;
    }),
  );
}
