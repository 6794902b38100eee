/** The workers of the bots of a table. They are started when they are needed. */

/** @import {BotAnswer, BotRequest, BotView} from "./types.js" */
/** @import {Line} from "../rules/search.js" */
/** @import {VariantData} from "../rules/types.js" */

/** The most workers that search at the same time. One core is left to the page. */
const MAX_WORKERS = 4;

const newWorker = () => new Worker(new URL("./bot-worker.js", import.meta.url), { type: "module" });

export class BotPool {
  /** @type {Worker | null} */
  #bots = null;
  /** @type {Worker[]} */
  #helpers = [];
  /** @type {{id: number, resolve: (answer: BotAnswer) => void, reject: (reason: Error) => void} | null} */
  #waiting = null;
  #lastId = 0;

  /**
   * @param {WebAssembly.Module} module
   * @param {VariantData} data
   * @param {(string | null)[]} levels of the seats of the table
   */
  constructor(module, data, levels) {
    this.rules = { module, data };
    /** Whether helpers are needed: only a search that is limited by time uses several workers. */
    this.searches = data.levels.some(
      (level) => level.by === "search" && level.rollouts === null && levels.includes(level.name),
    );
  }

  /**
   * Return the action that a level chooses. It is rejected if the choice is cancelled.
   * @param {string} level
   * @param {BotView} view
   * @param {number} milliseconds
   */
  async choose(level, view, milliseconds) {
    const answer = await this.#ask({ type: "choose", id: 0, level, view, milliseconds });
    if (answer.type !== "chosen") throw new Error(`a bot answered ${answer.type}`);
    return answer.action;
  }

  /**
   * Return the best moves by rollouts.
   * @param {BotView} view
   * @param {number} rollouts
   * @param {number} milliseconds
   * @returns {Promise<Line[]>}
   */
  async advise(view, rollouts, milliseconds) {
    const answer = await this.#ask({ type: "advise", id: 0, view, rollouts, milliseconds });
    if (answer.type !== "advice") throw new Error(`a bot answered ${answer.type}`);
    return answer.lines;
  }

  /** Stop whatever a bot computes. */
  #cancel() {
    this.#post({ type: "cancel" });
    this.#waiting?.reject(new DOMException("cancelled", "AbortError"));
    this.#waiting = null;
  }

  /** @param {Extract<BotRequest, {id: number}>} request @returns {Promise<BotAnswer>} */
  #ask(request) {
    if (this.#waiting) this.#cancel();
    const id = ++this.#lastId;
    const bots = this.#start();
    return new Promise((resolve, reject) => {
      this.#waiting = { id, resolve, reject };
      bots.postMessage({ ...request, id });
    });
  }

  /** @param {BotRequest} request */
  #post(request) {
    this.#bots?.postMessage(request);
  }

  /** Start the workers, if they do not run. */
  #start() {
    if (this.#bots) return this.#bots;
    const bots = newWorker();
    this.#bots = bots;
    bots.onmessage = ({ data }) => {
      if (data.id !== this.#waiting?.id) return;
      this.#waiting?.resolve(data);
      this.#waiting = null;
    };
    bots.onerror = (event) => this.#fail(event);
    const ports = Array.from({ length: this.searches ? helperCount() : 0 }, () => this.#startHelper());
    bots.postMessage({ type: "start", ...this.rules, helpers: ports }, ports);
    return bots;
  }

  /** End the workers after one has failed; the next request starts new ones. @param {ErrorEvent} event */
  #fail(event) {
    this.#waiting?.reject(new Error(event.message || "the worker of a bot failed"));
    this.#waiting = null;
    this.close();
  }

  /** Start a helper and return the port to it. */
  #startHelper() {
    const { port1, port2 } = new MessageChannel();
    const helper = newWorker();
    helper.onerror = (event) => this.#fail(event);
    helper.postMessage({ type: "assist", ...this.rules, port: port2 }, [port2]);
    this.#helpers.push(helper);
    return port1;
  }

  /** End the workers. */
  close() {
    for (const worker of [this.#bots, ...this.#helpers]) worker?.terminate();
    this.#bots = null;
    this.#helpers = [];
  }
}

const helperCount = () => Math.max(0, Math.min((navigator.hardwareConcurrency || 2) - 1, MAX_WORKERS) - 1);
