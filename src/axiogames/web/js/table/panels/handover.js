/** Pass and play: hides the hand while the device is handed over. */
import { byId } from "../../shared/dom.js";
import { t } from "../../shared/i18n.js";
import { seatToHandOver } from "../state/view.js";
import { state } from "../state/store.js";
import { fullName } from "../text.js";

/** @import {Command} from "../net/protocol.js" */

const handoverDialog = () => /** @type {HTMLDialogElement} */ (byId("handover"));

/** @param {(command: Command) => void} send */
export function startHandover(send) {
  handoverDialog().addEventListener("cancel", (event) => event.preventDefault());
  // Browsers close a dialog on the second Esc, so open it again.
  handoverDialog().addEventListener("close", renderHandover);
  byId("handover-confirm").addEventListener("click", () => {
    const seat = seatToHandOver(state.view);
    if (seat !== null) send({ do: "look", seat });
  });
}

/** Called when all steps have been rendered, so that both players see the points of the last move. */
export function renderHandover() {
  const seat = state.replay ? null : seatToHandOver(state.view);
  if (seat === null) {
    if (handoverDialog().open) handoverDialog().close();
    return;
  }
  const name = fullName(state.view, seat);
  byId("handover-title").textContent = t("table.pass_device", { name });
  byId("handover-confirm").textContent = t("table.i_am", { name });
  if (handoverDialog().open) return;
  handoverDialog().showModal();
  byId("handover-confirm").focus();
}
