/** The server's HTTP interface (docs/reference/http_and_websocket.md). */
import { hasText, language, t } from "./i18n.js";

/** @import {Bot, Game, Artwork, Me} from "./types.js" */

/** Starting a table may compile its rules first, which takes some seconds. */
const TIMEOUT = 45_000;

/** Why a request failed. `code` is the server's, or "offline" when nobody answered. */
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
let up = true;

/**
 * Hear when the server stops answering and when it answers again.
 * @param {(up: boolean) => void} listener
 */
export function onConnectionChange(listener) {
  listeners.add(listener);
}

/** @param {boolean} now */
function setConnected(now) {
  if (up === now) return;
  up = now;
  for (const listener of listeners) listener(now);
}

/**
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @returns {Promise<any>}
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
  const problem = await response.json().catch(() => null);
  // What stands between us and the server answers for it when it is away; the server itself says a code.
  if ([502, 503, 504].includes(response.status) && typeof problem?.code !== "string") {
    setConnected(false);
    throw new ApiError(response.status, "offline", response.statusText);
  }
  setConnected(true);
  if (!response.ok) {
    throw new ApiError(response.status, String(problem?.code ?? ""), String(problem?.detail ?? response.statusText));
  }
  return problem;
}

/** @param {string} path */
export const get = (path) => request("GET", path);

/**
 * @param {string} path
 * @param {unknown} [body]
 */
export async function post(path, body = {}) {
  // Who writes must be somebody: the first visit may not have been answered yet.
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

/** Take away a cookie that the server cannot read, so that the next request makes a new guest. */
export const deleteCookie = () => request("POST", "/api/me/leave", { everywhere: false });

/** @type {Map<string, Promise<any>>} */
const cache = new Map();

/**
 * Ask once and keep the answer; a failure is not kept.
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
export const getGames = () => getCached(`/api/games?lang=${language()}`);

/** @returns {Promise<Artwork>} */
export const getArtwork = () => getCached("/api/look");

/** @returns {Promise<Bot[]>} */
export const getBots = () => getCached("/api/bots");

/** @returns {Promise<Me>} */
export const getMe = () => getCached("/api/me");

/** After who we are has changed. */
export const invalidateMe = () => void cache.delete("/api/me");

/**
 * What went wrong, in words, and what to do next.
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
