"""A view is computed once for all viewers who may know the same, however often they ask."""

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
WATCHERS = 40


class Counter:
    """Counts the views that are made."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.made = 0
        monkeypatch.setattr(views, "complete_view", self._view)

    def _view(self, *of: Any) -> Any:
        self.made += 1
        return complete_view(*of)

    def since(self) -> int:
        """How many were made since this was last asked."""
        made, self.made = self.made, 0
        return made


def test_repeated_take_back_computes_three_views_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(table_config(), SEATED)
            ann = Listener(room, "ann")
            everybody = [ann, Listener(room, "bob"), Listener(room, None)]
            everybody += [Listener(room, f"guest{number}") for number in range(WATCHERS)]
            counter = Counter(monkeypatch)
            for time in range(3):
                await room.move(SeatCommand(0), 0, hold=True)
                assert counter.since() == 0
                await room.take_back(SeatCommand(0, message_id=f"back{time}", sender=ann.client))
                assert counter.since() == 3  # ann's, bob's, and that of all who watch
            for listener in everybody:
                fresh = complete_view(
                    room.game, listener.client.viewer, room.subscribers.present, deadline(room.game)
                )
                told = json.loads(encode(fresh)) | {"ack": "back2" if listener is ann else None}
                assert listener.received[-1] == told

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
            ann, counter = Listener(room, "ann"), Counter(monkeypatch)
            for number in range(20):
                order = {"do": "move", "id": f"m{number}", "n": 1, "pick": 0}
                await handle(room, ann.client, json.dumps(order), server.hints)
            assert [told["code"] for told in ann.received] == ["stale"] * 20
            assert [told["id"] for told in ann.received] == [f"m{number}" for number in range(20)]
            assert all(told["view"]["n"] == room.game.number for told in ann.received)
            assert counter.since() == 1
            number = await room.move(SeatCommand(0), 0)
            await handle(room, ann.client, json.dumps(order), server.hints)
            assert ann.received[-1]["view"]["n"] == number
            assert counter.since() == 1

    run(work)


def test_repeated_looks_share_one_view(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(table_config(), SEATED)
            counter = Counter(monkeypatch)
            guests = [Listener(room, f"guest{number}") for number in range(WATCHERS)]
            for guest in guests:
                await handle(room, guest.client, json.dumps({"do": "look", "id": "a"}), server.hints)
                room.view(Viewer(None, None))
            assert counter.since() == 1
            Listener(room, "bob")  # that he is here now is part of a view
            assert room.view(Viewer(None, None)).seats[1].here
            assert counter.since() == 1
            yours = [room.view(Viewer(person, seat)) for person, seat in (("ann", 0), ("bob", 1))]
            assert [view.you for view in yours] == [0, 1]
            assert counter.since() == 2

    run(work)


def test_uncommitted_change_appears_in_no_view(tmp_path: Path) -> None:
    """A view of a change that failed is not taken for that of another change with the same number."""

    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(table_config(), SEATED)
            number = room.game.number + 1
            room.game.apply(_first_move(room.game))
            ghost = room.view(Viewer(None, None))
            room._state.stale = True  # as after a commit that failed
            assert await room.move(SeatCommand(0), 1) == number
            view = room.view(Viewer(None, None))
            assert (ghost.n, view.n) == (number, number)
            assert ghost.events != view.events

    run(work)


def test_refusal_shows_no_change_that_waits_for_its_commit(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(table_config(), SEATED)
            bob, kept = Listener(room, "bob"), room.game.number
            async with room.lock:
                room.game.apply(SeatTaken(1, "bob", "Bob"))  # carried out, but not yet kept
                order = json.dumps({"do": "preview", "id": "late", "n": 1, "pick": 0})
                hearing = asyncio.create_task(handle(room, bob.client, order, server.hints))
                for _ in range(20):
                    await asyncio.sleep(0)
                assert not bob.received
                room.subscribers.replace_game(await server.rooms._load(room.id))
            await hearing
            await until(lambda: bool(bob.received))
            assert bob.received[-1]["view"]["n"] == kept

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
