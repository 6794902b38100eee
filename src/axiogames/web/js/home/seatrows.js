/** The seats of a planned table, one line each. */
import { h } from "../shell/dom.js";
import { levelName, t } from "../shell/i18n.js";

/** @import {Bot, Plan, PlannedSeat, SeatKind} from "../shell/types.js" */

const LONGEST_NAME = 24;

/** @type {SeatKind[]} */
const KINDS = ["bot", "open", "person"];

/**
 * @param {Plan} plan
 * @param {{levels: Bot[], myName: string, changed: () => void}} about `changed` when a seat has become another kind
 */
export function seatRows(plan, { levels, myName, changed }) {
  return plan.seats.map((seat, i) => {
    const label = t("seat.number", { seat: i + 1 });
    return h(
      "li",
      { class: "seat", "data-seat": i },
      seat.kind === "me" ? h("span", { class: "seat-kind" }, t("seat.me")) : kindChoice(seat, label, changed),
      detail(seat, label, levels, seat.kind === "me" ? myName : t("seat.person.name", { seat: i + 1 })),
    );
  });
}

/**
 * @param {PlannedSeat} seat
 * @param {string} label
 * @param {() => void} changed
 */
function kindChoice(seat, label, changed) {
  const select = h(
    "select",
    { "aria-label": t("seat.kind", { label }), "data-kind": true, value: seat.kind },
    KINDS.map((kind) => h("option", { value: kind }, t(`seat.${kind}`))),
  );
  select.addEventListener("change", () => {
    seat.kind = /** @type {SeatKind} */ (select.value);
    changed();
  });
  return select;
}

/**
 * What else there is to say about a seat: a name, or how well the bot plays.
 * @param {PlannedSeat} seat
 * @param {string} label
 * @param {Bot[]} levels
 * @param {string} usual the name if none is given
 */
function detail(seat, label, levels, usual) {
  if (seat.kind === "open") return h("span", { class: "muted small seat-note" }, t("seat.open.note"));
  if (seat.kind === "bot") {
    const select = h(
      "select",
      { "aria-label": t("seat.level", { label }), "data-level": true, value: seat.level },
      levels.map((bot) => h("option", { value: bot.level }, levelName(bot.level))),
    );
    select.addEventListener("change", () => void (seat.level = select.value));
    return select;
  }
  const input = h("input", {
    "aria-label": t("seat.name", { label }),
    "data-name": true,
    placeholder: usual,
    maxlength: LONGEST_NAME,
    autocomplete: "off",
    value: seat.name,
  });
  input.addEventListener("input", () => void (seat.name = input.value));
  return input;
}
