"""Play on the page like a person: by what is visible and clickable."""

from __future__ import annotations

import random
import re

from playwright.sync_api import Locator, expect

from tests.web.browsing import Visitor

# The next possible action, or null.
DUE = """() => {
  const there = (id) => {
    const found = document.getElementById(id);
    return found && !found.hidden && !found.disabled && found.getClientRects().length > 0;
  };
  if (document.querySelector("dialog[open] .result")) return "over";
  if (document.querySelector("#handover[open]")) return "curtain";
  if (there("draw")) return "draw";
  if (there("keep")) return "offer";
  if (document.querySelector("#hand button[aria-disabled=false]")) return "place";
  if (there("swap")) return "swap";
  if (there("pass")) return "pass";
  return null;
}"""
# The targets of the tile, once the board has stopped moving.
PLACES = """async () => {
  const marks = () => [...document.querySelectorAll("#board .targets [data-place]")].map((mark) => {
    const { x, y, width, height } = mark.getBoundingClientRect();
    const middle = { name: mark.dataset.place, x: x + width / 2, y: y + height / 2 };
    return { ...middle, free: Boolean(document.elementFromPoint(middle.x, middle.y)?.closest("#board")) };
  });
  const later = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  for (let before = marks(); ; ) {
    await later();
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
        self.max_actions = 0  # per placement, without naming a colour
        self.named = 0
        self.did: list[str] = []

    def due(self) -> str:
        """Wait until an action is possible, and return its name."""
        return str(self.visitor.until(DUE))

    @property
    def id(self) -> str:
        found = re.search(r"/t/([^/?#]+)", self.page.url)
        assert found, self.page.url
        return found[1]

    @property
    def tiles(self) -> Locator:
        """The tiles of the hand that can be placed."""
        return self.page.locator("#hand button[aria-disabled=false]")

    def hand(self) -> list[str]:
        """Return the labels of the tiles in hand."""
        labels: list[str] = self.page.locator("#hand button").evaluate_all(
            "all => all.map((one) => one.ariaLabel.replace(/^[^:]*: /, ''))"
        )
        return labels

    def pick(self) -> None:
        """Select a tile, unless one is selected."""
        if self.page.locator("#hand button[aria-pressed=true]").count() == 0:
            tiles = self.tiles
            self.visitor.click(tiles.nth(self.rng.randrange(tiles.count())))

    def set_down(self) -> str:
        """Put the tile down on a random target and return the name of the target."""
        places = self.page.evaluate(PLACES)
        assert places, "a tile that can be picked has a place"
        free = [place for place in places if place["free"]]
        if not free:  # a tip covers them
            self.page.locator("#tip-next").click()
            return self.set_down()
        place = self.rng.choice(free)
        self.visitor.click_at(place["x"], place["y"])
        return str(place["name"])

    def name(self) -> None:
        """Sometimes choose another colour than the suggested one, if there is a choice."""
        choices = self.page.locator("#naming label")
        if choices.count() and self.page.locator("#naming").is_visible() and self.rng.random() < 0.5:
            self.visitor.click(choices.nth(self.rng.randrange(choices.count())))
            self.visitor.actions -= 1
            self.named += 1

    def place(self) -> None:
        """Make a placement."""
        before = self.visitor.actions
        self.pick()
        self.set_down()
        self.name()
        self.visitor.click("#confirm")
        self.max_actions = max(self.max_actions, self.visitor.actions - before)

    def swap(self) -> None:
        """Exchange random tiles of the hand."""
        self.visitor.click("#swap")
        tiles = self.page.locator("#hand button")
        for number in self.rng.sample(range(tiles.count()), self.rng.randint(1, tiles.count())):
            self.visitor.click(tiles.nth(number))
        self.visitor.click("#confirm")

    def act(self) -> str:
        """Perform the next action and return its name."""
        due = self.due()
        match due:
            case "place":
                self.place()
            case "offer":
                self.visitor.click(self.rng.choice(["#keep", "#exchange"]))
            case "draw":
                self.visitor.click("#draw")
            case "swap":
                self.swap()
            case "pass":
                self.visitor.click("#pass")
            case "curtain":
                self.visitor.click("#handover-confirm")
                expect(self.page.locator("#handover")).to_be_hidden()
        self.did.append(due)
        return due

    def play_to_the_end(self, most: int = 400) -> None:
        """Play until the result is shown."""
        for _ in range(most):
            if self.act() == "over":
                return
        raise AssertionError(f"the game did not end after {self.did[-10:]}")
