/** The WebSocket of a table. Reconnects, and repeats commands that were not acknowledged under the same id. */

/** @import {Message, Command} from "./protocol.js" */

const PING_INTERVAL = 25_000;
const PONG_TIMEOUT = 10_000;
const MIN_RETRY = 400;
const MAX_RETRY = 10_000;
/** Milliseconds. A page that sleeps in the background is not notified of a lost connection. */
const MAX_SILENCE = 5_000;

/**
 * @param {string} table
 * @param {{
 *   seen: () => number | null,
 *   receive: (message: Message) => void,
 *   online: (yes: boolean) => void,
 *   closed: (code: number) => boolean,
 * }} handlers `seen` returns the number of the last entry, `closed` whether to reconnect
 */
export function connect(table, handlers) {
  /** @type {WebSocket | null} */
  let socket = null;
  /** Commands that were not answered yet, by id. @type {Map<string, Command>} */
  const pending = new Map();
  let retryDelay = MIN_RETRY;
  let retryTimer = 0;
  let pingTimer = 0;
  let pongTimer = 0;
  let lastReceived = Date.now();

  function open() {
    clearTimeout(retryTimer);
    if (socket) socket.onclose = socket.onmessage = socket.onopen = null;
    socket?.close();
    const seen = handlers.seen();
    const address = new URL(`/api/tables/${table}/live${seen === null ? "" : `?after=${seen}`}`, location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    socket = new WebSocket(address);
    socket.onopen = () => {
      lastReceived = Date.now();
      handlers.online(true);
      for (const order of pending.values()) transmit(order);
    };
    socket.onmessage = ({ data }) => {
      clearTimeout(pongTimer);
      lastReceived = Date.now();
      retryDelay = MIN_RETRY;
      /** @type {Message} */
      const message = JSON.parse(data);
      acknowledge(message);
      handlers.receive(message);
    };
    socket.onclose = ({ code }) => {
      handlers.online(false);
      if (handlers.closed(code)) scheduleRetry();
    };
  }

  function scheduleRetry() {
    clearTimeout(retryTimer);
    retryTimer = window.setTimeout(open, retryDelay * (0.7 + 0.6 * Math.random()));
    retryDelay = Math.min(MAX_RETRY, retryDelay * 1.7);
  }

  /** @param {Message} message */
  function acknowledge(message) {
    if (message.type === "view" || message.type === "step") {
      for (const [id, order] of pending) {
        // Any later entry means that the command was carried out or is out of date.
        if (id === message.ack || (order.n ?? 0) < message.n) pending.delete(id);
      }
    }
    if ((message.type === "refused" || message.type === "hint") && message.id) pending.delete(message.id);
  }

  /** @param {Command} order */
  function transmit(order) {
    if (socket?.readyState !== WebSocket.OPEN) return false;
    socket.send(JSON.stringify(order));
    return true;
  }

  function ping() {
    if (!transmit({ do: "ping" })) return;
    clearTimeout(pongTimer);
    pongTimer = window.setTimeout(reopen, PONG_TIMEOUT);
  }

  function reopen() {
    handlers.online(false);
    retryDelay = MIN_RETRY;
    open();
  }

  function onVisible() {
    if (document.hidden) return;
    if (socket?.readyState !== WebSocket.OPEN) reopen();
    else if (Date.now() - lastReceived > MAX_SILENCE) ping();
  }

  pingTimer = window.setInterval(ping, PING_INTERVAL);
  // The socket may be dead without having noticed.
  addEventListener("online", reopen);
  addEventListener("offline", () => handlers.online(false));
  document.addEventListener("visibilitychange", onVisible);
  open();

  return {
    /**
     * Send a command, at the latest after reconnecting. Unanswered commands are sent again under the same id, except
     * previews: there may be many, and all but the last are out of date.
     * @param {Command} order
     */
    send(order) {
      if (order.id && order.do !== "preview") pending.set(order.id, order);
      return transmit(order);
    },
    reopen,
    stop() {
      clearInterval(pingTimer);
      clearTimeout(pongTimer);
      clearTimeout(retryTimer);
      if (socket) socket.onclose = null;
      socket?.close();
    },
  };
}

/** A unique id for a command. */
export const newId = () => Array.from(crypto.getRandomValues(new Uint32Array(2)), (part) => part.toString(36)).join("");
