// `node table.mjs`: play a game at a local table, and write what its players were sent to the file of the task.
import { readFileSync, writeFileSync } from "node:fs";
import { Bots } from "../../src/axiogames/web/js/rules/bots.js";
import { eventLog } from "../../src/axiogames/web/js/rules/event-log.js";
import { redactEvent } from "../../src/axiogames/web/js/rules/game.js";
import { Variant } from "../../src/axiogames/web/js/rules/variant.js";
import { viewMessage } from "../../src/axiogames/web/js/local/messages.js";
import { LocalTable } from "../../src/axiogames/web/js/local/table.js";

const { module, data, levels, out } = JSON.parse(readFileSync(0, "utf8"));
const variant = await Variant.instantiate(readFileSync(module), data);
const thinking = new Bots(await Variant.instantiate(readFileSync(module), data));

const seats = Array.from({ length: data.players }, (_, seat) => ({ kind: "me", name: `seat ${seat}`, level: null }));
const stored = { id: "local-test", game: data.game, players: data.players, options: data.options, seats, actions: [] };
const table = new LocalTable(variant, { ...stored, held: null, over: false, next: null }, "title", async () => {});
const messages = [];

await table.start();
for (let moves = 0; !table.game.over; moves++) {
  const { game, turn } = table;
  if (moves % 5 === 0) {
    const views = [null, ...seats.keys()].map((seat) => viewMessage(table, seat, null));
    messages.push({ actions: [...game.actions], views });
  }
  const events = game.events.map((event) => redactEvent(event, turn, !data.exchange_is_public));
  const view = { state: game.view(turn).bytes.slice(), log: eventLog(variant, events), seat: turn };
  const level = data.levels[levels[moves % levels.length]];
  const limits = { milliseconds: 50, cancelled: () => false };
  const action = await thinking.choose(level, view, limits);
  const { moves: offered } = viewMessage(table, turn, null);
  const pick = table.offer.actions.indexOf(action);
  if (pick < 0 || !offered) throw new Error(`${level.name} chose ${action}, which is not legal`);
  await table.execute({ do: "move", id: String(moves), n: table.n, pick }, turn);
}
messages.push({ actions: [...table.game.actions], views: [viewMessage(table, null, null)] });
writeFileSync(out, JSON.stringify({ record: table.record(), messages }));
process.exit(0); // the search's channel for messages is still open
