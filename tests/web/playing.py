"""Play on the page like a person, using only visible and enabled controls."""

from __future__ import annotations

import random
import re

from playwright.sync_api import Locator, expect

from tests.web.browsing import Visitor

# Returns the name of the next possible action, or null.
NEXT_ACTION = """() => {
  const isUsable = (id) => {
    const element = document.getElementById(id);
    return element && !element.hidden && !element.disabled && element.getClientRects().length > 0;
  };
  if (document.querySelector("dialog[open] .result")) return "over";
  if (document.querySelector("#handover[open]")) return "handover";
  if (isUsable("draw")) return "draw";
  if (isUsable("keep")) return "offer";
  if (document.querySelector("#hand button[aria-disabled=false]")) return "place";
  if (isUsable("swap")) return "exchange";
  if (isUsable("pass")) return "pass";
  return null;
}"""
# Returns the targets of the selected tile, once the board has stopped moving.
TARGETS = """async () => {
  const marks = () => [...document.querySelectorAll("#board .targets [data-place]")].map((mark) => {
    const { x, y, width, height } = mark.getBoundingClientRect();
    const center = { x: x + width / 2, y: y + height / 2 };
    const top = document.elementFromPoint(center.x, center.y);
    return { name: mark.dataset.place, ...center, uncovered: Boolean(top?.closest("#board")) };
  });
  const nextFrame = () => new Promise(requestAnimationFrame);
  for (let before = marks(); ; ) {
    await nextFrame();
    await nextFrame();
    const now = marks();
    if (JSON.stringify(now) === JSON.stringify(before)) return now;
    before = now;
  }
}"""


class Player:
    """A visitor at a table."""

    def __init__(self, visitor: Visitor, seed: int = 1) -> None:
        self.visitor = visitor
        self.page = visitor.page
        self.rng = random.Random(seed)
        self.max_actions = 0  # largest number of clicks for a placement, without naming a colour
        self.history: list[str] = []

    def wait_for_action(self) -> str:
        """Wait until an action is possible, and return its name."""
        return str(self.visitor.wait_until(NEXT_ACTION))

    @property
    def id(self) -> str:
        match = re.search(r"/t/([^/?#]+)", self.page.url)
        assert match, self.page.url
        return match[1]

    @property
    def tiles(self) -> Locator:
        """The tiles of the hand that can be placed."""
        return self.page.locator("#hand button[aria-disabled=false]")

    def hand(self) -> list[str]:
        """Return the labels of the tiles in hand."""
        labels: list[str] = self.page.locator("#hand button").evaluate_all(
            "tiles => tiles.map((tile) => tile.ariaLabel.replace(/^[^:]*: /, ''))"
        )
        return labels

    def select_tile(self) -> None:
        """Select a tile, unless one is selected."""
        if self.page.locator("#hand button[aria-pressed=true]").count() == 0:
            tiles = self.tiles
            self.visitor.click(tiles.nth(self.rng.randrange(tiles.count())))

    def put_down(self) -> str:
        """Put the tile down on a random target and return the name of the target."""
        targets = self.page.evaluate(TARGETS)
        assert targets, "a tile that can be selected has a target"
        uncovered = [target for target in targets if target["uncovered"]]
        if not uncovered:  # a tip covers the board
            self.page.locator("#tip-next").click()
            return self.put_down()
        target = self.rng.choice(uncovered)
        self.visitor.click_at(target["x"], target["y"])
        return str(target["name"])

    def name_colour(self) -> None:
        """If colours can be named, choose a random one half of the time."""
        choices = self.page.locator("#naming label")
        if choices.count() and self.page.locator("#naming").is_visible() and self.rng.random() < 0.5:
            self.visitor.click(choices.nth(self.rng.randrange(choices.count())))
            self.visitor.actions -= 1

    def place(self) -> None:
        """Make a placement."""
        before = self.visitor.actions
        self.select_tile()
        self.put_down()
        self.name_colour()
        self.visitor.click("#confirm")
        self.max_actions = max(self.max_actions, self.visitor.actions - before)

    def exchange(self) -> None:
        """Exchange random tiles of the hand."""
        self.visitor.click("#swap")
        tiles = self.page.locator("#hand button")
        for index in self.rng.sample(range(tiles.count()), self.rng.randint(1, tiles.count())):
            self.visitor.click(tiles.nth(index))
        self.visitor.click("#confirm")

    def act(self) -> str:
        """Perform the next action and return its name."""
        action = self.wait_for_action()
        match action:
            case "place":
                self.place()
            case "offer":
                self.visitor.click(self.rng.choice(["#keep", "#exchange"]))
            case "draw":
                self.visitor.click("#draw")
            case "exchange":
                self.exchange()
            case "pass":
                self.visitor.click("#pass")
            case "handover":
                self.visitor.click("#handover-confirm")
                expect(self.page.locator("#handover")).to_be_hidden()
        self.history.append(action)
        return action

    def play_to_end(self, limit: int = 400) -> None:
        """Play until the result is shown."""
        for _ in range(limit):
            if self.act() == "over":
                return
        raise AssertionError(
            f"the game did not end within {limit} actions; the last were {self.history[-10:]}"
        )
