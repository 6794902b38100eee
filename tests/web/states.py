"""The pages and their states, and how to reach them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Page, expect

from tests.web.browsing import Visitor
from tests.web.playing import PLACES, Player
from tests.web.stage import GAMES, Stage

BOTH = ("en", "de")
LONGER = ("de",)
REVIEWING = 90_000  # milliseconds that a review may take on a loaded machine
Open = Callable[[Visitor, Stage], None]


@dataclass(frozen=True)
class State:
    """A page in a state, and how a visitor reaches it."""

    name: str
    open: Open
    board: bool = False  # whether the page has a board, which must be fully visible
    languages: tuple[str, ...] = LONGER  # the language with longer words is enough for most

    def show(self, visitor: Visitor, stage: Stage) -> Page:
        """Bring a visitor to the state and wait until the page is complete."""
        stage.enter(visitor)
        self.open(visitor, stage)
        visitor.until(
            "() => document.fonts.status === 'loaded' && [...document.images].every((one) => one.complete)"
        )
        return visitor.page


def settle(page: Page) -> None:
    """Wait until the page has been laid out and its animations have finished."""
    page.evaluate("""async () => {
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      const ends = (one) => one.effect.getTiming().iterations !== Infinity;
      const passing = document.getAnimations().filter(ends);
      await Promise.all(passing.map((one) => one.finished.catch(() => {})));
    }""")


def at(path: str, shows: str) -> Open:
    """Return a function that opens a page and waits for the element `shows`."""

    def open_page(visitor: Visitor, _: Stage) -> None:
        visitor.goto(path)
        visitor.find(shows).first.wait_for()

    return open_page


def missing(path: str, shows: str) -> Open:
    """Return a function that opens a missing page."""

    def open_page(visitor: Visitor, stage: Stage) -> None:
        visitor.allow("404")
        at(path, shows)(visitor, stage)

    return open_page


def offline(visitor: Visitor, stage: Stage) -> None:
    """Open the offline page, which reloads as soon as the server answers."""
    visitor.allow("ERR_FAILED")
    visitor.page.route("**/api/**", lambda route: route.abort())
    at("/offline", "h1")(visitor, stage)


def home(visitor: Visitor, _: Stage) -> None:
    visitor.goto("/")
    for part in ("#continue", "#games", "#open", "#live", "#finished"):
        visitor.find(f"{part} > li").first.wait_for()


def new_table(visitor: Visitor, stage: Stage) -> None:
    home(visitor, stage)
    visitor.click("#new")
    visitor.find("#new-start").wait_for()
    visitor.find("label:has(#players-4)").click()


def waiting(visitor: Visitor, stage: Stage) -> None:
    visitor.goto(f"/t/{stage.waiting.id}")
    visitor.find("#invite-copy").wait_for()


def invited(visitor: Visitor, stage: Stage) -> None:
    visitor.goto(stage.link(stage.invitation))
    visitor.find("[data-sit]").first.wait_for()


def beginning(visitor: Visitor, stage: Stage) -> None:
    visitor.goto(f"/t/{stage.beginning}")
    Player(visitor).due()
    visitor.find("#tips .card").wait_for()


def picked(visitor: Visitor, table: str) -> Player:
    """Put the best tile down by a hint, so that it waits for confirmation."""
    visitor.set(coach=False)
    visitor.goto(f"/t/{table}")
    player = Player(visitor)
    player.due()
    visitor.find("#hint").click()
    visitor.find("#board .preview.pending").wait_for()
    return player


def playing(game: str) -> Open:
    def open_page(visitor: Visitor, stage: Stage) -> None:
        picked(visitor, stage.running[game])

    return open_page


def turned(visitor: Visitor, stage: Stage) -> None:
    """Select a tile, so that its targets are marked."""
    visitor.set(coach=False)
    visitor.goto(f"/t/{stage.running['axio']}")
    player = Player(visitor)
    player.due()
    player.pick()
    visitor.page.evaluate(PLACES)


def naming(visitor: Visitor, stage: Stage) -> None:
    visitor.set(coach=False)
    visitor.goto(f"/t/{stage.naming}")
    player = Player(visitor)
    player.due()
    player.pick()
    for _ in range(20):
        player.set_down()
        if visitor.find("#naming").is_visible():
            return
        visitor.page.keyboard.press("Escape")
    raise AssertionError("no place for this tile lets its colour be named")


def swapping(visitor: Visitor, stage: Stage) -> None:
    visitor.set(coach=False)
    visitor.goto(f"/t/{stage.running['trio']}")
    Player(visitor).due()
    visitor.click("#swap")
    visitor.click(visitor.find("#hand button").first)
    expect(visitor.find("#confirm")).to_be_enabled()


def offered(visitor: Visitor, stage: Stage) -> None:
    visitor.set(coach=False)
    visitor.goto(f"/t/{stage.offered}")
    visitor.find("#keep").wait_for()


def watching(visitor: Visitor, stage: Stage) -> None:
    visitor.goto(f"/t/{stage.watched}")
    visitor.find("#board .tiles > g").first.wait_for()


def curtain(visitor: Visitor, stage: Stage) -> None:
    visitor.goto(f"/t/{stage.shared}")
    visitor.find("#handover-confirm").wait_for()


def over(visitor: Visitor, stage: Stage) -> None:
    visitor.set(coach=False)
    visitor.goto(f"/t/{stage.finished}")
    visitor.find("#after").wait_for()


def result(visitor: Visitor, stage: Stage) -> None:
    over(visitor, stage)
    visitor.click("#result")
    visitor.find("dialog .result").wait_for()


def replay(visitor: Visitor, stage: Stage) -> None:
    visitor.set(coach=False)
    visitor.goto(f"/t/{stage.finished}?move=12")
    visitor.find("#replay-bar").wait_for()


def reviewed(visitor: Visitor, stage: Stage) -> None:
    """Open the summary of a review."""
    replay(visitor, stage)
    visitor.click("#review")
    visitor.find("#review-dialog").wait_for(timeout=REVIEWING)


def review(visitor: Visitor, stage: Stage) -> None:
    """Open a move in a review, with the better move on the board if there is one."""
    reviewed(visitor, stage)
    visitor.click(visitor.find("#review-dialog li button").first)
    visitor.find("#review-graph").wait_for()
    if visitor.find("#review-show").count():
        visitor.click("#review-show")
        visitor.find("#board [data-best]").wait_for()


def menu(visitor: Visitor, stage: Stage) -> None:
    visitor.set(coach=False)
    visitor.goto(f"/t/{stage.running['hex']}")
    Player(visitor).due()
    visitor.click("#menu-button")
    visitor.find("dialog.menu").wait_for()


def log(visitor: Visitor, stage: Stage) -> None:
    visitor.set(coach=False)
    visitor.goto(f"/t/{stage.running['hex']}")
    Player(visitor).due()
    visitor.page.keyboard.press("l")
    visitor.find("#history-panel").wait_for()


def daily(visitor: Visitor, _: Stage) -> None:
    visitor.goto("/daily")
    visitor.find(".best .you").wait_for()


STATES = [
    State("home", home, languages=BOTH),
    State("new-table", new_table, languages=BOTH),
    State("waiting", waiting),
    State("invited", invited),
    State("beginning", beginning, languages=BOTH),
    State("playing-axio", playing("axio"), board=True),
    State("playing-hex", playing("hex"), board=True),
    State("playing-rota", playing("rota"), board=True, languages=("en",)),
    State("playing-trio", playing("trio"), board=True),
    State("turned", turned, board=True, languages=("en",)),
    State("naming", naming, board=True),
    State("swapping", swapping, board=True, languages=("en",)),
    State("offered", offered, board=True),
    State("watching", watching, board=True),
    State("curtain", curtain),
    State("over", over, board=True),
    State("result", result),
    State("replay", replay, board=True),
    State("reviewed", reviewed),
    State("review", review, board=True),
    State("menu", menu, languages=BOTH),
    State("log", log),
    State("daily", daily, languages=BOTH),
    State("rules", at("/rules", "[data-rules]")),
    *(State(f"rules-{game}", at(f"/rules/{game}", ".rules-text img")) for game in GAMES),
    State("me", at("/me", "#set-language"), languages=BOTH),
    State("privacy", at("/privacy", "h1"), languages=BOTH),
    State("missing", missing("/nothing/here", "h1")),
    State("no-table", missing("/t/unknown", "#load-error")),
    State("offline", offline),
]
