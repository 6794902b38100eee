/** Dialogs that show the board, the scores and the keyboard shortcuts as text. This module is loaded on demand. */
import { dialog } from "../../shared/dialog.js";
import { h } from "../../shared/dom.js";
import { t } from "../../shared/i18n.js";
import { state } from "../state/store.js";
import { cellsName, scoreText, symbolName, tileName } from "../text.js";

/** @import {View} from "../net/protocol.js" */

/** The shortcuts in the order of the help dialog. */
const SHORTCUTS = ["digits", "r", "arrows", "enter", "escape", "h", "s", "b", "l", "m", "help"];
const REPLAY_SHORTCUTS = ["replay_arrows", "replay_ends", "replay_space"];

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

/** The contents of the board as lines. @param {View} view @returns {string[]} */
function boardLines({ board, tiles, now: { pyramids } }) {
  const printed = board.printed.map(([letter, , , , cell]) => `${cell}: ${symbolName(letter)}`);
  const placed = [...tiles]
    .sort((a, b) => a.y - b.y || a.x - b.x)
    .map(({ tile, at }) => `${cellsName(at)}: ${tileName(tile)}`);
  return [
    ...(printed.length ? [t("table.board_printed", { list: printed.join("; ") })] : []),
    placed.length ? t("table.board_tiles", { n: placed.length, list: placed.join("; ") }) : t("table.board_empty"),
    ...(pyramids.length ? [t("table.board_pyramids", { n: pyramids.length, list: pyramids.join(", ") })] : []),
  ];
}
