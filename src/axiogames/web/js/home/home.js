/** The home page: games to play at once, tables to go on with, to join and to watch. */
import { games } from "../shared/api.js";
import { byId } from "../shared/dom.js";
import { frame } from "../shared/frame.js";
import { keepFresh } from "../shared/polling.js";
import { showGames } from "./games.js";
import { showTables } from "./lobby.js";
import { openNewTable } from "./new-table.js";
import { showTeaser } from "./teaser.js";

const OFTEN = 10_000;

await frame();
void showTeaser(byId("deal"));
byId("new").addEventListener("click", () => void openNewTable());
await keepFresh(async () => {
  // Asked for together and shown together, so that nothing jumps.
  const [offered] = await Promise.all([games(), showTables()]);
  if (!byId("games").firstChild) showGames(byId("games"), offered);
}, OFTEN);

const wanted = new URLSearchParams(location.search).get("new");
if (wanted !== null) void openNewTable(wanted);
