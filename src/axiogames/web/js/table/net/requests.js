/** Requests about this table over HTTP. */
import { ApiError, errorText, post } from "../../shared/api.js";
import { t } from "../../shared/i18n.js";
import { toast } from "../../shared/toast.js";
import { state } from "../state/store.js";
import { receive } from "./messages.js";

/**
 * Ask the server for something, and say in words what came of it.
 * @param {string} path below the table
 * @param {object} [body]
 * @param {Record<string, string>} [words] what to say where a code means something special here
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
