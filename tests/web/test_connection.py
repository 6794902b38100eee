"""Lost connections, server restarts and reloads: nothing is lost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
from playwright.sync_api import Page, expect

from tests.server import driving
from tests.server.driving import Json, RunningServer, start_server
from tests.web.browsing import Visitor
from tests.web.conftest import Visit
from tests.web.playing import Player

NO_ANSWER = r"ERR_CONNECTION_|ERR_INTERNET_DISCONNECTED|ERR_EMPTY_RESPONSE|WebSocket connection"
LONGEST_PAUSE = 20_000  # milliseconds; retries become less frequent
AWAY = "#connection:visible, #offline:visible"


class Host:
    """A separate server that can be stopped and restarted at the same address."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.server: RunningServer = start_server(data)

    def start_again(self) -> None:
        with patch.object(driving, "free_port", return_value=self.server.port):
            self.server = start_server(self.data)


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    found = Host(tmp_path / "data")
    yield found
    found.server.kill()


def start_game(visitor: Visitor, game: str = "axio") -> Player:
    """Start a game against a fast bot and make a move."""
    table = visitor.client.open(game, ["me", "greedy"])
    visitor.set(coach=False)
    visitor.goto(f"/t/{table.id}")
    player = Player(visitor)
    player.act()
    player.due()
    return player


def placements(view: Json) -> list[Json]:
    return [event for event in view["events"] if event["t"] == "place" and event["p"] == view["you"]]


def shown(page: Page) -> Json:
    """Return what a player sees of a game."""
    found: Json = page.evaluate("""() => {
      const all = (selector, read) => [...document.querySelectorAll(selector)].map(read);
      return {
        tiles: all("#board .tiles > g", (tile) => `${tile.dataset.tile} ${tile.dataset.at}`).sort(),
        hand: all("#hand button", (tile) => tile.ariaLabel),
        log: all("#history li", (line) => line.textContent),
        points: all("#tracks .track b, #opponents .seat-track b", (points) => points.textContent),
        status: document.getElementById("status").textContent,
        left: document.getElementById("left").textContent,
      };
    }""")
    return found


def test_reload_keeps_the_state(visit: Visit) -> None:
    player = start_game(visit())
    player.act()
    player.due()
    before = shown(player.page)
    assert len(before["tiles"]) >= 3
    player.page.reload()
    player.due()
    assert shown(player.page) == before
    player.act()
    player.due()
    assert player.visitor.messages.refused == []


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_page_recovers_from_server_restart(visit: Visit, host: Host, end: str) -> None:
    visitor = visit(url=host.server.url)
    visitor.allow(NO_ANSWER)
    player = start_game(visitor)
    page = player.page
    before = visitor.client.view(player.id)
    seen = shown(page)

    host.server.stop() if end == "stop" else host.server.kill()
    expect(page.locator(AWAY).first).to_be_visible()
    assert shown(page) == seen
    player.pick()
    place = player.set_down()
    visitor.click("#confirm")  # the server does not receive it
    expect(page.locator("#status")).to_have_text("Sending…")

    host.start_again()
    expect(page.locator(AWAY)).to_have_count(0, timeout=LONGEST_PAUSE)
    assert player.due() in ("place", "offer")
    after = visitor.client.view(player.id)
    assert placements(after)[:-1] == placements(before)
    assert "-".join(placements(after)[-1]["at"]) == place
    assert after["events"][: len(before["events"])] == before["events"]
    for _ in range(2):
        player.act()
        player.due()
    assert visitor.messages.refused == []
    ids = [order["id"] for order in visitor.messages.commands("move")]
    assert len(placements(visitor.client.view(player.id))) == len(set(ids)), "each move was made once"


def test_hint_requested_offline_arrives_after_reconnect(visit: Visit) -> None:
    visitor = visit()
    visitor.allow(NO_ANSWER)
    player = start_game(visitor)
    page = player.page
    visitor.context.set_offline(True)
    expect(page.locator(AWAY).first).to_be_visible()
    visitor.click("#hint")
    visitor.context.set_offline(False)
    page.locator("#board .preview.pending").wait_for()
    asked = len(visitor.messages.commands("hint"))
    visitor.context.set_offline(True)
    expect(page.locator(AWAY).first).to_be_visible()
    visitor.context.set_offline(False)
    expect(page.locator(AWAY)).to_have_count(0)
    player.act()
    player.due()
    assert len(visitor.messages.commands("hint")) == asked, "what is answered is not asked for again"


def test_page_recovers_from_offline_browser(visit: Visit) -> None:
    visitor = visit()
    visitor.allow(NO_ANSWER)
    player = start_game(visitor)
    page = player.page
    before = visitor.client.view(player.id)
    visitor.context.set_offline(True)
    expect(page.locator(AWAY).first).to_be_visible()
    player.pick()
    player.set_down()
    visitor.click("#confirm")
    visitor.context.set_offline(False)
    expect(page.locator(AWAY)).to_have_count(0)
    player.due()
    after = visitor.client.view(player.id)
    assert len(placements(after)) == len(placements(before)) + 1
    player.act()
    player.due()
    assert visitor.messages.refused == []


def test_broken_socket_reconnects_and_repeats_the_move_once(visit: Visit) -> None:
    """The socket breaks during a move. The move is repeated under the same id and made once."""
    visitor = visit()
    sockets = []
    visitor.page.route_web_socket(
        re.compile("/live"), lambda socket: sockets.append(socket.connect_to_server())
    )
    player = start_game(visitor)
    before = visitor.client.view(player.id)
    player.pick()
    player.set_down()
    sockets[-1].close()
    visitor.click("#confirm")
    assert player.due() in ("place", "offer")
    after = visitor.client.view(player.id)
    assert len(placements(after)) == len(placements(before)) + 1
    assert len(sockets) == 2
    expect(player.page.locator(AWAY)).to_have_count(0)
