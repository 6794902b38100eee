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

/** @type {Variant} */
let variant;
/** @type {Bots | null} */
let bots = null;
/** @type {Helper[]} */
let helpers = [];
/** The id of the request that is answered at the moment. */
let current = 0;

addEventListener("message", ({ data }) => void handle(data));

/** @param {BotRequest} request */
async function handle(request) {
  switch (request.type) {
    case "start":
      variant = await Variant.instantiate(request.module, request.data);
      helpers = request.helpers.map(helperAt);
      bots = new Bots(
        variant,
        helpers.map(({ run }) => run),
      );
      break;
    case "assist":
      variant = await Variant.instantiate(request.module, request.data);
      assist(new RolloutRunner(variant), request.port);
      break;
    case "choose":
      await choose(request.id, request.level, request.view, request.milliseconds);
      break;
    case "advise":
      await advise(request.id, request.view, request.rollouts, request.milliseconds);
      break;
    case "cancel":
      current = 0;
      break;
  }
}

/** @param {number} id @param {string} name @param {BotView} view @param {number} milliseconds */
async function choose(id, name, view, milliseconds) {
  current = id;
  const level = variant.data.levels.find((level) => level.name === name) ?? variant.data.levels[0];
  const action = await chosenBy(level, view, milliseconds, id);
  if (current === id) postMessage({ type: "chosen", id, action });
}

/** @param {import("../rules/types.js").Level} level @param {BotView} view @param {number} milliseconds @param {number} id */
function chosenBy(level, view, milliseconds, id) {
  return /** @type {Bots} */ (bots).choose(level, view, { milliseconds, cancelled: () => current !== id }, helpers);
}

/** @param {number} id @param {BotView} view @param {number} rollouts @param {number} milliseconds */
async function advise(id, view, rollouts, milliseconds) {
  current = id;
  const limits = { milliseconds, cancelled: () => current !== id };
  const lines = await /** @type {Bots} */ (bots).analyse(view, rollouts, limits);
  if (current === id) postMessage({ type: "advice", id, lines });
}

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
