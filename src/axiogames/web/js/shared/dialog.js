/** Modal dialogs. */
import { h } from "./dom.js";
import { t } from "./i18n.js";

/**
 * Show a dialog and return the value of the chosen action, or null if it was closed.
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
    actions.length > 0 &&
      h(
        "div",
        { class: "actions" },
        actions.map(({ label, value, primary }) => {
          const choose = () => {
            answer = value;
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

/** The close button in the corner of a dialog. */
export function closeButton() {
  const close = () => button.closest("dialog")?.close();
  const button = h("button", { type: "button", class: "sheet-close", "aria-label": t("close"), onclick: close }, "×");
  return button;
}

/**
 * Close a dialog on a click on its backdrop. The click must begin there: selecting text may end outside.
 * @param {HTMLDialogElement} box
 */
export function closeOnBackdropClick(box) {
  let onBackdrop = false;
  box.addEventListener("pointerdown", (event) => void (onBackdrop = event.target === box));
  box.addEventListener("click", (event) => onBackdrop && event.target === box && box.close());
}
