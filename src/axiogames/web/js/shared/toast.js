/** Telling people something: in passing, by voice, or in a dialog that asks. */
import { h } from "./dom.js";
import { t } from "./i18n.js";

const SHORT_DURATION = 6_000;
const LONG_DURATION = 12_000;

/**
 * Where a message can be seen and clicked: what lies outside an open dialog cannot.
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
 * Tell those who listen instead of looking; waits until the voice has finished.
 * @param {string} text
 */
export function announce(text) {
  const voice = getOrCreateRegion("voice", { class: "visually-hidden", "aria-live": "polite" });
  // The same words again are only spoken if something has changed.
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
