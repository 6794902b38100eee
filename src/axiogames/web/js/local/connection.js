/**
 * The connection to a local table. It takes the place of the WebSocket: commands go to the table's worker, and its
 * messages are those of a server.
 */
import { ApiError, getRecentGames } from "../shared/api.js";
import { loadRules, rulesDigest, variantName } from "../rules/files.js";
import { LOCAL_PREFIX } from "./ids.js";
import { deleteOldTables, deleteTable, loadTable, requestPersistence, storeTable } from "./store.js";

/** @import {Command, Message, StoredTable, TableRequest, WorkerMessage} from "./types.js" */
/** @import {Step, View} from "../table/net/protocol.js" */

/** @type {Worker | null} */
let worker = null;
/** @type {StoredTable | null} */
let stored = null;
/** @type {(message: Message) => void} */
let onMessage = () => {};
/** Wait for answers of the worker, in order. @type {((answer: any) => void)[]} */
const waiting = [];

/**
 * Store a new table and return its id.
 * @param {Pick<StoredTable, "game" | "players" | "options" | "seats">} config
 */
export async function createLocalTable(config) {
  const rules = rulesDigest(variantName(config.game, config.players, config.options));
  if (!rules) throw new ApiError(404, "unknown_game", "");
  const id = LOCAL_PREFIX + Array.from(crypto.getRandomValues(new Uint32Array(3)), (part) => part.toString(36)).join("");
  const now = Date.now();
  await storeTable({
    ...config,
    id,
    rules,
    actions: [],
    moves: 0,
    held: null,
    over: false,
    created: now,
    updated: now,
    next: null,
    revision: 1,
  });
  void requestPersistence().catch(() => {});
  void deleteOldTables().catch(() => {}); // they are deleted next time
  return id;
}

/**
 * Open a table in a worker and return its first view.
 * @param {string} id
 * @param {{onMessage: (message: Message) => void, onTaken: () => void}} handlers `onTaken` is called when another tab
 *   opens the table
 * @returns {Promise<View>}
 */
export async function openLocalTable(id, handlers) {
  const found = await loadTable(id);
  if (!found) throw new ApiError(404, "no_such_table", "");
  stored = found;
  const rules = await loadRules(variantName(found.game, found.players, found.options));
  // A game that began under other rules cannot go on: its actions may mean something else.
  if (rules.rules !== found.rules) throw new ApiError(409, "other_rules", "");
  const games = await getRecentGames().catch(() => []);
  const title = games.find((game) => game.id === found.game)?.name ?? found.game;
  const started = new Worker(new URL("./table-worker.js", import.meta.url), { type: "module" });
  worker = started;
  return new Promise((resolve, reject) => {
    let opened = false;
    started.onerror = (event) => reject(new Error(event.message));
    started.onmessage = ({ data }) => {
      /** @type {WorkerMessage} */
      const message = data;
      if (message.type === "answer") return void waiting.shift()?.(message.answer);
      if (message.type === "busy") return handlers.onTaken();
      if (message.type === "failed") return opened ? onMessage(failure(message.detail)) : reject(new Error(message.detail));
      if (opened) return onMessage(message);
      opened = true;
      onMessage = handlers.onMessage;
      resolve(/** @type {View} */ (message));
    };
    request({ type: "open", id, title, module: rules.module, data: rules.data });
  });
}

/** @param {string} detail @returns {Message} */
const failure = (detail) => ({ type: "refused", id: null, code: "unavailable", detail, view: null });

/** @param {TableRequest} message */
const request = (message) => worker?.postMessage(message);

/** Send a command to the table. @param {Command} command */
export const sendToLocalTable = (command) => request({ type: "command", command });

/** Return the record of the game. @returns {Promise<object>} */
export const localRecord = () => ask("record");

/** Return the replay of the finished game. @returns {Promise<{view: View, steps: Step[]}>} */
export const localReplay = () => ask("replay");

/** @param {"record" | "replay"} type @returns {Promise<any>} */
function ask(type) {
  return new Promise((resolve) => {
    waiting.push(resolve);
    request({ type });
  });
}

/** Return the id of the rematch, a table with the same seats in which the next seat begins. */
export async function localRematch() {
  const { id, game, players, options, seats, next } = /** @type {StoredTable} */ (stored);
  const known = next ?? (await loadTable(id))?.next;
  if (known) return known;
  const rotated = [...seats.slice(1), ...seats.slice(0, 1)];
  const created = await createLocalTable({ game, players, options, seats: rotated });
  request({ type: "update", changes: { next: created } });
  return created;
}

/** End an unfinished game: its table is deleted. */
export async function leaveLocalTable() {
  worker?.terminate();
  if (stored) await deleteTable(stored.id);
}

