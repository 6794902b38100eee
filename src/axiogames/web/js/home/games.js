/** The games as cards: one click, and you play. */
import { act, go } from "../shared/busy-button.js";
import { bots, post } from "../shared/api.js";
import { isDark, onAppearance } from "../shared/appearance.js";
import { h } from "../shared/dom.js";
import { t } from "../shared/i18n.js";
import { symbol } from "../shared/symbols.js";
import { openNewTable } from "./new-table.js";

/** @import {Game, NewTable} from "../shared/types.js" */

/**
 * @param {Element} parent
 * @param {Game[]} games
 */
export function showGames(parent, games) {
  parent.replaceChildren(...games.map((game) => h("li", null, card(game))));
}

/** @param {Game} game */
function card(game) {
  const label = t("game.play", { game: game.name });
  const look = { type: "button", class: "button button-primary", "data-play": game.id, "aria-label": label };
  const play = h("button", look, t("play"));
  play.addEventListener("click", () => void act(play, () => playAtOnce(game)));
  return h(
    "article",
    { class: "card game", "data-game": game.id },
    picture(game),
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
          onclick: () => void openNewTable(game.id),
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
 * An example position. Should it not come, the symbols of the game stand in for it.
 * @param {Game} game
 */
function picture(game) {
  const image = h("img", { alt: "", loading: "lazy", decoding: "async", width: 320, height: 320 });
  const show = () => {
    image.src = `/api/games/${game.id}/picture.svg?dark=${isDark()}`;
  };
  const box = h("div", { class: "picture" }, image);
  image.addEventListener("error", () => box.replaceChildren(...game.tracks.slice(0, 4).map((track) => symbol(track, 40))));
  onAppearance(show);
  show();
  return box;
}

/**
 * You against the default bot.
 * @param {Game} game
 */
async function playAtOnce(game) {
  const levels = await bots();
  const { level } = levels.find((bot) => bot.default) ?? levels[0];
  /** @type {NewTable} */
  const table = { game: game.id, seats: [{ kind: "me", name: null }, { kind: "bot", level }], shuffle: true };
  const { id } = await post("/api/tables", table);
  go(`/t/${id}`);
}
