/** At a shared screen: nobody sees another one's tiles when the device goes round. */
import { byId } from "../../shared/dom.js";
import { t } from "../../shared/i18n.js";
import { seatToHandOver } from "../state/view.js";
import { state } from "../state/store.js";
import { fullName } from "../text.js";

/** @import {Command} from "../net/protocol.js" */

const handoverDialog = () => /** @type {HTMLDialogElement} */ (byId("curtain"));

/** @param {(command: Command) => void} send */
export function startHandover(send) {
  handoverDialog().addEventListener("cancel", (event) => event.preventDefault());
  // A second Esc closes it all the same.
  handoverDialog().addEventListener("close", renderHandover);
  byId("curtain-lift").addEventListener("click", () => {
    const seat = seatToHandOver(state.view);
    if (seat !== null) send({ do: "look", seat });
  });
}

/** Called when all that has happened was shown: the points of the last move should be seen by both. */
export function renderHandover() {
  const seat = state.replay ? null : seatToHandOver(state.view);
  if (seat === null) {
    if (handoverDialog().open) handoverDialog().close();
    return;
  }
  const name = fullName(state.view, seat);
  byId("curtain-title").textContent = t("table.pass_device", { name });
  byId("curtain-lift").textContent = t("table.i_am", { name });
  if (handoverDialog().open) return;
  handoverDialog().showModal();
  byId("curtain-lift").focus();
}
