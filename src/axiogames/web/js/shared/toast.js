/** Toasts and announcements for screen readers. */
import { h } from "./dom.js";
import { t } from "./i18n.js";

const SHORT_DURATION = 6_000;
const LONG_DURATION = 12_000;

/**
 * Return a container for messages inside the open dialog, if there is one: elements outside of it are inert.
 * @param {string} id
 * @param {Record<string, string>} props
 */
function getOrCreateRegion(id, props) {
  const host = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document.body;
  const found = document.getElementById(id) ?? h("div", { id, ...props });
  if (found.parentElement !== host) host.append(found);
  return found;
}

/**
 * Show a message that disappears after some seconds, unless it is hovered or focused.
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
  // The new message replaces the same message.
  const shown = getOrCreateRegion("toasts", {});
  for (const other of shown.children) {
    if (other.querySelector("p")?.textContent === text) other.remove();
  }
  shown.append(box);
  let timer = 0;
  const leave = () => {
    timer = window.setTimeout(() => box.remove(), kind === "error" || action ? LONG_DURATION : SHORT_DURATION);
  };
  for (const event of ["pointerenter", "focusin"]) box.addEventListener(event, () => clearTimeout(timer));
  for (const event of ["pointerleave", "focusout"]) box.addEventListener(event, leave);
  leave();
}

/**
 * Announce a text to screen readers, politely.
 * @param {string} text
 */
export function announce(text) {
  const voice = getOrCreateRegion("voice", { class: "visually-hidden", "aria-live": "polite" });
  // A live region announces a text only if it has changed.
  voice.textContent = voice.textContent === text ? `${text}\u00a0` : text;
}

/** @param {string} text */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    toast(t("copied"));
  } catch {
    toast(t("table.copy_failed", { text }));
  }
}
