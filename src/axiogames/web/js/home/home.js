/** The home page: games to play at once, tables to go on with, to join and to watch. */
import { games } from "../shell/api.js";
import { byId } from "../shell/dom.js";
import { frame } from "../shell/frame.js";
import { keepFresh } from "../shell/refresh.js";
import { showGames } from "./games.js";
import { showTables } from "./lobby.js";
import { openNewTable } from "./newtable.js";
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
