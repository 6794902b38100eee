/** Everything by keyboard. */
import { byId, h } from "../../shared/dom.js";
import { t } from "../../shared/i18n.js";
import { dialog } from "../../shared/dialog.js";
import { announce } from "../../shared/toast.js";
import { cancel, confirm, confirmable, ghost, setDown, shownPick, shownTurn, step } from "./selection.js";
import { touchTile, turnBy } from "./selection.js";
import { onChoice, state } from "../state/store.js";
import { boardLines, pickGain, scoreWords, tileName } from "../text.js";

/** @type {Record<string, {x: number, y: number}>} */
const ARROWS = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};

/** What a key does, in the order in which the help lists them. */
const HELP = ["digits", "r", "arrows", "enter", "escape", "h", "s", "b", "l", "m", "help"];
const REPLAY_HELP = ["replay_arrows", "replay_ends", "replay_space"];

let spoken = "";

/** @param {{hint: () => void, log: () => void, mute: () => void, replay: (key: string) => boolean}} does */
export function startKeys(does) {
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
    if (document.querySelector("dialog[open]") || isTyping(event.target)) return;
    if (handle(event, does)) event.preventDefault();
  });
  onChoice(speak);
}

/** @param {EventTarget | null} target */
const isTyping = (target) => target instanceof Element && target.matches("input:not([type=range]), select, textarea");

/**
 * @param {KeyboardEvent} event
 * @param {{hint: () => void, log: () => void, mute: () => void, replay: (key: string) => boolean}} does
 */
function handle(event, does) {
  const { key, target } = event;
  if (state.replay && does.replay(key)) return true;
  const onButton = target instanceof Element && target.matches("button, a, summary");
  if (/^[1-9]$/.test(key)) {
    touchTile(Number(key) - 1);
    byId("board").focus();
  } else if (key in ARROWS) {
    if (state.choice.tile === null) return false;
    step(ARROWS[key]);
    byId("board").focus();
  } else if (key === "Enter" || key === " ") {
    if (onButton) return false;
    if (confirmable() !== null) confirm();
    else setDown();
  } else {
    const act = {
      r: () => turnBy(1),
      R: () => turnBy(-1),
      Escape: cancel,
      h: does.hint,
      l: does.log,
      m: does.mute,
      b: readBoard,
      s: readScores,
      "?": showKeys,
    }[key.length === 1 && key !== "R" ? key.toLowerCase() : key];
    if (!act) return false;
    act();
  }
  return true;
}

/** Say where the ghost is and what it scores, to those who cannot see it. */
function speak() {
  const { choice, options, view } = state;
  const held = ghost();
  const turn = shownTurn();
  const pick = shownPick();
  if (choice.tile === null || !turn || !options) return void (spoken = "");
  const params = { tile: tileName(turn.letters), place: held?.target.name.replaceAll("-", "–") ?? "" };
  const points = pick === null ? "" : pickGain(view, options.moves.gain[pick]);
  const words = held
    ? t(choice.set ? "table.say_set" : "table.say_aim", { ...params, points })
    : t("table.say_tile", { ...params, n: turn.targets.length });
  if (words === spoken) return;
  spoken = words;
  announce(words);
}

export function readBoard() {
  const lines = boardLines(state.view).map((line) => h("p", null, line));
  void dialog({ title: t("table.read_board"), body: h("div", { class: "prose" }, lines) });
}

export function readScores() {
  const lines = state.view.seats.map((_, seat) => h("p", null, scoreWords(state.view, seat)));
  void dialog({ title: t("table.read_scores"), body: h("div", { class: "prose" }, lines) });
}

export function showKeys() {
  const rows = [...(state.replay ? REPLAY_HELP : []), ...HELP].flatMap((name) => [
    h("dt", null, t(`table.key_${name}`)),
    h("dd", null, t(`table.does_${name}`)),
  ]);
  void dialog({ title: t("table.shortcuts"), body: h("dl", { class: "keys" }, rows) });
}
