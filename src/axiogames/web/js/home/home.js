/** The home page: games, the person's tables, open tables and public games. */
import { getHome, getKnownGames } from "../shared/api.js";
import { byId } from "../shared/dom.js";
import { initPage } from "../shared/frame.js";
import { poll } from "../shared/polling.js";
import { renderGames } from "./games.js";
import { openNewTableDialog } from "./new-table.js";
import { refreshTables, renderTables } from "./tables.js";
import { renderTeaser } from "./teaser.js";

const POLL_INTERVAL = 10_000;

await initPage({ identify: getHome });
const showProgress = renderTeaser(byId("deal"));
byId("new").addEventListener("click", () => void openNewTableDialog());
/** Whether the server has answered. */
let loaded = false;
await poll(async () => {
  if (loaded) return refreshTables();
  // Rendered together, so that the layout does not shift.
  const home = await getHome().catch(renderOffline);
  await renderTables(home);
  renderGames(byId("games"), home.games);
  showProgress(home.daily);
  loaded = true;
}, POLL_INTERVAL);

/**
 * Render what is known without the server: the games, and the tables of this browser.
 * @param {unknown} error
 * @returns {Promise<never>}
 */
async function renderOffline(error) {
  const games = getKnownGames();
  if (games) {
    if (!byId("games").firstChild) renderGames(byId("games"), games);
    await renderTables({ mine: [], open: [], live: [] });
  }
  throw error;
}

const requestedGame = new URLSearchParams(location.search).get("new");
if (requestedGame !== null) void openNewTableDialog(requestedGame);
