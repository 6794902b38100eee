"""Whole games against a bot by real clicks and taps, then result, record and replay."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from axiogames.model.events import Result
from axiogames.model.record import Record, replay
from tests.web.conftest import Visit
from tests.web.playing import Player

MAX_CLICKS_TO_FIRST_MOVE = 4
MAX_CLICKS_PER_MOVE = 3


@pytest.mark.parametrize(
    ("game", "size"),
    [
        ("rota", "phone"),
        pytest.param("axio", "desktop", marks=pytest.mark.slow),
        pytest.param("hex", "desktop", marks=pytest.mark.slow),
        pytest.param("trio", "phone", marks=pytest.mark.slow),
    ],
)
def test_whole_game_against_a_bot(visit: Visit, game: str, size: str, tmp_path: Path) -> None:
    visitor = visit(size, short_pauses=True)
    page = visitor.goto("/")
    visitor.click(f"[data-play={game}]")
    player = Player(visitor, seed=len(game))
    player.act()
    assert visitor.actions <= MAX_CLICKS_TO_FIRST_MOVE
    player.play_to_end()
    assert player.max_actions <= MAX_CLICKS_PER_MOVE
    assert visitor.messages.refused == [], "the page offered a move that the server refused"

    view = visitor.client.view(player.table_id)
    assert view["table"]["status"] == "over"
    dialog = page.locator("dialog[open]")
    expect(dialog.locator("tbody tr")).to_have_count(2)
    expect(dialog.locator(".medal").first).to_have_text("1")

    with page.expect_download() as download:
        visitor.click("#record")
    download.value.save_as(tmp_path / "record.json")
    record = Record.parse((tmp_path / "record.json").read_bytes())
    replay(record)  # checks all moves, scores and draws
    assert record.seed, "the draws can be verified"
    assert isinstance(record.result, Result)
    assert list(record.result.winners) == view["now"]["result"]["winners"]

    moves = sum(1 for event in view["events"] if event["t"] in ("place", "exchange", "pass"))
    visitor.click(dialog.get_by_role("button", name="Replay"))
    step_through_replay(page, moves, tiles=len(view["tiles"]))
    follow_link_to_position(visit, size, player.table_id, moves // 2)


def count_tiles(page: Page) -> int:
    return page.locator("#board .tiles > g").count()


def step_through_replay(page: Page, moves: int, tiles: int) -> None:
    """Step through a replay by its controls."""
    scrubber = page.locator("#scrubber")
    expect(scrubber).to_be_focused()
    expect(scrubber).to_have_attribute("max", str(moves))
    first = count_tiles(page)
    assert first < tiles
    scrubber.press("End")
    expect(page.locator("#status")).to_have_text(f"Move {moves} of {moves}")
    assert count_tiles(page) == tiles
    page.locator("#replay-back").click()
    expect(page.locator("#status")).to_have_text(f"Move {moves - 1} of {moves}")
    page.locator("#replay-forward").click()
    expect(page.locator("#status")).to_have_text(f"Move {moves} of {moves}")
    scrubber.fill(str(moves // 2))
    expect(page.locator("#status")).to_have_text(f"Move {moves // 2} of {moves}")
    assert first < count_tiles(page) < tiles
    assert page.locator(".seat-hand").count() + page.locator("#hand button").count() > 0, "hands are open"
    page.locator("#replay-speed").select_option(index=2)
    page.locator("#replay-play").click()
    expect(page.locator("#status")).not_to_have_text(f"Move {moves // 2} of {moves}")
    expect(page.locator("#status")).to_have_text(f"Move {moves} of {moves}")  # the replay stops there

    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    scrubber.fill("3")
    page.locator("#replay-link").click()
    expect(page.locator(".toast")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == page.url.split("?")[0] + "?move=3"
    for kind, mime in ({"svg": "image/svg+xml", "png": "image/png"}).items():
        href = page.locator(f"#picture-{kind}").get_attribute("href") or ""
        assert "move=3" in href
        picture = page.request.get(page.evaluate("(href) => new URL(href, location.href).href", href))
        assert picture.status == 200
        assert picture.headers["content-type"].startswith(mime)
        assert len(picture.body()) > 1000


def follow_link_to_position(visit: Visit, size: str, table: str, move: int) -> None:
    """Open a link to a position as another visitor."""
    page = visit(size).goto(f"/t/{table}?move={move}")
    expect(page.locator("#scrubber")).to_have_value(str(move))
    expect(page.locator("#status")).to_contain_text(f"Move {move} of")
    assert count_tiles(page) > 0
    page.keyboard.press("End")
    page.keyboard.press(" ")
    expect(page.locator("#status")).to_contain_text("Move 0 of")  # starts again
    page.keyboard.press(" ")
    page.keyboard.press("Escape")
    expect(page.locator("#replay-bar")).to_be_hidden()
