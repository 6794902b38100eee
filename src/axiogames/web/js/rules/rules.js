/** The rules: a list of all games, or the page of one with a table of contents. */
import { isDark, onAppearance } from "../shell/appearance.js";
import { explain, games, get, onConnection } from "../shell/api.js";
import { byId, h } from "../shell/dom.js";
import { frame, setTitle } from "../shell/frame.js";
import { language, t } from "../shell/i18n.js";
import { contents, scrollWide } from "./contents.js";

const game = decodeURIComponent(location.pathname.split("/")[2] ?? "");

await frame({ title: "rules.title" });
await show();
onConnection((up) => up && void show());

async function show() {
  const page = byId("page");
  try {
    page.replaceChildren(...(game ? await rulesOf(game) : await allGames()));
    if (game && location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
  } catch (error) {
    page.replaceChildren(
      h("h1", null, t("rules.title")),
      h("p", null, explain(error)),
      h("p", null, h("a", { class: "button", href: "/rules" }, t("rules.all"))),
    );
  }
}

async function allGames() {
  const offered = await games();
  return [
    h("h1", null, t("rules.title")),
    h("p", { class: "muted" }, t("rules.lead")),
    h("ul", { role: "list", class: "rules-list" }, offered.map(({ id, name, summary }) =>
      h(
        "li",
        { class: "card" },
        h("h2", null, h("a", { href: `/rules/${id}`, "data-rules": id }, name)),
        h("p", null, summary),
      ),
    )),
  ];
}

/** @param {string} id */
async function rulesOf(id) {
  /** @type {{title: string, html: string}} */
  const { title, html } = await get(`/api/games/${encodeURIComponent(id)}/rules?lang=${language()}`);
  setTitle(title);
  const article = h("article", { class: "rules-text" });
  // Our own rules page, made by the server from our own text: the one thing that comes as HTML.
  const parsed = new DOMParser().parseFromString(html, "text/html").body;
  colourFigures(parsed);
  article.append(...parsed.childNodes);
  // The title stands above the table of contents.
  article.querySelector("h1")?.remove();
  scrollWide(article);
  return [
    h("p", null, h("a", { href: "/rules", class: "back" }, "‹ ", t("rules.all"))),
    h("h1", null, title),
    h("p", { class: "card small unofficial" }, t("unofficial")),
    h("div", { class: "rules-columns" }, contents(article), article),
    h("p", null, h("a", { class: "button button-primary", href: `/?new=${encodeURIComponent(id)}` }, t("rules.play"))),
  ];
}

/**
 * The server draws the figures for light or for dark.
 * @param {Element} text not shown yet, so that none is loaded in vain
 */
function colourFigures(text) {
  const figures = [...text.querySelectorAll("img")].map((image) => ({ image, address: image.getAttribute("src") }));
  const colour = () => figures.forEach(({ image, address }) => image.setAttribute("src", `${address}?dark=${isDark()}`));
  onAppearance(colour);
  colour();
}
