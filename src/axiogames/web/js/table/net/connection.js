/** The WebSocket of a table: kept alive, opened again when it is lost, and nothing said twice or forgotten. */

/** @import {Message, Order} from "./protocol.js" */

const PING = 25_000;
const PATIENCE = 10_000;
const SHORTEST = 400;
const LONGEST = 10_000;
/** A page that sleeps in the background loses its connection without being told. */
const ASLEEP = 5_000;

/**
 * @param {string} table
 * @param {{
 *   seen: () => number | null,
 *   receive: (message: Message) => void,
 *   online: (yes: boolean) => void,
 *   closed: (code: number) => boolean,
 * }} ends `seen` is the number of the last entry, `closed` says whether to try again
 */
export function connect(table, ends) {
  /** @type {WebSocket | null} */
  let socket = null;
  /** What somebody waits for, until it is answered. @type {Map<string, Order>} */
  const unanswered = new Map();
  let wait = SHORTEST;
  let retry = 0;
  let pinging = 0;
  let overdue = 0;
  let heard = Date.now();

  function open() {
    clearTimeout(retry);
    if (socket) socket.onclose = socket.onmessage = socket.onopen = null;
    socket?.close();
    const seen = ends.seen();
    const address = new URL(`/api/tables/${table}/live${seen === null ? "" : `?after=${seen}`}`, location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    socket = new WebSocket(address);
    socket.onopen = () => {
      heard = Date.now();
      ends.online(true);
      for (const order of unanswered.values()) tell(order);
    };
    socket.onmessage = ({ data }) => {
      clearTimeout(overdue);
      heard = Date.now();
      wait = SHORTEST;
      /** @type {Message} */
      const message = JSON.parse(data);
      settle(message);
      ends.receive(message);
    };
    socket.onclose = ({ code }) => {
      ends.online(false);
      if (ends.closed(code)) later();
    };
  }

  function later() {
    clearTimeout(retry);
    retry = window.setTimeout(open, wait * (0.7 + 0.6 * Math.random()));
    wait = Math.min(LONGEST, wait * 1.7);
  }

  /** @param {Message} message */
  function settle(message) {
    if (message.type === "view" || message.type === "step") {
      for (const [id, order] of unanswered) {
        // Once anything has happened after it, an order was carried out or is out of date.
        if (id === message.ack || (order.n ?? 0) < message.n) unanswered.delete(id);
      }
    }
    if ((message.type === "refused" || message.type === "hint") && message.id) unanswered.delete(message.id);
  }

  /** @param {Order} order */
  function tell(order) {
    if (socket?.readyState !== WebSocket.OPEN) return false;
    socket.send(JSON.stringify(order));
    return true;
  }

  function ping() {
    if (!tell({ do: "ping" })) return;
    clearTimeout(overdue);
    overdue = window.setTimeout(reopen, PATIENCE);
  }

  function reopen() {
    ends.online(false);
    wait = SHORTEST;
    open();
  }

  function wake() {
    if (document.hidden) return;
    if (socket?.readyState !== WebSocket.OPEN) reopen();
    else if (Date.now() - heard > ASLEEP) ping();
  }

  pinging = window.setInterval(ping, PING);
  // The socket may be dead without knowing it.
  addEventListener("online", reopen);
  addEventListener("offline", () => ends.online(false));
  document.addEventListener("visibilitychange", wake);
  open();

  return {
    /**
     * Say something; without a connection as soon as there is one, and after a lost one again under the same id.
     * Previews are not: there may be many, and all but the last are out of date.
     * @param {Order} order
     */
    send(order) {
      if (order.id && order.do !== "preview") unanswered.set(order.id, order);
      return tell(order);
    },
    reopen,
    stop() {
      clearInterval(pinging);
      clearTimeout(overdue);
      clearTimeout(retry);
      if (socket) socket.onclose = null;
      socket?.close();
    },
  };
}

/** An id that no other message has. */
export const newId = () => Array.from(crypto.getRandomValues(new Uint32Array(2)), (part) => part.toString(36)).join("");
