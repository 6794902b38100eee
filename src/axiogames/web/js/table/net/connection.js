/** The WebSocket of the table. Reconnects, and repeats unacknowledged commands under the same id. */

/** @import {Message, Command} from "./protocol.js" */

/**
 * `lastEntry` returns the number of the last received entry, or null to request a whole view. `onClose` returns whether
 * to reconnect.
 * @typedef {{
 *   lastEntry: () => number | null,
 *   onMessage: (message: Message) => void,
 *   onStatusChange: (connected: boolean) => void,
 *   onClose: (code: number) => boolean,
 * }} Handlers
 */

/** All times are in milliseconds. */
const PING_INTERVAL = 25_000;
const PONG_TIMEOUT = 10_000;
const MIN_RETRY = 400;
const MAX_RETRY = 10_000;
/** A page that becomes visible after a longer silence pings the server, since it may have missed a lost connection. */
const MAX_SILENCE = 5_000;

let tableId = "";
/** @type {Handlers} */
let handlers = { lastEntry: () => null, onMessage() {}, onStatusChange() {}, onClose: () => false };
/** @type {WebSocket | null} */
let socket = null;
/** Unanswered commands by id. @type {Map<string, Command>} */
const pending = new Map();
/** What takes the place of the WebSocket at a table of this browser. @type {((command: Command) => void) | null} */
let localTable = null;
let retryDelay = MIN_RETRY;
let retryTimer = 0;
let pongTimer = 0;
let lastMessageTime = 0;

/** A unique id for a command. */
export const newId = () => Array.from(crypto.getRandomValues(new Uint32Array(2)), (part) => part.toString(36)).join("");

/**
 * Connect to a table and stay connected.
 * @param {string} id
 * @param {Handlers} callbacks
 */
export function connect(id, callbacks) {
  tableId = id;
  handlers = callbacks;
  lastMessageTime = Date.now();
  setInterval(ping, PING_INTERVAL);
  // A dead socket may not have been noticed yet.
  addEventListener("online", reconnect);
  addEventListener("offline", () => handlers.onStatusChange(false));
  document.addEventListener("visibilitychange", onVisible);
  open();
}

/**
 * Send a command now or after reconnecting. Unanswered commands are repeated under the same id, except previews:
 * there may be many, and all but the last are out of date.
 * @param {Command} command
 */
export function send(command) {
  if (localTable) return localTable(command);
  if (command.id && command.do !== "preview") pending.set(command.id, command);
  transmit(command);
}

/** Send all commands to a table of this browser. @param {(command: Command) => void} sendCommand */
export function connectLocally(sendCommand) {
  localTable = sendCommand;
}

/** Replace the socket with a new one, or request a view from a local table. */
export function reconnect() {
  if (localTable) return localTable({ do: "look" });
  handlers.onStatusChange(false);
  retryDelay = MIN_RETRY;
  open();
}

/** Close the socket, without reconnecting. */
export function disconnect() {
  clearTimeout(pongTimer);
  clearTimeout(retryTimer);
  if (socket) socket.onclose = null;
  socket?.close();
}

function open() {
  clearTimeout(retryTimer);
  if (socket) socket.onclose = socket.onmessage = socket.onopen = null;
  socket?.close();
  const last = handlers.lastEntry();
  const address = new URL(`/api/tables/${tableId}/live${last === null ? "" : `?after=${last}`}`, location.href);
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  socket = new WebSocket(address);
  socket.onopen = () => {
    lastMessageTime = Date.now();
    handlers.onStatusChange(true);
    for (const command of pending.values()) transmit(command);
  };
  socket.onmessage = ({ data }) => {
    clearTimeout(pongTimer);
    lastMessageTime = Date.now();
    retryDelay = MIN_RETRY;
    /** @type {Message} */
    const message = JSON.parse(data);
    acknowledge(message);
    handlers.onMessage(message);
  };
  socket.onclose = ({ code }) => {
    handlers.onStatusChange(false);
    if (handlers.onClose(code)) scheduleRetry();
  };
}

function scheduleRetry() {
  clearTimeout(retryTimer);
  retryTimer = window.setTimeout(open, retryDelay * (0.7 + 0.6 * Math.random()));
  retryDelay = Math.min(MAX_RETRY, retryDelay * 1.7);
}

/** Forget the commands that a message answers. @param {Message} message */
function acknowledge(message) {
  if (message.type === "view" || message.type === "step") {
    for (const [id, command] of pending) {
      // Any later entry means that the command was carried out or is out of date.
      if (id === message.ack || (command.n ?? 0) < message.n) pending.delete(id);
    }
  }
  if ((message.type === "refused" || message.type === "hint") && message.id) pending.delete(message.id);
}

/** Send a command if the socket is open. @param {Command} command @returns {boolean} whether it was sent */
function transmit(command) {
  if (socket?.readyState !== WebSocket.OPEN) return false;
  socket.send(JSON.stringify(command));
  return true;
}

function ping() {
  if (!transmit({ do: "ping" })) return;
  clearTimeout(pongTimer);
  pongTimer = window.setTimeout(reconnect, PONG_TIMEOUT);
}

function onVisible() {
  if (document.hidden) return;
  if (socket?.readyState !== WebSocket.OPEN) reconnect();
  else if (Date.now() - lastMessageTime > MAX_SILENCE) ping();
}
