/** Keyboard shortcuts. */
import { byId } from "../../shared/dom.js";
import { t } from "../../shared/i18n.js";
import { announce, withErrorToast } from "../../shared/toast.js";
import { toggleHistory } from "../panels/history.js";
import { toggleSound } from "../panels/sound.js";
import { replayKey } from "../replay/replay.js";
import { onSelectionChange, state } from "../state/store.js";
import { gainListText, tileName } from "../text.js";
import {
  activateTile,
  cancel,
  confirm,
  confirmablePick,
  moveTarget,
  putDownTile,
  requestHint,
  rotateTile,
  shownPick,
  shownPlacement,
  shownRotation,
} from "./selection.js";

/** @type {Record<string, {x: number, y: number}>} */
const ARROWS = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};

/** @typedef {typeof import("../panels/reading.js")} Reading */
/** Return a function that shows a dialog of the reading module. @param {(reading: Reading) => void} show */
const reading = (show) => withErrorToast(async () => show(await import("../panels/reading.js")));

let lastAnnounced = "";

export function startKeyboard() {
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
    if (document.querySelector("dialog[open]") || isTyping(event.target)) return;
    if (handleKey(event)) event.preventDefault();
  });
  onSelectionChange(announceSelection);
}

/** @param {EventTarget | null} target */
const isTyping = (target) => target instanceof Element && target.matches("input:not([type=range]), select, textarea");

/** @param {KeyboardEvent} event @returns {boolean} whether the key has been handled */
function handleKey({ key, target }) {
  if (state.replay && replayKey(key)) return true;
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
    const action = {
      r: () => rotateTile(1),
      R: () => rotateTile(-1),
      Escape: cancel,
      h: requestHint,
      l: () => toggleHistory(),
      m: toggleSound,
      b: reading(({ showBoardText }) => showBoardText()),
      s: reading(({ showScoreText }) => showScoreText()),
      "?": reading(({ showShortcuts }) => showShortcuts()),
    }[key.length === 1 && key !== "R" ? key.toLowerCase() : key];
    if (!action) return false;
    action();
  }
  return true;
}

/** Announce the selected tile, its target and its points to screen readers. */
function announceSelection() {
  const { selection, legal, view } = state;
  const placement = shownPlacement();
  const rotation = shownRotation();
  const pick = shownPick();
  if (selection.tile === null || !rotation || !legal) return void (lastAnnounced = "");
  const params = { tile: tileName(rotation.letters), place: placement?.target.name.replaceAll("-", "–") ?? "" };
  const points = pick === null ? "" : gainListText(view, legal.moves.gain[pick]);
  const text = placement
    ? t(selection.pending ? "table.say_set" : "table.say_aim", { ...params, points })
    : t("table.say_tile", { ...params, n: rotation.targets.length });
  if (text === lastAnnounced) return;
  lastAnnounced = text;
  announce(text);
}
