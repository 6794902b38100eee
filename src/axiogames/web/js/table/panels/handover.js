/** The dialog that hides the hand while the device is handed over (pass and play). */
import { byId } from "../../shared/dom.js";
import { t } from "../../shared/i18n.js";
import { send } from "../net/connection.js";
import { state } from "../state/store.js";
import { seatToHandOver } from "../state/view.js";
import { fullName } from "../text.js";

const handoverDialog = () => /** @type {HTMLDialogElement} */ (byId("handover"));

export function startHandover() {
  handoverDialog().addEventListener("cancel", (event) => event.preventDefault());
  // Browsers close a dialog on the second Esc, so open it again.
  handoverDialog().addEventListener("close", renderHandover);
  byId("handover-confirm").addEventListener("click", () => {
    const seat = seatToHandOver(state.view);
    if (seat !== null) send({ do: "look", seat });
  });
}

/** Open or close the dialog. Called after all steps have been rendered, so that both players see the last move. */
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
