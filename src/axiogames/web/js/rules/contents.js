/** A table of contents from the headings of a text. */
import { h } from "../shell/dom.js";
import { t } from "../shell/i18n.js";

/** @param {Element} article */
export function contents(article) {
  const headings = [...article.querySelectorAll("h2")];
  headings.forEach((heading, i) => {
    heading.id ||= `part-${i + 1}`;
  });
  // Where it stands above the text it should not push it away.
  const open = matchMedia("(min-width: 60rem)").matches;
  const links = headings.map((heading) => h("li", null, h("a", { href: `#${heading.id}` }, heading.textContent)));
  return h(
    "nav",
    { class: "contents", "aria-label": t("rules.contents") },
    h("details", { open }, h("summary", null, t("rules.contents")), h("ol", null, links)),
  );
}

/**
 * Wide tables and examples scroll by themselves, also by keyboard.
 * @param {Element} article
 */
export function scrollWide(article) {
  for (const wide of article.querySelectorAll("pre, table")) {
    const box = h("div", { class: "scroller", tabindex: "0", role: "group", "aria-label": t("rules.scroll") });
    wide.replaceWith(box);
    box.append(wide);
  }
}
