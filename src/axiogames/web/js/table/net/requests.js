/** Requests about this table over HTTP. */
import { ApiError, errorText, post } from "../../shared/api.js";
import { t } from "../../shared/i18n.js";
import { toast } from "../../shared/toast.js";
import { state } from "../state/store.js";
import { receive } from "./messages.js";

/**
 * Send a POST request and show an error, if there is one.
 * @param {string} path relative to the table
 * @param {object} [body]
 * @param {Record<string, string>} [words] keys of special texts by error code
 * @returns {Promise<any>} null if it failed
 */
export async function postToTable(path, body = {}, words = {}) {
  try {
    const answer = await post(`/api/tables/${state.view.table.id}/${path}`, body);
    if (answer?.type === "view" || answer?.seats) receive({ ...answer, type: "view" });
    return answer ?? {};
  } catch (error) {
    const special = error instanceof ApiError ? words[error.code] : undefined;
    toast(special ? t(special) : errorText(error), { kind: "error" });
    return null;
  }
}
