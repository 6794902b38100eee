/** Client for the HTTP API (docs/reference/http_and_websocket.md). */
import { hasText, language, t } from "./i18n.js";

/** @import {Bot, Game, Home, Me} from "./types.js" */

/** Milliseconds. A request to a busy server takes seconds. */
const TIMEOUT = 45_000;

/** A failed request. `code` is the server's error code, or "offline" if there was no response. */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {string} code
   * @param {string} detail
   */
  constructor(status, code, detail) {
    super(detail);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.detail = detail;
  }
}

/** @type {Set<(connected: boolean) => void>} */
const listeners = new Set();
let connected = true;

/**
 * Call a function when the server becomes unreachable or reachable again.
 * @param {(connected: boolean) => void} listener
 */
export function onConnectionChange(listener) {
  listeners.add(listener);
}

/** @param {boolean} value */
function setConnected(value) {
  if (connected === value) return;
  connected = value;
  for (const listener of listeners) listener(connected);
}

/**
 * Send a request and return the decoded body of the response.
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @returns {Promise<any>} rejected with an `ApiError` on failure
 */
async function request(method, path, body) {
  /** @type {Response} */
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT),
    });
  } catch (reason) {
    setConnected(false);
    throw new ApiError(0, "offline", String(reason));
  }
  const data = await response.json().catch(() => null);
  // A proxy answers 502 to 504 when the server is down. The server's own 503 has an error code.
  if ([502, 503, 504].includes(response.status) && typeof data?.code !== "string") {
    setConnected(false);
    throw new ApiError(response.status, "offline", response.statusText);
  }
  setConnected(true);
  if (!response.ok) {
    throw new ApiError(response.status, String(data?.code ?? ""), String(data?.detail ?? response.statusText));
  }
  return data;
}

/** @param {string} path */
export const get = (path) => request("GET", path);

/**
 * @param {string} path
 * @param {unknown} [body]
 */
export async function post(path, body = {}) {
  // Requests that write need an identity, which GET /api/me creates on the first visit.
  await getMe();
  return request("POST", path, body);
}

/**
 * @param {string} path
 * @param {unknown} body
 */
export async function patch(path, body) {
  await getMe();
  return request("PATCH", path, body);
}

/**
 * @param {string} path
 * @param {unknown} body
 */
export async function remove(path, body) {
  await getMe();
  return request("DELETE", path, body);
}

/** Delete a cookie that the server rejects. The next request creates a new guest. */
export function deleteCookie() {
  remember(IDENTIFIED, null);
  return request("POST", "/api/me/leave", { everywhere: false });
}

/** Set in this tab once the server has identified the visitor. */
const IDENTIFIED = "identified";

/** Whether the server has identified the visitor, which gives a new visitor a cookie, on an earlier page of this tab. */
export const wasIdentified = () => recall(IDENTIFIED) !== null;

/**
 * Keep a value for the next pages of this tab or, in another storage, of this browser; null deletes it.
 * @param {string} key
 * @param {unknown} value
 */
function remember(key, value, storage = sessionStorage) {
  try {
    if (value === null) storage.removeItem(key);
    else storage.setItem(key, JSON.stringify(value));
  } catch {
    // Without storage, the next page requests it.
  }
}

/** Return a value of an earlier page of this tab, or null. @param {string} key */
function recall(key, storage = sessionStorage) {
  try {
    return JSON.parse(storage.getItem(key) ?? "null");
  } catch {
    return null;
  }
}

/** @type {Map<string, Promise<any>>} */
const cache = new Map();

/**
 * Send a GET request and cache the response unless it failed.
 * @param {string} path
 * @returns {Promise<any>}
 */
function getCached(path) {
  const cached = cache.get(path);
  if (cached) return cached;
  const response = get(path);
  cache.set(path, response);
  response.catch(() => cache.delete(path));
  return response;
}

/** @returns {Promise<Game[]>} */
export const getGames = () => getCached(gamesPath());

const gamesPath = () => `/api/games?lang=${language()}`;

/**
 * Return the games as the home page has last shown them in this tab, or request them.
 * @returns {Promise<Game[]>}
 */
export async function getRecentGames() {
  return getKnownGames() ?? getGames();
}

/** Return the games as the home page has last shown them, or null. @returns {Game[] | null} */
export const getKnownGames = () => recall(gamesPath(), localStorage);

/**
 * Return the data of the home page. It contains what other requests would return, which are then not sent.
 * @returns {Promise<Home>}
 */
export async function getHome() {
  /** @type {Home} */
  const home = await getCached(`/api/home?lang=${language()}`);
  cache.set("/api/me", Promise.resolve(home.me));
  cache.set(gamesPath(), Promise.resolve(home.games));
  remember(gamesPath(), home.games, localStorage);
  remember(IDENTIFIED, true);
  return home;
}

/** @returns {Promise<Bot[]>} */
export const getBots = () => getCached("/api/bots");

/** @returns {Promise<Me>} */
export const getMe = () => getCached("/api/me");

/** Discard the cached identity after it has changed. */
export const invalidateMe = () => void cache.delete("/api/me");

/**
 * Return the text for an error: what failed and what to do.
 * @param {unknown} error
 * @returns {string}
 */
export function errorText(error) {
  if (!(error instanceof ApiError)) return t("error.unknown");
  for (const key of [`error.${error.code}`, `error.${error.status}`]) {
    if (hasText(key)) return t(key);
  }
  if (error.status >= 500) return t("error.server");
  return error.detail ? t("error.detail", { detail: error.detail }) : t("error.unknown");
}
