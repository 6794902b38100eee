/** Modal dialogs. */
import { h } from "./dom.js";
import { t } from "./i18n.js";

/**
 * Show a dialog and return the value of the chosen action, or null if it was closed.
 * @template Value
 * @param {{
 *   title: string, body?: Node | string, actions?: {label: string, value: Value, primary?: boolean}[], id?: string,
 * }} options
 * @returns {Promise<Value | null>}
 */
export function dialog({ title, body = "", actions = [], id }) {
  /** @type {Value | null} */
  let result = null;
  const heading = h("h2", { id: `dialog-${document.querySelectorAll("dialog").length}`, tabindex: "-1" }, title);
  const box = h(
    "dialog",
    { id, class: "sheet", "aria-labelledby": heading.id },
    h("div", { class: "sheet-top" }, heading, closeButton()),
    typeof body === "string" ? body && h("p", null, body) : body,
    actions.length > 0 &&
      h(
        "div",
        { class: "actions" },
        actions.map(({ label, value, primary }) => {
          const choose = () => {
            result = value;
            box.close();
          };
          return h(
            "button",
            { type: "button", class: primary ? "button button-primary" : "button", onclick: choose },
            label,
          );
        }),
      ),
  );
  document.body.append(box);
  closeOnBackdropClick(box);
  const focusedBefore = document.activeElement;
  box.showModal();
  const initialFocus = /** @type {HTMLElement | null} */ (box.querySelector("[autofocus], .actions .button-primary"));
  (initialFocus ?? heading).focus();
  return new Promise((resolve) => {
    box.addEventListener("close", () => {
      box.remove();
      if (focusedBefore instanceof HTMLElement) focusedBefore.focus();
      resolve(result);
    });
  });
}

/** Build the close button in the corner of a dialog. */
export function closeButton() {
  const close = () => button.closest("dialog")?.close();
  const button = h("button", { type: "button", class: "sheet-close", "aria-label": t("close"), onclick: close }, "×");
  return button;
}

/**
 * Close a dialog by a click on its backdrop. The click must begin there, since selecting text may end outside.
 * @param {HTMLDialogElement} box
 */
export function closeOnBackdropClick(box) {
  let onBackdrop = false;
  box.addEventListener("pointerdown", (event) => void (onBackdrop = event.target === box));
  box.addEventListener("click", (event) => onBackdrop && event.target === box && box.close());
}
