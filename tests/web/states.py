"""All pages in all their states, and how to reach them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Page, expect

from tests.web.browsing import Visitor
from tests.web.playing import TARGETS, Player
from tests.web.stage import GAMES, Stage

BOTH = ("en", "de")
LONGER = ("de",)  # the language with longer words, which is enough for most states
HINT = re.compile("^(Hint|Tipp): ")
REVIEW_TIMEOUT = 90_000  # milliseconds; a review takes long on a loaded machine
Open = Callable[[Visitor, Stage], None]


@dataclass(frozen=True)
class State:
    """A page in a state, and how a visitor reaches it."""

    name: str
    open: Open
    board: bool = False  # whether the page has a board, which must be fully visible
    languages: tuple[str, ...] = LONGER

    def show(self, visitor: Visitor, stage: Stage) -> Page:
        """Bring a visitor to the state and wait until the page is complete."""
        stage.sign_in(visitor)
        self.open(visitor, stage)
        visitor.wait_until("() => document.fonts.status === 'loaded'")
        visitor.wait_until("() => [...document.images].every((image) => image.complete)")
        return visitor.page


def settle(page: Page) -> None:
    """Wait until the page has been laid out and its animations have finished."""
    page.evaluate("""async () => {
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      const isTransient = (animation) => animation.effect.getTiming().iterations !== Infinity;
      const animations = document.getAnimations().filter(isTransient);
      await Promise.all(animations.map((animation) => animation.finished.catch(() => {})));
    }""")


def open_path(path: str, shows: str) -> Open:
    """Return a function that opens a page and waits for the element `shows`."""

    def open_page(visitor: Visitor, _: Stage) -> None:
        visitor.goto(path)
        visitor.find(shows).first.wait_for()

    return open_page


def open_missing(path: str, shows: str) -> Open:
    """Return a function that opens a page that does not exist."""

    def open_page(visitor: Visitor, stage: Stage) -> None:
        visitor.allow("404")
        open_path(path, shows)(visitor, stage)

    return open_page


def offline(visitor: Visitor, stage: Stage) -> None:
    """Open the offline page, which reloads as soon as the server answers."""
    visitor.allow("ERR_FAILED")
    visitor.page.route("**/api/**", lambda route: route.abort())
    open_path("/offline", "h1")(visitor, stage)


def home(visitor: Visitor, _: Stage) -> None:
    visitor.goto("/")
    for section in ("#continue", "#games", "#open", "#live", "#finished"):
        visitor.find(f"{section} > li").first.wait_for()


def new_table(visitor: Visitor, stage: Stage) -> None:
    home(visitor, stage)
    visitor.click("#new")
    visitor.find("#new-start").wait_for()
    visitor.find("label:has(#players-4)").click()


def waiting(visitor: Visitor, stage: Stage) -> None:
    visitor.goto(f"/t/{stage.waiting.id}")
    visitor.find("#invite-copy").wait_for()


def invited(visitor: Visitor, stage: Stage) -> None:
    visitor.goto(stage.invite_link(stage.invitation))
    visitor.find("[data-sit]").first.wait_for()


def beginning(visitor: Visitor, stage: Stage) -> None:
    visitor.goto(f"/t/{stage.beginning}")
    Player(visitor).wait_for_action()
    visitor.find("#tips .card").wait_for()


def open_with_hint(visitor: Visitor, table: str) -> Player:
    """Open a table and request a hint, so that a tile waits for confirmation."""
    visitor.set_settings(coach=False)
    visitor.goto(f"/t/{table}")
    player = Player(visitor)
    player.wait_for_action()
    visitor.find("#hint").click()
    expect(visitor.find("#detail")).to_have_text(HINT)
    if visitor.find("#board .preview.pending").count() == 0:  # the hint is an exchange, as some deals have it
        player.select_tile()
        player.put_down()
    visitor.find("#board .preview.pending").wait_for()
    return player


def playing(game: str) -> Open:
    def open_page(visitor: Visitor, stage: Stage) -> None:
        open_with_hint(visitor, stage.running[game])

    return open_page


def selected(visitor: Visitor, stage: Stage) -> None:
    """Select a tile, so that its targets are marked."""
    visitor.set_settings(coach=False)
    visitor.goto(f"/t/{stage.running['axio']}")
    player = Player(visitor)
    player.wait_for_action()
    player.select_tile()
    visitor.page.evaluate(TARGETS)


def naming(visitor: Visitor, stage: Stage) -> None:
    visitor.set_settings(coach=False)
    visitor.goto(f"/t/{stage.naming}")
    player = Player(visitor)
    player.wait_for_action()
    player.select_tile()
    for _ in range(20):
        player.put_down()
        if visitor.find("#naming").is_visible():
            return
        visitor.page.keyboard.press("Escape")
    raise AssertionError("no target of this tile allows naming a colour")


def exchanging(visitor: Visitor, stage: Stage) -> None:
    visitor.set_settings(coach=False)
    visitor.goto(f"/t/{stage.running['trio']}")
    Player(visitor).wait_for_action()
    visitor.click("#swap")
    visitor.click(visitor.find("#hand button").first)
    expect(visitor.find("#confirm")).to_be_enabled()


def offered(visitor: Visitor, stage: Stage) -> None:
    visitor.set_settings(coach=False)
    visitor.goto(f"/t/{stage.offered}")
    visitor.find("#keep").wait_for()


def watching(visitor: Visitor, stage: Stage) -> None:
    visitor.goto(f"/t/{stage.watched}")
    visitor.find("#board .tiles > g").first.wait_for()


def handover(visitor: Visitor, stage: Stage) -> None:
    visitor.goto(f"/t/{stage.shared}")
    visitor.find("#handover-confirm").wait_for()


def finished(visitor: Visitor, stage: Stage) -> None:
    visitor.set_settings(coach=False)
    visitor.goto(f"/t/{stage.finished}")
    visitor.find("#after").wait_for()


def result(visitor: Visitor, stage: Stage) -> None:
    finished(visitor, stage)
    visitor.click("#result")
    visitor.find("dialog .result").wait_for()


def replay(visitor: Visitor, stage: Stage) -> None:
    visitor.set_settings(coach=False)
    visitor.goto(f"/t/{stage.finished}?move=12")
    visitor.find("#replay-bar").wait_for()


def review_summary(visitor: Visitor, stage: Stage) -> None:
    replay(visitor, stage)
    visitor.click("#review")
    visitor.find("#review-dialog").wait_for(timeout=REVIEW_TIMEOUT)


def reviewed_move(visitor: Visitor, stage: Stage) -> None:
    """Open a move of a review, with the better move on the board if there is one."""
    review_summary(visitor, stage)
    visitor.click(visitor.find("#review-dialog li button").first)
    visitor.find("#review-graph").wait_for()
    if visitor.find("#review-show").count():
        visitor.click("#review-show")
        visitor.find("#board [data-best]").wait_for()


def menu(visitor: Visitor, stage: Stage) -> None:
    visitor.set_settings(coach=False)
    visitor.goto(f"/t/{stage.running['hex']}")
    Player(visitor).wait_for_action()
    visitor.click("#menu-button")
    visitor.find("dialog.menu").wait_for()


def history(visitor: Visitor, stage: Stage) -> None:
    visitor.set_settings(coach=False)
    visitor.goto(f"/t/{stage.running['hex']}")
    Player(visitor).wait_for_action()
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
    State("selected", selected, board=True, languages=("en",)),
    State("naming", naming, board=True),
    State("exchanging", exchanging, board=True, languages=("en",)),
    State("offered", offered, board=True),
    State("watching", watching, board=True),
    State("handover", handover),
    State("finished", finished, board=True),
    State("result", result),
    State("replay", replay, board=True),
    State("review-summary", review_summary),
    State("reviewed-move", reviewed_move, board=True),
    State("menu", menu, languages=BOTH),
    State("history", history),
    State("daily", daily, languages=BOTH),
    State("rules", open_path("/rules", "[data-rules]")),
    *(State(f"rules-{game}", open_path(f"/rules/{game}", ".rules-text img")) for game in GAMES),
    State("me", open_path("/me", "#set-language"), languages=BOTH),
    State("privacy", open_path("/privacy", "h1"), languages=BOTH),
    State("missing-page", open_missing("/nothing/here", "h1")),
    State("missing-table", open_missing("/t/unknown", "#load-error")),
    State("offline", offline),
]
