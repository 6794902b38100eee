/**
 * The worker of the bots, or one of its helpers. It gets views, never the tiles of others.
 *
 * `start` has the rules; `choose` is answered by `chosen`, unless `cancel` comes first. A helper runs rollouts for the
 * search of another worker, through a port.
 */
import { Bots } from "../rules/bots.js";
import { RolloutRunner } from "../rules/search.js";
import { Variant } from "../rules/variant.js";

/** @import {BotRequest, BotView, Helper} from "./types.js" */

/** @type {Helper[]} */
let helpers = [];
/** The bots, once they have been started. @type {Promise<Bots>} */
let started = Promise.reject(new Error("the bots have not been started"));
started.catch(() => {});
/** The id of the request that is answered at the moment. */
let current = 0;

/** Requests are handled one after another: a cancelled search ends before the next one begins. */
let queue = Promise.resolve();

addEventListener("message", ({ data }) => {
  if (data.type === "cancel") current = 0;
  if ("id" in data) current = data.id;
  // Outside the promise, so that the pool hears of it.
  queue = queue.then(() => handle(data)).catch((error) => void setTimeout(() => reportError(error)));
});

/** @param {BotRequest} request */
async function handle(request) {
  switch (request.type) {
    case "start":
      helpers = request.helpers.map(helperAt);
      started = startBots(request);
      break;
    case "assist":
      assist(new RolloutRunner(await Variant.instantiate(request.module, request.data)), request.port);
      break;
    case "choose":
      await choose(request.id, request.level, request.view, request.milliseconds);
      break;
    case "advise":
      await advise(request.id, request.view, request.rollouts, request.milliseconds);
      break;
  }
}

/** @param {Extract<BotRequest, {type: "start"}>} request */
async function startBots({ module, data }) {
  const searches = helpers.map(({ run }) => run);
  return new Bots(await Variant.instantiate(module, data), searches);
}

/** @param {number} id @param {string} name @param {BotView} view @param {number} milliseconds */
async function choose(id, name, view, milliseconds) {
  const bots = await started;
  const level = bots.variant.data.levels.find((candidate) => candidate.name === name);
  if (!level) throw new Error(`there is no level ${name}`);
  const action = await bots.choose(level, view, limitsOf(id, milliseconds), helpers);
  if (current === id) postMessage({ type: "chosen", id, action });
}

/** @param {number} id @param {BotView} view @param {number} rollouts @param {number} milliseconds */
async function advise(id, view, rollouts, milliseconds) {
  const bots = await started;
  const lines = await bots.analyse(view, rollouts, limitsOf(id, milliseconds));
  if (current === id) postMessage({ type: "advice", id, lines });
}

/** @param {number} id @param {number} milliseconds */
const limitsOf = (id, milliseconds) => ({ milliseconds, cancelled: () => current !== id });

/** @param {MessagePort} port @returns {Helper} */
function helperAt(port) {
  /** @type {((sums: import("../rules/search.js").Sums) => void)[]} */
  const waiting = [];
  port.onmessage = ({ data }) => waiting.shift()?.(data);
  return {
    setPosition: (position) => port.postMessage({ type: "position", position }),
    run: (rollouts) =>
      new Promise((resolve) => {
        waiting.push(resolve);
        port.postMessage({ type: "run", rollouts });
      }),
  };
}

/** @param {RolloutRunner} runner @param {MessagePort} port */
function assist(runner, port) {
  port.onmessage = ({ data }) => {
    if (data.type === "position") runner.setPosition(data.position);
    else port.postMessage(runner.run(data.rollouts));
  };
}
