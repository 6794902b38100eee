/** The menu of the table page. */
import { toggle } from "../../shared/controls.js";
import { closeButton, closeOnBackdropClick, dialog } from "../../shared/dialog.js";
import { h } from "../../shared/dom.js";
import { t } from "../../shared/i18n.js";
import { getSetting, setSetting } from "../../shared/settings.js";
import { copyText } from "../../shared/toast.js";
import { isLocalTable } from "../../local/ids.js";
import { postToTable } from "../net/requests.js";
import { openReplay } from "../replay/replay.js";
import { state } from "../state/store.js";
import { showBoardText, showScoreText, showShortcuts } from "./text-dialogs.js";

/** @typedef {{label: string, id?: string, run: () => void}} Item */

export async function openMenu() {
  const { table } = state.view;
  const close = () => box.close();
  const buttons = menuItems().map(({ label, id, run }) =>
    h("button", { type: "button", class: "menu-item", id: id ?? null, onclick: () => (close(), run()) }, label),
  );
  const switches = /** @type {const} */ (["confirm", "hold", "sound", "coach"]).map((name) =>
    toggle(`set-${name}`, t(`set.${name}`), t(`set.${name}.help`), getSetting(name), (on) => setSetting(name, on)),
  );
  const box = h(
    "dialog",
    { class: "sheet menu", "aria-labelledby": "menu-title" },
    h("div", { class: "sheet-top" }, h("h2", { id: "menu-title" }, table.name), closeButton()),
    h(
      "div",
      null,
      h("a", { class: "menu-item", href: "/" }, t("missing.home")),
      h("a", { class: "menu-item", href: `/rules/${table.game}`, target: "_blank" }, t("table.rules")),
      buttons,
    ),
    h("div", null, switches),
    table.commitment && h("p", { class: "small muted" }, t("table.fair"), " ", h("code", null, table.commitment)),
  );
  closeOnBackdropClick(box);
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
}

/** @returns {Item[]} */
function menuItems() {
  const { view } = state;
  const playing = view.table.status === "playing";
  /** @type {Item[]} */
  const items = [];
  // With a time limit, the server moves for absent players.
  const canCallBot = playing && view.yours.length > 0 && view.table.move_time === null;
  view.seats.forEach((seat, index) => {
    if (canCallBot && seat.kind === "person" && !seat.here && !view.yours.includes(index)) {
      items.push({ label: t("table.call_bot", { name: seat.name ?? "" }), run: () => void letBotPlay(index) });
    }
  });
  if (view.table.status === "over" && !state.replay) {
    items.push({ label: t("table.replay"), run: () => void openReplay() });
  }
  if (!isLocalTable(view.table.id)) {
    const address = new URL(`/t/${view.table.id}`, location.href).href;
    items.push({ label: t("table.copy_watch"), run: () => void copyText(address) });
  }
  items.push(
    { label: t("table.read_board"), run: showBoardText },
    { label: t("table.read_scores"), run: showScoreText },
    { label: t("table.shortcuts"), run: showShortcuts },
  );
  if (view.yours.length > 0 && (playing || view.table.status === "open")) {
    items.push({ label: t("table.leave"), id: "leave", run: () => void leaveTable() });
  }
  return items;
}

/** @param {number} seat */
async function letBotPlay(seat) {
  await postToTable(`seats/${seat}/bot`, {}, { not_allowed: "table.not_away" });
}

async function leaveTable() {
  const playing = state.view.table.status === "playing";
  const confirmed = await dialog({
    title: t("table.leave_sure"),
    body: t(playing ? "table.leave_why" : "table.leave_open"),
    actions: [
      { label: t("table.stay"), value: false },
      { label: t("table.leave"), value: true, primary: true },
    ],
  });
  if (confirmed && (await postToTable("leave"))) location.assign("/");
}
