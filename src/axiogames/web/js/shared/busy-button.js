/** Buttons that ask the server for something. */
import { errorText } from "./api.js";
import { t } from "./i18n.js";
import { toast } from "./toast.js";

/**
 * Do something while a button shows that it is busy. A second click meanwhile does nothing, and a failure is
 * told in words, with a way to try again.
 * @param {HTMLElement} button
 * @param {() => Promise<unknown>} work
 * @param {(text: string) => void} [onError] instead of a message in passing
 */
export async function runBusy(button, work, onError) {
  if (button.getAttribute("aria-busy") === "true") return;
  button.setAttribute("aria-busy", "true");
  try {
    await work();
  } catch (error) {
    button.removeAttribute("aria-busy");
    const again = { label: t("again"), run: () => void runBusy(button, work) };
    if (onError) onError(errorText(error));
    else toast(errorText(error), { kind: "error", action: again });
    if (!("status" in Object(error))) console.error(error);
    return;
  }
  // While the next page loads the button stays busy.
  if (!leaving) button.removeAttribute("aria-busy");
}

let leaving = false;

/**
 * Go to another page of the site.
 * @param {string} address
 */
export function navigate(address) {
  leaving = true;
  location.assign(address);
}

// Back from there, by the browser's memory of the page.
addEventListener("pageshow", () => {
  leaving = false;
  for (const button of document.querySelectorAll("[aria-busy=true]")) button.removeAttribute("aria-busy");
});
