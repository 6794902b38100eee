/** The tables of this browser in IndexedDB. Used by the page and by the worker of a table. */

/** @import {StoredTable} from "./types.js" */

const DATABASE = "local-tables";
const VERSION = 1;
const TABLES = "tables";
/** The most finished tables that are kept; the oldest are deleted. */
const MAX_FINISHED = 200;

/** @type {Promise<IDBDatabase> | null} */
let opened = null;

/** @returns {Promise<IDBDatabase>} */
function open() {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, VERSION);
    request.onupgradeneeded = () => {
      const tables = request.result.createObjectStore(TABLES, { keyPath: "id" });
      tables.createIndex("updated", "updated");
    };
    request.onsuccess = () => {
      // Another tab has a newer version of the page: let it upgrade.
      request.result.onversionchange = () => {
        request.result.close();
        opened = null;
      };
      request.result.onclose = () => (opened = null);
      resolve(request.result);
    };
    request.onerror = () => reject(request.error);
  });
  opened.catch(() => (opened = null));
  return opened;
}

/**
 * Run a transaction and return the result of its request once it has been committed.
 * @template Result
 * @param {IDBTransactionMode} mode
 * @param {(tables: IDBObjectStore) => IDBRequest<Result>} run
 * @returns {Promise<Result>}
 */
async function transact(mode, run) {
  const database = await open();
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(TABLES, mode);
    const request = run(transaction.objectStore(TABLES));
    transaction.oncomplete = () => resolve(request.result);
    transaction.onerror = transaction.onabort = () => reject(transaction.error ?? request.error);
  });
}

/** Return a table, or undefined. @param {string} id @returns {Promise<StoredTable | undefined>} */
export const loadTable = (id) => transact("readonly", (tables) => tables.get(id));

/** Return all tables. @returns {Promise<StoredTable[]>} */
export const loadTables = () => transact("readonly", (tables) => tables.getAll());

/**
 * Store a table. It fails if the stored one is not the previous revision: another tab has gone on with the game.
 * @param {StoredTable} table
 * @returns {Promise<void>}
 */
export async function storeTable(table) {
  const database = await open();
  return new Promise((resolve, reject) => {
    // Strict durability: a move is on the disk before the page shows it.
    const transaction = database.transaction(TABLES, "readwrite", { durability: "strict" });
    const tables = transaction.objectStore(TABLES);
    const known = tables.get(table.id);
    known.onsuccess = () => {
      if ((known.result?.revision ?? 0) === table.revision - 1) tables.put(table);
      else transaction.abort();
    };
    transaction.oncomplete = () => resolve();
    transaction.onerror = transaction.onabort = () =>
      reject(transaction.error ?? new Error("the table was changed in another tab"));
  });
}

/** @param {string} id */
export const deleteTable = async (id) => void (await transact("readwrite", (tables) => tables.delete(id)));

/** Delete the oldest finished tables beyond the limit. */
export async function deleteOldTables() {
  const finished = (await loadTables()).filter(({ over }) => over);
  finished.sort((a, b) => b.updated - a.updated);
  for (const { id } of finished.slice(MAX_FINISHED)) await deleteTable(id);
}

/** Ask the browser not to delete the tables when it needs space. It may ask the person, or refuse. */
export async function requestPersistence() {
  if (!(await navigator.storage?.persisted?.())) await navigator.storage?.persist?.();
}
