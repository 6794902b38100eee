"""Tables of the browser: whole games without a server, with a reload in the middle, and their records."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from axiogames.games import GAMES
from axiogames.model.record import Record, replay
from tests.server.driving import start_server
from tests.web.browsing import Visitor
from tests.web.conftest import Visit
from tests.web.playing import Player
from tests.web.test_service_worker import INTERRUPTED, open_home

OFFLINE = f"{INTERRUPTED}|ERR_FAILED|ERR_INTERNET_DISCONNECTED"
OPEN_TABLES = """async () => new Promise((resolve, reject) => {
  const request = indexedDB.open("local-tables");
  request.onerror = () => reject(request.error);
  request.onsuccess = () => {
    const all = request.result.transaction("tables").objectStore("tables").getAll();
    all.onsuccess = () => resolve(all.result);
  };
})"""
MOVES_BEFORE_RELOAD = 3


def visit_once(visit: Visit, folder: Path) -> Visitor:
    """Return a visitor who has seen the home page of a server that has stopped since."""
    with start_server(folder / "data") as server:
        visitor = visit(url=server.url, short_pauses=True)
        visitor.allow(OFFLINE)
        open_home(visitor)
    return visitor


def play_offline(visitor: Visitor, game: str, level: str | None = None) -> Record:
    """Play a game without a server, reload the page in the middle, and return the record."""
    visitor.goto("/")
    if level is None:
        visitor.click(f"[data-play={game}]")
    else:
        visitor.click(f"[data-more={game}]")
        visitor.find("[data-level]").select_option(level)
        visitor.click("#new-start")
    player = Player(visitor)
    for _ in range(MOVES_BEFORE_RELOAD):
        player.act()
    player.wait_for_action()
    (before,) = [table for table in visitor.page.evaluate(OPEN_TABLES) if not table["over"]]
    visitor.page.reload()
    player.wait_for_action()
    (after,) = [table for table in visitor.page.evaluate(OPEN_TABLES) if not table["over"]]
    assert after["actions"] == before["actions"]
    player.play_to_end()
    with visitor.page.expect_download() as download:
        visitor.click("#record")
    return Record.parse(Path(download.value.path()).read_text())


def check_record(record: Record, game: str) -> None:
    assert record.game == game
    assert replay(record).over, "the rules of Python agree with every event"


def test_game_without_a_server(visit: Visit, tmp_path: Path) -> None:
    visitor = visit_once(visit, tmp_path)
    check_record(play_offline(visitor, GAMES[0]), GAMES[0])
    visitor.click("dialog[open] .sheet-top button")
    visitor.click("#replay")
    expect(visitor.find("#replay-bar")).to_be_visible()


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_games_against_the_strongest_bot_without_a_server(visit: Visit, tmp_path: Path, game: str) -> None:
    visitor = visit_once(visit, tmp_path)
    check_record(play_offline(visitor, game, "level8"), game)


def test_second_tab_takes_the_table_over(visit: Visit, tmp_path: Path) -> None:
    visitor = visit_once(visit, tmp_path)
    visitor.goto("/")
    visitor.click(f"[data-play={GAMES[0]}]")
    Player(visitor).wait_for_action()
    first, address = visitor.page, visitor.page.url
    visitor.page = visitor.context.new_page()
    visitor.page.goto(address)
    Player(visitor).wait_for_action()
    expect(first.locator("#load-error")).to_be_visible()
    Player(visitor).act()


def test_unfinished_game_is_listed_on_the_home_page(visit: Visit, tmp_path: Path) -> None:
    visitor = visit_once(visit, tmp_path)
    visitor.goto("/")
    visitor.click(f"[data-play={GAMES[1]}]")
    Player(visitor).act()
    address = visitor.page.url
    visitor.goto("/")
    visitor.click(visitor.find("#continue a").first)
    Player(visitor).wait_for_action()
    assert visitor.page.url == address
    assert json.dumps(visitor.page.evaluate(OPEN_TABLES)).count('"id"') == 1
