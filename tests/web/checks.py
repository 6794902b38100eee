"""What must hold of every page in every state."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from playwright.sync_api import Page

from tests.web.browsing import Visitor

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
SMALLEST_TARGET = 44

# Controls that are too small for a finger. Links within a text are as high as its lines, and a control may
# have a label that answers to taps instead of it. What lies behind an open dialog cannot be tapped.
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
# What sticks out on the right, if the page can be scrolled sideways at all.
SIDEWAYS = """(width) => {
  const { scrollWidth } = document.documentElement;
  if (scrollWidth <= width && innerWidth <= width) return [];
  const sticksOut = (one) => one.getBoundingClientRect().right > width + 0.5;
  const wide = [...document.body.querySelectorAll("*")].filter(sticksOut);
  const named = wide.slice(0, 5).map((one) => `${one.tagName}#${one.id}.${one.getAttribute("class")}`);
  return [`${scrollWidth} wide: ${named.join(", ")}`];
}"""
# What of the board cannot be seen.
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

# Texts that stick out of what they stand in. Three dots at the end are meant, and so is what can be scrolled.
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
    """Axe, which knows the accessibility rules."""
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


def violations(visitor: Visitor) -> list[str]:
    """What axe finds wrong."""
    options = {"runOnly": {"type": "tag", "values": TAGS}, "resultTypes": ["violations"], "preload": False}
    assert visitor.unexpected == [], visitor.unexpected
    visitor.allow("style-src")  # axe itself writes styles into elements
    visitor.page.evaluate(axe())
    found = visitor.page.evaluate("async (options) => (await axe.run(options)).violations", options)
    nodes = [(rule["id"], node) for rule in found for node in rule["nodes"]]
    return [f"{rule}: {node['html'][:160]} {node['failureSummary']}" for rule, node in nodes]


def small_targets(page: Page) -> list[str]:
    """Controls that a finger misses."""
    found: list[str] = page.evaluate(TARGETS, SMALLEST_TARGET)
    return found


def sideways(page: Page, width: int) -> list[str]:
    """Why the page can be scrolled sideways."""
    found: list[str] = page.evaluate(SIDEWAYS, width)
    return found


def hidden_board(page: Page) -> list[str]:
    """What of the board cannot be seen."""
    found: list[str] = page.evaluate(BOARD)
    return found


def clipped_texts(page: Page) -> list[str]:
    """Texts that cannot be read to their end."""
    found: list[str] = page.evaluate(CLIPPED)
    return found
