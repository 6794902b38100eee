import { act } from "../shell/act.js";
import { byId } from "../shell/dom.js";

/**
 * Send a form of the page. What goes wrong is said in the form, beside what was typed.
 * @param {string} id
 * @param {(values: Record<string, string>) => Promise<void>} send
 */
export function onSubmit(id, send) {
  /** @type {HTMLFormElement} */
  const form = byId(id);
  const problem = form.querySelector(".error-text");
  const button = form.querySelector("button");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!problem || !button) return;
    problem.textContent = "";
    const values = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));
    const work = async () => {
      await send(values);
      // A password stays on the page no longer than it is needed.
      for (const secret of form.querySelectorAll("[type=password], [name=phrase]")) {
        /** @type {HTMLInputElement} */ (secret).value = "";
      }
    };
    void act(button, work, (text) => void (problem.textContent = text));
  });
}
