/** The lobby of a table that waits for players: seats, invite link, bots. */
import { getBots, getMe } from "../../shared/api.js";
import { byId, h } from "../../shared/dom.js";
import { levelName, t } from "../../shared/i18n.js";
import { copyText } from "../../shared/toast.js";
import { postToTable } from "../net/requests.js";
import { onViewChange, state } from "../state/store.js";
import { isInLobby } from "../state/view.js";
import { fullName } from "../text.js";

/** @import {Bot} from "../../shared/types.js" */
/** @import {View} from "../net/protocol.js" */

const inviteCode = () => new URLSearchParams(location.hash.slice(1)).get("invite");

let renderedState = "";

export function startLobby() {
  onViewChange(() => void render());
  void render();
}

async function render() {
  const { view } = state;
  // Render only when the lobby itself has changed, since rendering discards the input of forms.
  const newState = JSON.stringify([view.table, view.seats, view.yours]);
  if (!isInLobby(view) || newState === renderedState) return;
  renderedState = newState;
  const bots = await getBots().catch(() => []);
  const person = await getMe().catch(() => ({ name: "" }));
  byId("lobby-title").textContent = t(`table.room_${view.table.status}`);
  byId("lobby-lead").textContent = leadText(view);
  byId("lobby-seats").replaceChildren(...view.seats.map((_, seat) => seatRow(view, seat, bots, person.name)));
  const link = view.table.invite && new URL(`/t/${view.table.id}#invite=${view.table.invite}`, location.href).href;
  byId("invite").hidden = !link;
  if (link) renderInvite(link);
}

/** @param {View} view */
function leadText(view) {
  if (view.table.status === "closed") return t("table.closed_lead");
  if (isInvited(view)) return t("table.invited_lead");
  if (view.seats.some(({ invited }) => invited)) return t("table.rematch_lead");
  if (view.yours.length) return t("table.waiting_lead");
  return canJoin(view) ? t("table.join_lead") : t("table.look_lead");
}

/** Return whether this person is invited and has not accepted yet. @param {View} view */
const isInvited = (view) => view.table.status === "open" && view.yours.some((seat) => view.seats[seat].invited);

/** @param {View} view */
const canJoin = ({ table, yours }) =>
  table.status === "open" && yours.length === 0 && (table.public || table.host || inviteCode() !== null);

/** @param {View} view @param {number} seat @param {Bot[]} bots @param {string} name */
function seatRow(view, seat, bots, name) {
  const { kind, invited } = view.seats[seat];
  const open = view.table.status === "open";
  const free = kind === "open" && open;
  const yours = view.yours.includes(seat);
  const label = h("b", null, fullName(view, seat));
  const note = seatNote(view, seat);
  const heading = h("p", null, label, note && h("small", null, note));
  const row = h("li", { class: "card lobby-seat", "data-seat": seat }, heading);
  if (free && canJoin(view)) row.append(joinForm(seat, name));
  if (open && invited && yours) row.append(invitationForm());
  if ((free || (open && invited && !yours)) && view.table.host && bots.length) row.append(botForm(seat, bots));
  if (open && kind !== "open" && !yours && view.table.host) row.append(removeButton(view, seat));
  return row;
}

/** @param {View} view @param {number} seat */
function removeButton(view, seat) {
  const label = t("table.remove.label", { name: fullName(view, seat) });
  const remove = () => void postToTable(`seats/${seat}/remove`);
  return h(
    "button",
    { type: "button", class: "button", "data-remove": seat, "aria-label": label, onclick: remove },
    t("table.remove"),
  );
}

/** @param {View} view @param {number} seat */
function seatNote(view, seat) {
  const { kind, here, invited } = view.seats[seat];
  if (view.yours.includes(seat)) return t("table.you");
  if (invited) return t("table.invited");
  return kind === "person" && !here ? t("table.away") : "";
}

/** The buttons to accept or decline an invitation. */
function invitationForm() {
  const accept = (/** @type {Event} */ event) => {
    event.preventDefault();
    void postToTable("join");
  };
  const decline = async () => (await postToTable("leave")) && location.assign("/");
  return h(
    "form",
    { class: "lobby-form", onsubmit: accept },
    h("button", { class: "button button-primary", id: "accept" }, t("table.accept")),
    h("button", { type: "button", class: "button", id: "decline", onclick: () => void decline() }, t("table.decline")),
  );
}

/** @param {number} seat @param {string} name */
function joinForm(seat, name) {
  const label = t("table.your_name");
  const props = { maxlength: 24, required: true, autocomplete: "nickname", "aria-label": label };
  const field = h("input", { ...props, value: name });
  const join = (/** @type {Event} */ event) => {
    event.preventDefault();
    void postToTable("join", { invite: inviteCode(), seat, name: field.value.trim() || null });
  };
  const button = h("button", { class: "button button-primary", "data-sit": seat }, t("table.sit_down"));
  return h("form", { class: "lobby-form", onsubmit: join }, field, button);
}

/** @param {number} seat @param {Bot[]} bots */
function botForm(seat, bots) {
  const options = bots.map(({ level }) => h("option", { value: level }, levelName(level)));
  const defaultLevel = bots.find((bot) => bot.default)?.level ?? bots[0].level;
  const select = h("select", { "aria-label": t("table.bot_level"), value: defaultLevel }, options);
  const seatBot = (/** @type {Event} */ event) => {
    event.preventDefault();
    void postToTable(`seats/${seat}/bot`, { level: select.value }, { seat_taken: "table.seat_kept" });
  };
  const button = h("button", { class: "button", "data-bot": seat }, t("table.put_bot"));
  return h("form", { class: "lobby-form", onsubmit: seatBot }, select, button);
}

/** @param {string} link */
function renderInvite(link) {
  const select = () => field.select();
  const label = t("table.invite_link");
  const field = h("input", { id: "invite-link", readonly: true, value: link, "aria-label": label, onfocus: select });
  const share = () => void navigator.share({ title: document.title, url: link }).catch(() => {});
  byId("invite-parts").replaceChildren(
    field,
    h("button", { id: "invite-copy", class: "button button-primary", onclick: () => void copyText(link) }, t("copy")),
    "share" in navigator ? h("button", { type: "button", class: "button", onclick: share }, t("table.share")) : "",
  );
}
