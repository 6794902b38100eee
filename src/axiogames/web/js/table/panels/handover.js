/** At a shared screen: nobody sees another one's tiles when the device goes round. */
import { byId } from "../../shared/dom.js";
import { t } from "../../shared/i18n.js";
import { awaited } from "../state/view.js";
import { state } from "../state/store.js";
import { fullName } from "../text.js";

/** @import {Order} from "../net/protocol.js" */

const curtain = () => /** @type {HTMLDialogElement} */ (byId("curtain"));

/** @param {(order: Order) => void} send */
export function startCurtain(send) {
  curtain().addEventListener("cancel", (event) => event.preventDefault());
  // A second Esc closes it all the same.
  curtain().addEventListener("close", drawCurtain);
  byId("curtain-lift").addEventListener("click", () => {
    const seat = awaited(state.view);
    if (seat !== null) send({ do: "look", seat });
  });
}

/** Called when all that has happened was shown: the points of the last move should be seen by both. */
export function drawCurtain() {
  const seat = state.replay ? null : awaited(state.view);
  if (seat === null) {
    if (curtain().open) curtain().close();
    return;
  }
  const name = fullName(state.view, seat);
  byId("curtain-title").textContent = t("table.pass_device", { name });
  byId("curtain-lift").textContent = t("table.i_am", { name });
  if (curtain().open) return;
  curtain().showModal();
  byId("curtain-lift").focus();
}
