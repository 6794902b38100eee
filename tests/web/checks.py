"""Checks for every page in every state."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from playwright.sync_api import Page

from tests.web.browsing import Visitor

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
SMALLEST_TARGET = 44

# Controls that are smaller than a touch target. Exempt are links within text, which are as high as the line,
# controls whose label is large enough, and what is behind an open dialog.
TARGETS = """(least) => {
  const inText = (link) => {
    if (link.tagName !== "A" || getComputedStyle(link).display !== "inline") return false;
    const block = link.closest("p, li, td, dd, figcaption");
    return block !== null && block.textContent.trim().length > link.textContent.trim().length;
  };
  const whole = document.querySelector("dialog[open]") ?? document.body;
  const controls = "button, a[href], input, select, textarea, summary, [role=button], [role=switch]";
  const found = [];
  for (const control of whole.querySelectorAll(controls)) {
    if (!control.checkVisibility({ visibilityProperty: true }) || inText(control)) continue;
    if (control.closest(".visually-hidden, .skip")) continue;
    const boxes = [control, ...(control.labels ?? []), control.closest("label")].filter(Boolean);
    const sizes = boxes.map((box) => box.getBoundingClientRect()).map(({ width, height }) => [width, height]);
    if (sizes.some(([width, height]) => width > least - 0.5 && height > least - 0.5)) continue;
    if (sizes.every(([width, height]) => width === 0 && height === 0)) continue;
    const size = sizes[0].map(Math.round).join("×");
    found.push(`${control.outerHTML.replaceAll(/\\s+/g, " ").slice(0, 120)} is ${size}`);
  }
  return found;
}"""
# Elements beyond the right edge, if the page scrolls horizontally.
SIDEWAYS = """(width) => {
  const { scrollWidth } = document.documentElement;
  if (scrollWidth <= width && innerWidth <= width) return [];
  const sticksOut = (one) => one.getBoundingClientRect().right > width + 0.5;
  const wide = [...document.body.querySelectorAll("*")].filter(sticksOut);
  const named = wide.slice(0, 5).map((one) => `${one.tagName}#${one.id}.${one.getAttribute("class")}`);
  return [`${scrollWidth} wide: ${named.join(", ")}`];
}"""
# Parts of the board that are not visible.
BOARD = """() => {
  const box = document.querySelector("#board .frame").getBoundingClientRect();
  const found = [];
  if (box.left < -0.5 || box.top < -0.5 || box.right > innerWidth + 0.5 || box.bottom > innerHeight + 0.5) {
    found.push(`the board sticks out: ${JSON.stringify(box)} in ${innerWidth}×${innerHeight}`);
  }
  const least = Math.min(innerWidth, innerHeight) / 3;
  if (Math.min(box.width, box.height) < least) found.push(`${box.width}×${box.height} is tiny`);
  for (const across of [0.05, 0.35, 0.65, 0.95]) {
    for (const down of [0.05, 0.35, 0.65, 0.95]) {
      const there = document.elementFromPoint(box.left + box.width * across, box.top + box.height * down);
      if (there && there.closest("#board-area")) continue;
      found.push(`${there?.tagName}#${there?.id}.${there?.getAttribute("class")} lies over it`);
    }
  }
  return [...new Set(found)];
}"""

# Texts that overflow their container. An ellipsis is allowed, and so are scrolling containers.
CLIPPED = """() => {
  const found = new Set();
  const whole = document.querySelector("dialog[open]") ?? document.body;
  const texts = document.createTreeWalker(whole, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let text; (text = texts.nextNode()); ) {
    const holder = text.parentElement;
    if (!text.data.trim() || !holder.checkVisibility({ visibilityProperty: true })) continue;
    if (holder.closest(".visually-hidden, .skip, option, svg, .scroller")) continue;
    range.selectNodeContents(text);
    const box = range.getBoundingClientRect();
    for (let around = holder; around !== document.body; around = around.parentElement) {
      const { textOverflow, overflowX } = getComputedStyle(around);
      if (textOverflow === "ellipsis" && overflowX !== "visible") break;
      const button = around.matches("button, .button, label");
      if (!button && overflowX === "visible" && !around.matches(".card, dialog")) continue;
      const edge = around.getBoundingClientRect();
      const aside = box.left < edge.left - 1 || box.right > edge.right + 1;
      if (!aside && !(button && (box.top < edge.top - 1 || box.bottom > edge.bottom + 1))) continue;
      const where = `${around.tagName}#${around.id}.${around.className}`;
      found.add(`"${text.data.trim().slice(0, 40)}" sticks out of ${where}`);
      break;
    }
  }
  return [...found];
}"""


@cache
def axe() -> str:
    """Return the source of axe, the accessibility checker."""
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


def violations(visitor: Visitor) -> list[str]:
    """Return the violations that axe finds.

    A modal dialog makes the page behind it inert and may cover half a button there. Then only the dialog is
    checked.
    """
    options = {"runOnly": {"type": "tag", "values": TAGS}, "resultTypes": ["violations"], "preload": False}
    assert visitor.unexpected_problems == [], visitor.unexpected_problems
    visitor.allow("style-src")  # axe itself sets inline styles
    visitor.page.evaluate(axe())
    found = visitor.page.evaluate(
        """async (options) => {
          const shown = document.querySelector("dialog:modal") ?? document;
          return (await axe.run(shown, options)).violations;
        }""",
        options,
    )
    nodes = [(rule["id"], node) for rule in found for node in rule["nodes"]]
    return [f"{rule}: {node['html'][:160]} {node['failureSummary']}" for rule, node in nodes]


def small_targets(page: Page) -> list[str]:
    """Return the controls that are too small to tap."""
    found: list[str] = page.evaluate(TARGETS, SMALLEST_TARGET)
    return found


def sideways(page: Page, width: int) -> list[str]:
    """Return why the page scrolls horizontally."""
    found: list[str] = page.evaluate(SIDEWAYS, width)
    return found


def hidden_board(page: Page) -> list[str]:
    """Return the parts of the board that are not visible."""
    found: list[str] = page.evaluate(BOARD)
    return found


def clipped_texts(page: Page) -> list[str]:
    """Return the texts that are clipped."""
    found: list[str] = page.evaluate(CLIPPED)
    return found
