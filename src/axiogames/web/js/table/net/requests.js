/** HTTP requests about the table. */
import { ApiError, errorText, post } from "../../shared/api.js";
import { t } from "../../shared/i18n.js";
import { toast } from "../../shared/toast.js";
import { state } from "../state/store.js";
import { receive } from "./messages.js";

/**
 * Send a POST request and show any error in a toast.
 * @param {string} path relative to the table
 * @param {object} [body]
 * @param {Record<string, string>} [errorKeys] keys of texts that replace the usual ones, by error code
 * @returns {Promise<any>} null on failure
 */
export async function postToTable(path, body = {}, errorKeys = {}) {
  try {
    const response = await post(`/api/tables/${state.view.table.id}/${path}`, body);
    if (response?.type === "view" || response?.seats) receive({ ...response, type: "view" });
    return response ?? {};
  } catch (error) {
    const key = error instanceof ApiError ? errorKeys[error.code] : undefined;
    toast(key ? t(key) : errorText(error), { kind: "error" });
    return null;
  }
}
