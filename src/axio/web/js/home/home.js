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
showTeaser(byId("deal"));
byId("new").addEventListener("click", () => void openNewTable());
// Games and tables are asked for together and shown together, so that nothing jumps.
const [offered] = await Promise.allSettled([games(), keepFresh(showTables, OFTEN)]);
if (offered.status === "fulfilled") showGames(byId("games"), offered.value);
else keepTrying();

const wanted = new URLSearchParams(location.search).get("new");
if (wanted !== null) void openNewTable(wanted);

/** Without the list of games there is nothing to click: it comes when the server does. */
function keepTrying() {
  void keepFresh(async () => {
    if (!byId("games").querySelector("[data-game]")) showGames(byId("games"), await games());
  }, OFTEN);
}
