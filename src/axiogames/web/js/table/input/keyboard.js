/** Keyboard shortcuts. */
import { byId, h } from "../../shared/dom.js";
import { t } from "../../shared/i18n.js";
import { dialog } from "../../shared/dialog.js";
import { announce } from "../../shared/toast.js";
import {
  cancel,
  confirm,
  confirmablePick,
  shownPlacement,
  putDownTile,
  shownPick,
  shownRotation,
  moveTarget,
} from "./selection.js";
import { activateTile, rotateTile } from "./selection.js";
import { onSelectionChange, state } from "../state/store.js";
import { boardLines, gainListText, scoreText, tileName } from "../text.js";

/** @type {Record<string, {x: number, y: number}>} */
const ARROWS = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};

/** The shortcuts in the order of the help dialog. */
const SHORTCUTS = ["digits", "r", "arrows", "enter", "escape", "h", "s", "b", "l", "m", "help"];
const REPLAY_SHORTCUTS = ["replay_arrows", "replay_ends", "replay_space"];

let announced = "";

/** @param {{hint: () => void, log: () => void, mute: () => void, replay: (key: string) => boolean}} handlers */
export function startKeyboard(handlers) {
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
    if (document.querySelector("dialog[open]") || isTyping(event.target)) return;
    if (handle(event, handlers)) event.preventDefault();
  });
  onSelectionChange(announceSelection);
}

/** @param {EventTarget | null} target */
const isTyping = (target) => target instanceof Element && target.matches("input:not([type=range]), select, textarea");

/**
 * @param {KeyboardEvent} event
 * @param {{hint: () => void, log: () => void, mute: () => void, replay: (key: string) => boolean}} handlers
 */
function handle(event, handlers) {
  const { key, target } = event;
  if (state.replay && handlers.replay(key)) return true;
  const onButton = target instanceof Element && target.matches("button, a, summary");
  if (/^[1-9]$/.test(key)) {
    activateTile(Number(key) - 1);
    byId("board").focus();
  } else if (key in ARROWS) {
    if (state.selection.tile === null) return false;
    moveTarget(ARROWS[key]);
    byId("board").focus();
  } else if (key === "Enter" || key === " ") {
    if (onButton) return false;
    if (confirmablePick() !== null) confirm();
    else putDownTile();
  } else {
    const act = {
      r: () => rotateTile(1),
      R: () => rotateTile(-1),
      Escape: cancel,
      h: handlers.hint,
      l: handlers.log,
      m: handlers.mute,
      b: showBoardText,
      s: showScoreText,
      "?": showShortcuts,
    }[key.length === 1 && key !== "R" ? key.toLowerCase() : key];
    if (!act) return false;
    act();
  }
  return true;
}

/** Announce the target of the selected tile and its points to screen readers. */
function announceSelection() {
  const { selection, legal, view } = state;
  const placement = shownPlacement();
  const rotation = shownRotation();
  const pick = shownPick();
  if (selection.tile === null || !rotation || !legal) return void (announced = "");
  const params = { tile: tileName(rotation.letters), place: placement?.target.name.replaceAll("-", "–") ?? "" };
  const points = pick === null ? "" : gainListText(view, legal.moves.gain[pick]);
  const text = placement
    ? t(selection.pending ? "table.say_set" : "table.say_aim", { ...params, points })
    : t("table.say_tile", { ...params, n: rotation.targets.length });
  if (text === announced) return;
  announced = text;
  announce(text);
}

export function showBoardText() {
  const lines = boardLines(state.view).map((line) => h("p", null, line));
  void dialog({ title: t("table.read_board"), body: h("div", { class: "prose" }, lines) });
}

export function showScoreText() {
  const lines = state.view.seats.map((_, seat) => h("p", null, scoreText(state.view, seat)));
  void dialog({ title: t("table.read_scores"), body: h("div", { class: "prose" }, lines) });
}

export function showShortcuts() {
  const rows = [...(state.replay ? REPLAY_SHORTCUTS : []), ...SHORTCUTS].flatMap((name) => [
    h("dt", null, t(`table.key_${name}`)),
    h("dd", null, t(`table.does_${name}`)),
  ]);
  void dialog({ title: t("table.shortcuts"), body: h("dl", { class: "keys" }, rows) });
}
