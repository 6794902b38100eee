/** The rules: the list of games, or the rules of one game with a table of contents. */
import { errorText, get, getGames, onConnectionChange } from "./shared/api.js";
import { isDark, onAppearanceChange } from "./shared/appearance.js";
import { byId, h } from "./shared/dom.js";
import { initPage, setTitle } from "./shared/frame.js";
import { language, t } from "./shared/i18n.js";

const game = decodeURIComponent(location.pathname.split("/")[2] ?? "");

await initPage({ title: "rules.title" });
await render();
onConnectionChange((connected) => connected && void render());

async function render() {
  const page = byId("page");
  try {
    page.replaceChildren(...(game ? await rulesPage(game) : await gameList()));
    if (game && location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
  } catch (error) {
    page.replaceChildren(
      h("h1", null, t("rules.title")),
      h("p", null, errorText(error)),
      h("p", null, h("a", { class: "button", href: "/rules" }, t("rules.all"))),
    );
  }
}

async function gameList() {
  const games = await getGames();
  return [
    h("h1", null, t("rules.title")),
    h("p", { class: "muted" }, t("rules.lead")),
    h(
      "ul",
      { role: "list", class: "rules-list" },
      games.map(({ id, name, summary }) =>
        h(
          "li",
          { class: "card" },
          h("h2", null, h("a", { href: `/rules/${id}`, "data-rules": id }, name)),
          h("p", null, summary),
        ),
      ),
    ),
  ];
}

/** @param {string} id */
async function rulesPage(id) {
  /** @type {{title: string, html: string}} */
  const { title, html } = await get(`/api/games/${encodeURIComponent(id)}/rules?lang=${language()}`);
  setTitle(title);
  const article = h("article", { class: "rules-text" });
  // The only HTML that comes from the server: rendered from our own rules text.
  const parsed = new DOMParser().parseFromString(html, "text/html").body;
  themeFigures(parsed);
  article.append(...parsed.childNodes);
  // The page shows the title above the table of contents.
  article.querySelector("h1")?.remove();
  wrapWide(article);
  return [
    h("p", null, h("a", { href: "/rules", class: "back" }, "‹ ", t("rules.all"))),
    h("h1", null, title),
    h("p", { class: "card small unofficial" }, t("unofficial")),
    h("div", { class: "rules-columns" }, tableOfContents(article), article),
    h("p", null, h("a", { class: "button button-primary", href: `/?new=${encodeURIComponent(id)}` }, t("rules.play"))),
  ];
}

/**
 * Load the figures in the current theme.
 * @param {Element} text not yet in the document, so that no figure is loaded twice
 */
function themeFigures(text) {
  const figures = [...text.querySelectorAll("img")].map((image) => ({ image, address: image.getAttribute("src") }));
  const applyTheme = () =>
    figures.forEach(({ image, address }) => image.setAttribute("src", `${address}?dark=${isDark()}`));
  onAppearanceChange(applyTheme);
  applyTheme();
}

/** @param {Element} article */
function tableOfContents(article) {
  const headings = [...article.querySelectorAll("h2")];
  headings.forEach((heading, i) => {
    heading.id ||= `part-${i + 1}`;
  });
  // On narrow screens the table of contents is above the text, and closed.
  const open = matchMedia("(min-width: 60rem)").matches;
  const links = headings.map((heading) => h("li", null, h("a", { href: `#${heading.id}` }, heading.textContent)));
  return h(
    "nav",
    { class: "contents", "aria-label": t("rules.contents") },
    h("details", { open }, h("summary", null, t("rules.contents")), h("ol", null, links)),
  );
}

/**
 * Put wide tables and examples into boxes that scroll, also by keyboard.
 * @param {Element} article
 */
function wrapWide(article) {
  for (const element of article.querySelectorAll("pre, table")) {
    const box = h("div", { class: "scroller", tabindex: "0", role: "group", "aria-label": t("rules.scroll") });
    element.replaceWith(box);
    box.append(element);
  }
}
