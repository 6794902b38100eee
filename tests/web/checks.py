"""Checks of accessibility and layout that every page must pass in every state."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from playwright.sync_api import Page

from tests.web.browsing import Visitor

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
MIN_TARGET = 44  # pixels

# Returns the controls that are smaller than a touch target. Exempt are links in text, which are as high as a
# line, controls whose label is large enough, and controls behind an open dialog.
SMALL_TARGETS = """(minimum) => {
  const inText = (link) => {
    if (link.tagName !== "A" || getComputedStyle(link).display !== "inline") return false;
    const block = link.closest("p, li, td, dd, figcaption");
    return block !== null && block.textContent.trim().length > link.textContent.trim().length;
  };
  const root = document.querySelector("dialog[open]") ?? document.body;
  const controls = "button, a[href], input, select, textarea, summary, [role=button], [role=switch]";
  const found = [];
  for (const control of root.querySelectorAll(controls)) {
    if (!control.checkVisibility({ visibilityProperty: true }) || inText(control)) continue;
    if (control.closest(".visually-hidden, .skip")) continue;
    const boxes = [control, ...(control.labels ?? []), control.closest("label")].filter(Boolean);
    const sizes = boxes.map((box) => box.getBoundingClientRect()).map(({ width, height }) => [width, height]);
    if (sizes.some(([width, height]) => width > minimum - 0.5 && height > minimum - 0.5)) continue;
    if (sizes.every(([width, height]) => width === 0 && height === 0)) continue;
    const size = sizes[0].map(Math.round).join("×");
    found.push(`${control.outerHTML.replaceAll(/\\s+/g, " ").slice(0, 120)} is ${size}`);
  }
  return found;
}"""
# Returns elements beyond the right edge, if the page scrolls horizontally.
HORIZONTAL_OVERFLOW = """(width) => {
  const { scrollWidth } = document.documentElement;
  if (scrollWidth <= width && innerWidth <= width) return [];
  const overflows = (element) => element.getBoundingClientRect().right > width + 0.5;
  const wide = [...document.body.querySelectorAll("*")].filter(overflows).slice(0, 5);
  const names = wide.map((element) => `${element.tagName}#${element.id}.${element.getAttribute("class")}`);
  return [`the page is ${scrollWidth} px wide: ${names.join(", ")}`];
}"""
# Returns parts of the board that are not visible.
HIDDEN_BOARD = """() => {
  const box = document.querySelector("#board .frame").getBoundingClientRect();
  const found = [];
  if (box.left < -0.5 || box.top < -0.5 || box.right > innerWidth + 0.5 || box.bottom > innerHeight + 0.5) {
    found.push(`the board exceeds the window: ${JSON.stringify(box)} in ${innerWidth}×${innerHeight}`);
  }
  const minimum = Math.min(innerWidth, innerHeight) / 3;
  if (Math.min(box.width, box.height) < minimum) found.push(`only ${box.width}×${box.height} pixels`);
  for (const x of [0.05, 0.35, 0.65, 0.95]) {
    for (const y of [0.05, 0.35, 0.65, 0.95]) {
      const top = document.elementFromPoint(box.left + box.width * x, box.top + box.height * y);
      if (top?.closest("#board-area")) continue;
      found.push(`${top?.tagName}#${top?.id}.${top?.getAttribute("class")} covers the board`);
    }
  }
  return [...new Set(found)];
}"""

# Returns texts that overflow their container. Ellipses and scrolling containers are allowed.
CLIPPED_TEXTS = """() => {
  const found = new Set();
  const root = document.querySelector("dialog[open]") ?? document.body;
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let text; (text = texts.nextNode()); ) {
    const parent = text.parentElement;
    if (!text.data.trim() || !parent.checkVisibility({ visibilityProperty: true })) continue;
    if (parent.closest(".visually-hidden, .skip, option, svg, .scroller")) continue;
    range.selectNodeContents(text);
    const box = range.getBoundingClientRect();
    for (let container = parent; container !== document.body; container = container.parentElement) {
      const { textOverflow, overflowX } = getComputedStyle(container);
      if (textOverflow === "ellipsis" && overflowX !== "visible") break;
      const isButton = container.matches("button, .button, label");
      if (!isButton && overflowX === "visible" && !container.matches(".card, dialog")) continue;
      const edge = container.getBoundingClientRect();
      const clippedAcross = box.left < edge.left - 1 || box.right > edge.right + 1;
      const clippedDown = box.top < edge.top - 1 || box.bottom > edge.bottom + 1;
      if (!clippedAcross && !(isButton && clippedDown)) continue;
      const name = `${container.tagName}#${container.id}.${container.className}`;
      found.add(`"${text.data.trim().slice(0, 40)}" overflows ${name}`);
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

    If a modal dialog is open, only the dialog is checked: the page behind it is inert and partly covered.
    """
    options = {"runOnly": {"type": "tag", "values": TAGS}, "resultTypes": ["violations"], "preload": False}
    assert visitor.unexpected_problems == [], visitor.unexpected_problems
    visitor.allow("style-src")  # axe sets inline styles
    visitor.page.evaluate(axe())
    found = visitor.page.evaluate(
        """async (options) => {
          const root = document.querySelector("dialog:modal") ?? document;
          return (await axe.run(root, options)).violations;
        }""",
        options,
    )
    nodes = [(rule["id"], node) for rule in found for node in rule["nodes"]]
    return [f"{rule}: {node['html'][:160]} {node['failureSummary']}" for rule, node in nodes]


def small_targets(page: Page) -> list[str]:
    """Return the controls that are smaller than a touch target."""
    controls: list[str] = page.evaluate(SMALL_TARGETS, MIN_TARGET)
    return controls


def horizontal_overflow(page: Page, width: int) -> list[str]:
    """Return the elements that make the page scroll horizontally."""
    elements: list[str] = page.evaluate(HORIZONTAL_OVERFLOW, width)
    return elements


def hidden_board(page: Page) -> list[str]:
    """Return the parts of the board that are not visible."""
    parts: list[str] = page.evaluate(HIDDEN_BOARD)
    return parts


def clipped_texts(page: Page) -> list[str]:
    """Return the texts that are clipped."""
    texts: list[str] = page.evaluate(CLIPPED_TEXTS)
    return texts
