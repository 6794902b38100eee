/** A card for each game, with a button that starts a game at once. */
import { isDark, onAppearanceChange } from "../shared/appearance.js";
import { runBusy } from "../shared/busy-button.js";
import { h } from "../shared/dom.js";
import { t } from "../shared/i18n.js";
import { symbolImage } from "../shared/symbols.js";
import { openNewTableDialog } from "./new-table.js";
import { openTable } from "./open-table.js";

/** Shows the position of a game under the fragment with the name of the game. */
const EXAMPLES = new URL("../../generated/examples.svg", import.meta.url);

/** @import {Game, TableRequest} from "../shared/types.js" */

/**
 * @param {Element} parent
 * @param {Game[]} games
 */
export function renderGames(parent, games) {
  parent.replaceChildren(...games.map((game) => h("li", null, gameCard(game))));
}

/** @param {Game} game */
function gameCard(game) {
  const label = t("game.play", { game: game.name });
  const props = { type: "button", class: "button button-primary", "data-play": game.id, "aria-label": label };
  const play = h("button", props, t("play"));
  play.addEventListener("click", () => void runBusy(play, () => playNow(game)));
  return h(
    "article",
    { class: "card game", "data-game": game.id },
    gamePicture(game),
    h("h3", null, game.name),
    h("p", { class: "summary" }, game.summary),
    h(
      "div",
      { class: "actions" },
      play,
      h(
        "button",
        {
          type: "button",
          class: "button",
          "data-more": game.id,
          "aria-haspopup": "dialog",
          "aria-label": t("game.more", { game: game.name }),
          onclick: () => void openNewTableDialog(game.id),
        },
        t("more"),
      ),
      h(
        "a",
        { class: "button button-quiet", href: `/rules/${game.id}`, "aria-label": t("game.rules", { game: game.name }) },
        t("nav.rules"),
      ),
    ),
  );
}

/**
 * Show an example position, or symbols of the game if it cannot be loaded. The server draws those of registered games.
 * @param {Game} game
 */
function gamePicture(game) {
  const image = h("img", { alt: "", loading: "lazy", decoding: "async", width: 320, height: 320 });
  const load = () => {
    image.src = game.built_in ? `${EXAMPLES}#${game.id}` : `/api/games/${game.id}/picture.svg?dark=${isDark()}`;
  };
  const box = h("div", { class: "picture" }, image);
  image.addEventListener("error", () =>
    box.replaceChildren(...game.tracks.slice(0, 4).map((track) => symbolImage(track, 40))),
  );
  onAppearanceChange(load);
  load();
  return box;
}

/**
 * Open a table with the default bot.
 * @param {Game} game
 */
async function playNow(game) {
  /** @type {TableRequest} */
  const table = {
    game: game.id,
    seats: [
      { kind: "me", name: null },
      { kind: "bot" },
    ],
    shuffle: true,
  };
  await openTable(table);
}
