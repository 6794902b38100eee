/** The server's HTTP interface (docs/reference/http_and_websocket.md). */
import { hasWord, language, t } from "./i18n.js";

/** @import {Bot, Game, Look, Me} from "./types.js" */

/** Starting a table may compile its rules first, which takes some seconds. */
const PATIENCE = 45_000;

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

/** @type {Set<(up: boolean) => void>} */
const listeners = new Set();
let up = true;

/**
 * Hear when the server stops answering and when it answers again.
 * @param {(up: boolean) => void} listener
 */
export function onConnection(listener) {
  listeners.add(listener);
}

/** @param {boolean} now */
function connection(now) {
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
async function ask(method, path, body) {
  /** @type {Response} */
  let answer;
  try {
    answer = await fetch(path, {
      method,
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(PATIENCE),
    });
  } catch (reason) {
    connection(false);
    throw new ApiError(0, "offline", String(reason));
  }
  const told = await answer.json().catch(() => null);
  // What stands between us and the server answers for it when it is away; the server itself says a code.
  if ([502, 503, 504].includes(answer.status) && typeof told?.code !== "string") {
    connection(false);
    throw new ApiError(answer.status, "offline", answer.statusText);
  }
  connection(true);
  if (!answer.ok) {
    throw new ApiError(answer.status, String(told?.code ?? ""), String(told?.detail ?? answer.statusText));
  }
  return told;
}

/** @param {string} path */
export const get = (path) => ask("GET", path);

/**
 * @param {string} path
 * @param {unknown} [body]
 */
export async function post(path, body = {}) {
  // Who writes must be somebody: the first visit may not have been answered yet.
  await me();
  return ask("POST", path, body);
}

/**
 * @param {string} path
 * @param {unknown} body
 */
export async function patch(path, body) {
  await me();
  return ask("PATCH", path, body);
}

/**
 * @param {string} path
 * @param {unknown} body
 */
export async function remove(path, body) {
  await me();
  return ask("DELETE", path, body);
}

/** Take away a cookie that the server cannot read, so that the next request makes a new guest. */
export const dropCookie = () => ask("POST", "/api/me/leave", { everywhere: false });

/** @type {Map<string, Promise<any>>} */
const kept = new Map();

/**
 * Ask once and keep the answer; a failure is not kept.
 * @param {string} path
 * @returns {Promise<any>}
 */
function once(path) {
  const asked = kept.get(path);
  if (asked) return asked;
  const answer = get(path);
  kept.set(path, answer);
  answer.catch(() => kept.delete(path));
  return answer;
}

/** @returns {Promise<Game[]>} */
export const games = () => once(`/api/games?lang=${language()}`);

/** @returns {Promise<Look>} */
export const look = () => once("/api/look");

/** @returns {Promise<Bot[]>} */
export const bots = () => once("/api/bots");

/** @returns {Promise<Me>} */
export const me = () => once("/api/me");

/** After who we are has changed. */
export const forgetMe = () => void kept.delete("/api/me");

/**
 * What went wrong, in words, and what to do next.
 * @param {unknown} error
 * @returns {string}
 */
export function explain(error) {
  if (!(error instanceof ApiError)) return t("error.unknown");
  for (const key of [`error.${error.code}`, `error.${error.status}`]) {
    if (hasWord(key)) return t(key);
  }
  if (error.status >= 500) return t("error.server");
  return error.detail ? t("error.detail", { detail: error.detail }) : t("error.unknown");
}
