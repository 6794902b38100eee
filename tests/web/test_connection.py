"""Lost connections, server restarts and reloads lose no moves."""

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

CONNECTION_ERRORS = (
    "ERR_CONNECTION_|ERR_INTERNET_DISCONNECTED|ERR_EMPTY_RESPONSE|WebSocket connection"
    "|error occurred when fetching the script"  # the service worker
)
RECONNECT_TIMEOUT = 20_000  # milliseconds; the pauses between retries grow
DISCONNECTED = "#connection:visible, #offline:visible"


class RestartableServer:
    """A separate server that can be restarted at the same address."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.server: RunningServer = start_server(data)

    def restart(self) -> None:
        with patch.object(driving, "free_port", return_value=self.server.port):
            self.server = start_server(self.data)


@pytest.fixture
def restartable(tmp_path: Path) -> Iterator[RestartableServer]:
    restartable = RestartableServer(tmp_path / "data")
    yield restartable
    restartable.server.kill()


def start_game(visitor: Visitor) -> Player:
    """Start a game against a fast bot and make a move."""
    table = visitor.client.open("axio", ["me", "greedy"])
    visitor.set_settings(coach=False)
    visitor.goto(f"/t/{table.id}")
    player = Player(visitor)
    player.act()
    player.wait_for_action()
    return player


def own_placements(view: Json) -> list[Json]:
    return [event for event in view["events"] if event["t"] == "place" and event["p"] == view["you"]]


def visible_state(page: Page) -> Json:
    """Return the visible state of a game."""
    state: Json = page.evaluate("""() => {
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
    return state


def test_reload_keeps_the_state(visit: Visit) -> None:
    player = start_game(visit())
    player.act()
    player.wait_for_action()
    before = visible_state(player.page)
    assert len(before["tiles"]) >= 3
    player.page.reload()
    player.wait_for_action()
    assert visible_state(player.page) == before
    player.act()
    player.wait_for_action()
    assert player.visitor.messages.refused == []


@pytest.mark.parametrize("end", [pytest.param("stop", marks=pytest.mark.slow), "kill"])
def test_page_recovers_from_server_restart(visit: Visit, restartable: RestartableServer, end: str) -> None:
    visitor = visit(url=restartable.server.url)
    visitor.allow(CONNECTION_ERRORS)
    player = start_game(visitor)
    page = player.page
    before = visitor.client.view(player.table_id)
    visible = visible_state(page)

    restartable.server.stop() if end == "stop" else restartable.server.kill()
    expect(page.locator(DISCONNECTED).first).to_be_visible()
    assert visible_state(page) == visible
    player.select_tile()
    place = player.put_down()
    visitor.click("#confirm")  # the server does not receive it
    expect(page.locator("#status")).to_have_text("Sending…")

    restartable.restart()
    expect(page.locator(DISCONNECTED)).to_have_count(0, timeout=RECONNECT_TIMEOUT)
    assert player.wait_for_action() in ("place", "offer")
    after = visitor.client.view(player.table_id)
    assert own_placements(after)[:-1] == own_placements(before)
    assert "-".join(own_placements(after)[-1]["at"]) == place
    assert after["events"][: len(before["events"])] == before["events"]
    for _ in range(2):
        player.act()
        player.wait_for_action()
    assert visitor.messages.refused == []
    ids = {command["id"] for command in visitor.messages.commands("move")}
    assert len(own_placements(visitor.client.view(player.table_id))) == len(ids), "each move was made once"


def test_hint_requested_offline_arrives_after_reconnect(visit: Visit) -> None:
    visitor = visit()
    visitor.allow(CONNECTION_ERRORS)
    player = start_game(visitor)
    page = player.page
    visitor.context.set_offline(True)
    expect(page.locator(DISCONNECTED).first).to_be_visible()
    visitor.click("#hint")
    visitor.context.set_offline(False)
    page.locator("#board .preview.pending").wait_for()
    requested = len(visitor.messages.commands("hint"))
    visitor.context.set_offline(True)
    expect(page.locator(DISCONNECTED).first).to_be_visible()
    visitor.context.set_offline(False)
    expect(page.locator(DISCONNECTED)).to_have_count(0)
    player.act()
    player.wait_for_action()
    assert len(visitor.messages.commands("hint")) == requested, "an answered request is not repeated"


def test_page_recovers_from_offline_browser(visit: Visit) -> None:
    visitor = visit()
    visitor.allow(CONNECTION_ERRORS)
    player = start_game(visitor)
    page = player.page
    before = visitor.client.view(player.table_id)
    visitor.context.set_offline(True)
    expect(page.locator(DISCONNECTED).first).to_be_visible()
    player.select_tile()
    player.put_down()
    visitor.click("#confirm")
    visitor.context.set_offline(False)
    expect(page.locator(DISCONNECTED)).to_have_count(0)
    player.wait_for_action()
    after = visitor.client.view(player.table_id)
    assert len(own_placements(after)) == len(own_placements(before)) + 1
    player.act()
    player.wait_for_action()
    assert visitor.messages.refused == []


def test_broken_socket_reconnects_and_repeats_the_move_once(visit: Visit) -> None:
    """The socket breaks during a move, which is repeated under the same id."""
    visitor = visit()
    sockets = []
    visitor.page.route_web_socket(
        re.compile("/live"), lambda socket: sockets.append(socket.connect_to_server())
    )
    player = start_game(visitor)
    before = visitor.client.view(player.table_id)
    player.select_tile()
    player.put_down()
    sockets[-1].close()
    visitor.click("#confirm")
    assert player.wait_for_action() in ("place", "offer")
    after = visitor.client.view(player.table_id)
    assert len(own_placements(after)) == len(own_placements(before)) + 1
    assert len(sockets) == 2
    expect(player.page.locator(DISCONNECTED)).to_have_count(0)
