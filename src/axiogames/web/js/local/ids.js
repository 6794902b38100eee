/** Ids of local tables: tables of this browser, which need no server. */

/** The server's ids never begin like this. */
export const LOCAL_PREFIX = "local-";

/** Return whether an id is that of a local table. @param {string} id */
export const isLocalTable = (id) => id.startsWith(LOCAL_PREFIX);

/** Load the code of local tables. */
export const importLocal = () => import("./connection.js");
