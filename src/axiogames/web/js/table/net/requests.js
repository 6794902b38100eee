/** HTTP requests about the table. */
import { ApiError, errorText, post } from "../../shared/api.js";
import { t } from "../../shared/i18n.js";
import { toast } from "../../shared/toast.js";
import { importLocal, isLocalTable } from "../../local/ids.js";
import { state } from "../state/store.js";
import { receive } from "./messages.js";

/**
 * Send a POST request and show any error in a toast.
 * @param {string} path relative to the table
 * @param {object} [body]
 * @param {Record<string, string>} [errorKeys] keys of texts by error code, instead of the usual ones
 * @returns {Promise<any>} null on failure
 */
export async function postToTable(path, body = {}, errorKeys = {}) {
  const { id } = state.view.table;
  try {
    if (isLocalTable(id)) return await askLocalTable(path);
    const response = await post(`/api/tables/${id}/${path}`, body);
    if (response?.type === "view" || response?.seats) receive({ ...response, type: "view" });
    return response ?? {};
  } catch (error) {
    const key = error instanceof ApiError ? errorKeys[error.code] : undefined;
    toast(key ? t(key) : errorText(error), { kind: "error" });
    return null;
  }
}

/** Do what a request to the server would do. @param {string} path */
async function askLocalTable(path) {
  const { leaveLocalTable, localRematch } = await importLocal();
  if (path === "rematch") return { id: await localRematch() };
  if (path !== "leave") throw new Error(`a local table does not know ${path}`);
  await leaveLocalTable();
  return {};
}
