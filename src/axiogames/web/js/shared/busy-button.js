/** Buttons that send a request. */
import { errorText } from "./api.js";
import { t } from "./i18n.js";
import { toast } from "./toast.js";

/**
 * Run a function while a button is marked as busy. Clicks on a busy button are ignored. An error is shown in a toast
 * with a button to retry.
 * @param {HTMLElement} button
 * @param {() => Promise<unknown>} work
 * @param {(text: string) => void} [onError] called with the error text instead of showing a toast
 */
export async function runBusy(button, work, onError) {
  if (button.getAttribute("aria-busy") === "true") return;
  button.setAttribute("aria-busy", "true");
  try {
    await work();
  } catch (error) {
    button.removeAttribute("aria-busy");
    const retry = { label: t("again"), run: () => void runBusy(button, work) };
    if (onError) onError(errorText(error));
    else toast(errorText(error), { kind: "error", action: retry });
    if (!("status" in Object(error))) console.error(error);
    return;
  }
  // The button stays busy while the next page loads.
  if (!leaving) button.removeAttribute("aria-busy");
}

let leaving = false;

/**
 * Open another page of the site.
 * @param {string} address
 */
export function navigate(address) {
  leaving = true;
  location.assign(address);
}

// The page was restored from the back/forward cache.
addEventListener("pageshow", () => {
  leaving = false;
  for (const button of document.querySelectorAll("[aria-busy=true]")) button.removeAttribute("aria-busy");
});
