/** Telling people something: in passing, by voice, or in a dialog that asks. */
import { h } from "./dom.js";
import { t } from "./i18n.js";

const SHORT = 6_000;
const LONG = 12_000;

/**
 * Where a message can be seen and clicked: what lies outside an open dialog cannot.
 * @param {string} id
 * @param {Record<string, string>} props
 */
function region(id, props) {
  const host = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document.body;
  const found = document.getElementById(id) ?? h("div", { id, ...props });
  if (found.parentElement !== host) host.append(found);
  return found;
}

/**
 * A message that goes away by itself, though not while somebody points at it.
 * @param {string} text
 * @param {{kind?: "info" | "error", action?: {label: string, run: () => void}}} [how]
 */
export function toast(text, { kind = "info", action } = {}) {
  const act = () => {
    box.remove();
    action?.run();
  };
  const box = h(
    "div",
    { class: `toast toast-${kind}`, role: kind === "error" ? "alert" : "status" },
    h("p", null, text),
    action && h("button", { type: "button", class: "button button-quiet", onclick: act }, action.label),
    h("button", { type: "button", class: "toast-close", "aria-label": t("close"), onclick: () => box.remove() }, "×"),
  );
  // The same message twice tells nothing new.
  const shown = region("toasts", {});
  for (const other of shown.children) {
    if (other.querySelector("p")?.textContent === text) other.remove();
  }
  shown.append(box);
  let timer = 0;
  const leave = () => {
    timer = window.setTimeout(() => box.remove(), kind === "error" || action ? LONG : SHORT);
  };
  for (const event of ["pointerenter", "focusin"]) box.addEventListener(event, () => clearTimeout(timer));
  for (const event of ["pointerleave", "focusout"]) box.addEventListener(event, leave);
  leave();
}

/**
 * Tell those who listen instead of looking; waits until the voice has finished.
 * @param {string} text
 */
export function announce(text) {
  const voice = region("voice", { class: "visually-hidden", "aria-live": "polite" });
  // The same words again are only spoken if something has changed.
  voice.textContent = voice.textContent === text ? `${text}\u00a0` : text;
}

/**
 * Ask something. Esc, the cross and a click beside the dialog answer null.
 * @template Value
 * @param {{
 *   title: string, body?: Node | string, actions?: {label: string, value: Value, primary?: boolean}[], id?: string,
 * }} what
 * @returns {Promise<Value | null>}
 */
export function dialog({ title, body = "", actions = [], id }) {
  /** @type {Value | null} */
  let answer = null;
  const heading = h("h2", { id: `dialog-${document.querySelectorAll("dialog").length}`, tabindex: "-1" }, title);
  const box = h(
    "dialog",
    { id, class: "sheet", "aria-labelledby": heading.id },
    h("div", { class: "sheet-top" }, heading, closeButton()),
    typeof body === "string" ? body && h("p", null, body) : body,
    actions.length > 0 && h("div", { class: "actions" }, actions.map(({ label, value, primary }) => {
      const choose = () => {
        answer = value;
        box.close();
      };
      return h("button", { type: "button", class: primary ? "button button-primary" : "button", onclick: choose }, label);
    })),
  );
  document.body.append(box);
  closeBeside(box);
  const before = document.activeElement;
  box.showModal();
  const first = /** @type {HTMLElement | null} */ (box.querySelector("[autofocus], .actions .button-primary"));
  (first ?? heading).focus();
  return new Promise((resolve) => {
    box.addEventListener("close", () => {
      box.remove();
      if (before instanceof HTMLElement) before.focus();
      resolve(answer);
    });
  });
}

/** The cross in the corner of a dialog. */
export function closeButton() {
  const close = () => button.closest("dialog")?.close();
  const button = h("button", { type: "button", class: "sheet-close", "aria-label": t("close"), onclick: close }, "×");
  return button;
}

/**
 * A click beside a dialog closes it. It must begin there, too: a text selected by dragging may end outside.
 * @param {HTMLDialogElement} box
 */
export function closeBeside(box) {
  let beside = false;
  box.addEventListener("pointerdown", (event) => void (beside = event.target === box));
  box.addEventListener("click", (event) => beside && event.target === box && box.close());
}
