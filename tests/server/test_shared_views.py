"""Views are computed once per change for all viewers with the same knowledge."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from axiogames.server.domain.entries import UNDRAWN, MovePlayed, SeatTaken, TableEntry
from axiogames.server.domain.game_state import GameState, deadline
from axiogames.server.domain.journaled_game import SeatCommand
from axiogames.server.presentation import views
from axiogames.server.presentation.views import ViewCache, Viewer, complete_view, new_serial
from axiogames.server.transport.client import encode
from axiogames.server.transport.commands import handle
from tests.server.rooms import Listener, run, running, table_config, until

SEATED: list[TableEntry] = [SeatTaken(0, "ann", "Ann"), SeatTaken(1, "bob", "Bob")]
SPECTATORS = 40


class ViewCounter:
    """Counts the views that are computed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.computed = 0
        monkeypatch.setattr(views, "complete_view", self._view)

    def _view(self, *args: Any) -> Any:
        self.computed += 1
        return complete_view(*args)

    def take(self) -> int:
        """Return the number of views computed since the last call."""
        count, self.computed = self.computed, 0
        return count


def test_repeated_take_back_computes_three_views_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(table_config(), SEATED)
            ann = Listener(room, "ann")
            everybody = [ann, Listener(room, "bob"), Listener(room, None)]
            everybody += [Listener(room, f"guest{number}") for number in range(SPECTATORS)]
            counter = ViewCounter(monkeypatch)
            for repetition in range(3):
                await room.move(SeatCommand(0), 0, hold=True)
                assert counter.take() == 0
                await room.take_back(SeatCommand(0, message_id=f"back{repetition}", sender=ann.client))
                assert counter.take() == 3  # those of Ann, Bob and all spectators
            for listener in everybody:
                fresh = complete_view(
                    room.game, listener.client.viewer, room.subscribers.present, deadline(room.game)
                )
                expected = json.loads(encode(fresh)) | {"ack": "back2" if listener is ann else None}
                assert listener.received[-1] == expected

    run(work)


def test_old_name_appears_in_no_view(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(table_config(), SEATED)
            viewers = [Viewer("ann", 0), Viewer("bob", 1), Viewer(None, None)]
            for viewer in viewers:
                assert room.view(viewer).seats[0].name == "Ann"
            await room.rename("ann", "Anna")
            for viewer in viewers:
                assert room.view(viewer).seats[0].name == "Anna"

    run(work)


def test_stale_messages_share_one_view(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(table_config(), SEATED)
            ann, counter = Listener(room, "ann"), ViewCounter(monkeypatch)
            for number in range(20):
                command = {"do": "move", "id": f"m{number}", "n": 1, "pick": 0}
                await handle(room, ann.client, json.dumps(command), server.hints)
            assert [message["code"] for message in ann.received] == ["stale"] * 20
            assert [message["id"] for message in ann.received] == [f"m{number}" for number in range(20)]
            assert all(message["view"]["n"] == room.game.number for message in ann.received)
            assert counter.take() == 1
            number = await room.move(SeatCommand(0), 0)
            await handle(room, ann.client, json.dumps(command), server.hints)
            assert ann.received[-1]["view"]["n"] == number
            assert counter.take() == 1

    run(work)


def test_repeated_looks_share_one_view(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(table_config(), SEATED)
            counter = ViewCounter(monkeypatch)
            guests = [Listener(room, f"guest{number}") for number in range(SPECTATORS)]
            for guest in guests:
                await handle(room, guest.client, json.dumps({"do": "look", "id": "a"}), server.hints)
                room.view(Viewer(None, None))
            assert counter.take() == 1
            Listener(room, "bob")  # presence is part of a view
            assert room.view(Viewer(None, None)).seats[1].here
            assert counter.take() == 1
            yours = [room.view(Viewer(person, seat)) for person, seat in (("ann", 0), ("bob", 1))]
            assert [view.you for view in yours] == [0, 1]
            assert counter.take() == 2

    run(work)


def test_uncommitted_change_appears_in_no_view(tmp_path: Path) -> None:
    """The cached view of a failed change is not used for another change with the same number."""

    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(table_config(), SEATED)
            number = room.game.number + 1
            room.game.apply(_first_move(room.game))
            uncommitted = room.view(Viewer(None, None))
            room._state.stale = True  # as after a commit that failed
            assert await room.move(SeatCommand(0), 1) == number
            view = room.view(Viewer(None, None))
            assert (uncommitted.n, view.n) == (number, number)
            assert uncommitted.events != view.events

    run(work)


def test_refusal_shows_no_uncommitted_change(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(table_config(), SEATED)
            bob, committed = Listener(room, "bob"), room.game.number
            async with room.lock:
                room.game.apply(SeatTaken(1, "bob", "Bob"))  # applied, but not committed
                command = json.dumps({"do": "preview", "id": "late", "n": 1, "pick": 0})
                handling = asyncio.create_task(handle(room, bob.client, command, server.hints))
                for _ in range(20):
                    await asyncio.sleep(0)
                assert not bob.received
                room.subscribers.replace_game(await server.rooms._load(room.id))
            await handling
            await until(lambda: bool(bob.received))
            assert bob.received[-1]["view"]["n"] == committed

    run(work)


def test_view_cache_is_bounded(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(table_config(), SEATED)
            cache = ViewCache(5)
            for _ in range(20):
                cache.view(new_serial(), room.game, Viewer(None, None), frozenset(), None)
            assert len(cache._views) == 5

    run(work)


def _first_move(game: GameState) -> MovePlayed:
    assert game.table is not None
    return MovePlayed(0, str(game.table.legal_moves()[0]), UNDRAWN)
