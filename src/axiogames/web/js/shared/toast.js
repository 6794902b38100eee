/** Toasts and announcements for screen readers. */
import { errorText } from "./api.js";
import { h } from "./dom.js";
import { t } from "./i18n.js";

const SHORT_DURATION = 6_000;
const LONG_DURATION = 12_000;

/**
 * Return a container for messages, inside the open dialog if there is one, since elements outside of it are inert.
 * @param {string} id
 * @param {Record<string, string>} props
 */
function getOrCreateRegion(id, props) {
  const host = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document.body;
  const region = document.getElementById(id) ?? h("div", { id, ...props });
  if (region.parentElement !== host) host.append(region);
  return region;
}

/**
 * Show a message that disappears after some seconds, but not while it is hovered or focused.
 * @param {string} text
 * @param {{kind?: "info" | "error", action?: {label: string, run: () => void}}} [options]
 */
export function toast(text, { kind = "info", action } = {}) {
  const runAction = () => {
    box.remove();
    action?.run();
  };
  const box = h(
    "div",
    { class: `toast toast-${kind}`, role: kind === "error" ? "alert" : "status" },
    h("p", null, text),
    action && h("button", { type: "button", class: "button button-quiet", onclick: runAction }, action.label),
    h("button", { type: "button", class: "toast-close", "aria-label": t("close"), onclick: () => box.remove() }, "×"),
  );
  // A repeated message replaces the earlier one.
  const toasts = getOrCreateRegion("toasts", {});
  for (const other of toasts.children) {
    if (other.querySelector("p")?.textContent === text) other.remove();
  }
  toasts.append(box);
  let timer = 0;
  const startTimer = () => {
    timer = window.setTimeout(() => box.remove(), kind === "error" || action ? LONG_DURATION : SHORT_DURATION);
  };
  for (const event of ["pointerenter", "focusin"]) box.addEventListener(event, () => clearTimeout(timer));
  for (const event of ["pointerleave", "focusout"]) box.addEventListener(event, startTimer);
  startTimer();
}

/** Wrap a function so that its error is shown as a toast. @param {() => Promise<void>} work */
export const withErrorToast = (work) => () => void work().catch((error) => toast(errorText(error), { kind: "error" }));

/**
 * Announce a text to screen readers, politely.
 * @param {string} text
 */
export function announce(text) {
  const region = getOrCreateRegion("announcement", { class: "visually-hidden", "aria-live": "polite" });
  // A live region announces a text only if it has changed.
  region.textContent = region.textContent === text ? `${text}\u00a0` : text;
}

/** Copy a text to the clipboard and confirm it. @param {string} text */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    toast(t("copied"));
  } catch {
    toast(t("table.copy_failed", { text }));
  }
}
