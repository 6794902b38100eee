/**
 * The worker of a local table. It holds the game with all its tiles; the page and the bots get views.
 *
 * The page sends `open` and then commands. The worker answers with the messages of a table, as the server does (see
 * table/net/protocol.d.ts). A table can be open in one tab only.
 */
import { eventLog } from "../rules/event-log.js";
import { redactEvent } from "../rules/game.js";
import { Variant } from "../rules/variant.js";
import { BotPool } from "./bot-pool.js";
import { stepMessage, viewMessage } from "./messages.js";
import { loadTable, storeTable } from "./store.js";
import { LocalTable, Refused } from "./table.js";

/** @import {BotView, OpenRequest, TableRequest, WorkerMessage} from "./types.js" */
/** @import {Command} from "../table/net/protocol.js" */

/** Milliseconds that a bot searches, and the least that it takes, so that people can follow. */
const BOT_TIME = 1_000;
const MIN_BOT_TIME = 350;
/** Rollouts of a hint, and the most milliseconds that it takes. */
const HINT_ROLLOUTS = 3_000;
const HINT_TIME = 4_000;

/** Milliseconds after which a bot tries again whose move could not be stored. */
const RETRY_DELAY = 2_000;

/** @type {LocalTable} */
let table;
/** @type {BotPool} */
let bots;
/** The seat from which the person looks. @type {number | null} */
let seat = null;
/** Requests are handled one after another. */
let queue = Promise.resolve();
/** Whether a bot is choosing a move. */
let choosing = false;

addEventListener("message", ({ data }) => {
  queue = queue.then(() => handle(data)).catch(reportFailure);
});

/** @param {WorkerMessage} message */
const send = (message) => postMessage(message);

/** @param {unknown} error */
function reportFailure(error) {
  console.error(error);
  send({ type: "failed", detail: String(error) });
}

/** @param {TableRequest} request */
async function handle(request) {
  switch (request.type) {
    case "open":
      await open(request);
      break;
    case "command":
      await execute(request.command);
      break;
    case "update":
      await table.update(request.changes);
      break;
    case "record":
      send({ type: "answer", answer: table.record() });
      break;
    case "replay":
      send({ type: "answer", answer: table.replay() });
      break;
  }
}

/** @param {OpenRequest} request */
async function open({ id, title, module, data }) {
  await acquireLock(`axio-table-${id}`);
  const stored = await loadTable(id); // now nobody else changes it
  if (!stored) throw new Error(`there is no table ${id}`);
  table = new LocalTable(await Variant.instantiate(module, data), stored, title, storeTable);
  bots = new BotPool(
    module,
    data,
    stored.seats.map(({ level }) => level),
  );
  seat = table.defaultSeat;
  await table.start();
  send(viewMessage(table, seat, null));
  void moveBots();
}

/**
 * Hold a lock until this worker ends. Another tab that opens the table takes it.
 * @param {string} name
 * @returns {Promise<void>}
 */
function acquireLock(name) {
  return new Promise((resolve) => {
    const held = () => new Promise(() => resolve());
    navigator.locks.request(name, { steal: true }, held).catch((error) => {
      bots?.close();
      if (isCancelled(error)) send({ type: "busy" });
      else reportFailure(error);
      close();
    });
  });
}

/** @param {Command} command */
async function execute(command) {
  try {
    if (command.do === "look") {
      seat = table.seatToLookFrom(command.seat ?? null);
      send(viewMessage(table, seat, command.id ?? null));
      return void moveBots(); // also after a failure
    }
    if (command.do === "hint") {
      table.checkTurn(command, seat);
      return void advise(command).catch(ignoreCancelled);
    }
    send(await table.execute(command, seat));
  } catch (error) {
    if (!(error instanceof Refused)) reportFailure(error);
    const code = error instanceof Refused ? error.code : "unavailable";
    const view = code === "stale" ? viewMessage(table, seat, null) : null;
    return send({ type: "refused", id: command.id ?? null, code, detail: String(error), view });
  }
  void moveBots();
}

/** Let bots move as long as it is their turn. */
async function moveBots() {
  if (choosing) return;
  choosing = true;
  try {
    while (table.botToMove !== null) {
      const started = performance.now();
      const { n } = table;
      const action = await botAction(table.botToMove);
      await sleep(started + MIN_BOT_TIME - performance.now());
      await enqueue(async () => {
        if (table.n !== n) return;
        await table.playBot(action);
        send(stepMessage(table, seat, null));
      });
    }
  } catch (error) {
    if (!isCancelled(error)) reportFailure(error);
    setTimeout(() => void moveBots(), RETRY_DELAY);
  } finally {
    choosing = false;
  }
}

/** Return the action of a bot. A bot that fails moves at random, so that the game goes on. @param {string} level */
async function botAction(level) {
  try {
    return await bots.choose(level, botView(), BOT_TIME);
  } catch (error) {
    if (isCancelled(error)) throw error;
    console.error(error);
    const legal = table.game.variant.legalActions(table.game.state);
    return legal[Math.floor(Math.random() * legal.length)];
  }
}

/** Do something between two requests. @param {() => Promise<void>} work */
function enqueue(work) {
  const done = queue.then(work);
  queue = done.catch(() => {});
  return done;
}

/** Return the position as the seat to move knows it. @returns {BotView} */
function botView() {
  const { game } = table;
  const { variant } = game;
  const mover = game.state.get("seat");
  const events = game.events.map((event) => redactEvent(event, mover, !variant.data.exchange_is_public));
  return { state: game.view(mover).bytes.slice(), log: eventLog(variant, events), seat: mover };
}

/** A move ends the search for a hint. @param {unknown} error */
function ignoreCancelled(error) {
  if (!isCancelled(error)) reportFailure(error);
}

/** @param {unknown} error */
const isCancelled = (error) => error instanceof DOMException && error.name === "AbortError";

/** Send the best moves. @param {Command} command */
async function advise({ id, n }) {
  const { actions } = table.offer;
  const { variant } = table.game;
  const view = botView();
  const lines = await bots.advise(view, HINT_ROLLOUTS, HINT_TIME);
  if (table.n !== n) return;
  send({
    type: "hint",
    id: id ?? "",
    terms: variant.data.scale,
    picks: lines.slice(0, 3).map(({ action, value, error }) => ({
      pick: actions.indexOf(action),
      move: variant.describe(table.game.state, [action])[0].kind,
      value,
      error,
      remarks: [],
    })),
  });
}

/** @param {number} milliseconds */
const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, Math.max(0, milliseconds)));
