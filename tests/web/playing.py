"""Playing at the page as a person does: by what can be seen and clicked."""

from __future__ import annotations

import random
import re

from playwright.sync_api import Locator, expect

from tests.web.browsing import Visitor

# What there is to do now; null as long as there is nothing.
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
# The places for the tile, once the board does not move any more.
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
        self.lots = random.Random(seed)
        self.most_actions = 0  # for one placement, naming apart
        self.named = 0
        self.did: list[str] = []

    def due(self) -> str:
        """Wait until there is something to do: what."""
        return str(self.visitor.until(DUE))

    @property
    def id(self) -> str:
        found = re.search(r"/t/([^/?#]+)", self.page.url)
        assert found, self.page.url
        return found[1]

    @property
    def tiles(self) -> Locator:
        """Tiles of the hand that can be placed."""
        return self.page.locator("#hand button[aria-disabled=false]")

    def hand(self) -> list[str]:
        """The tiles of the hand as they are called."""
        labels: list[str] = self.page.locator("#hand button").evaluate_all(
            "all => all.map((one) => one.ariaLabel.replace(/^[^:]*: /, ''))"
        )
        return labels

    def pick(self) -> None:
        """Take a tile up, if none is yet."""
        if self.page.locator("#hand button[aria-pressed=true]").count() == 0:
            tiles = self.tiles
            self.visitor.click(tiles.nth(self.lots.randrange(tiles.count())))

    def set_down(self) -> str:
        """Put the tile onto one of the places that are marked for it: the place's name."""
        places = self.page.evaluate(PLACES)
        assert places, "a tile that can be picked has a place"
        free = [place for place in places if place["free"]]
        if not free:  # an explanation lies over them
            self.page.locator("#tip-next").click()
            return self.set_down()
        place = self.lots.choice(free)
        self.visitor.click_at(place["x"], place["y"])
        return str(place["name"])

    def name(self) -> None:
        """Sometimes choose another colour than the proposed one, where there is a choice."""
        choices = self.page.locator("#naming label")
        if choices.count() and self.page.locator("#naming").is_visible() and self.lots.random() < 0.5:
            self.visitor.click(choices.nth(self.lots.randrange(choices.count())))
            self.visitor.actions -= 1
            self.named += 1

    def place(self) -> None:
        """A whole placement."""
        before = self.visitor.actions
        self.pick()
        self.set_down()
        self.name()
        self.visitor.click("#confirm")
        self.most_actions = max(self.most_actions, self.visitor.actions - before)

    def swap(self) -> None:
        """Exchange some tiles of the hand."""
        self.visitor.click("#swap")
        tiles = self.page.locator("#hand button")
        for number in self.lots.sample(range(tiles.count()), self.lots.randint(1, tiles.count())):
            self.visitor.click(tiles.nth(number))
        self.visitor.click("#confirm")

    def act(self) -> str:
        """Do what there is to do; what it was."""
        due = self.due()
        match due:
            case "place":
                self.place()
            case "offer":
                self.visitor.click(self.lots.choice(["#keep", "#exchange"]))
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
