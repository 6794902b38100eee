/** The home page: games, the person's tables, open tables and public games. */
import { getGames } from "../shared/api.js";
import { byId } from "../shared/dom.js";
import { initPage } from "../shared/frame.js";
import { poll } from "../shared/polling.js";
import { renderGames } from "./games.js";
import { refreshTables } from "./lobby.js";
import { openNewTableDialog } from "./new-table.js";
import { renderTeaser } from "./teaser.js";

const POLL_INTERVAL = 10_000;

await initPage();
void renderTeaser(byId("deal"));
byId("new").addEventListener("click", () => void openNewTableDialog());
await poll(async () => {
  // Requested and rendered together, so that the layout does not shift.
  const [games] = await Promise.all([getGames(), refreshTables()]);
  if (!byId("games").firstChild) renderGames(byId("games"), games);
}, POLL_INTERVAL);

const requestedGame = new URLSearchParams(location.search).get("new");
if (requestedGame !== null) void openNewTableDialog(requestedGame);
