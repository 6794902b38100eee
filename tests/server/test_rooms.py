"""Rooms in several processes: presence, concurrent writers, eviction from memory."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from axiogames.server.domain.entries import SeatTaken
from axiogames.server.domain.game_state import now
from axiogames.server.domain.journaled_game import SeatCommand
from axiogames.server.domain.refusals import Refused
from axiogames.server.domain.rooms import share_presence
from axiogames.server.transport.websocket import _send_state
from tests.server.rooms import Listener, run, running, table_config, until


def test_departed_person_does_not_reappear(tmp_path: Path) -> None:
    """A process must not read back the presence that it has stored for others."""

    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(
                table_config(), [SeatTaken(0, "ann", "Ann"), SeatTaken(1, "bob", "Bob")]
            )
            Listener(room, "ann")
            bob = Listener(room, "bob")
            await share_presence(server.rooms, server.store)
            assert room.subscribers.present == {"ann", "bob"}
            room.disconnect(bob.client)
            assert room.subscribers.present == {"ann"}
            await share_presence(server.rooms, server.store)
            assert room.subscribers.present == {"ann"}

    run(work)


def test_person_connected_to_another_process_is_present(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(
                table_config(), [SeatTaken(0, "ann", "Ann"), SeatTaken(1, "bob", "Bob")]
            )
            ann = Listener(room, "ann")
            await server.store.set_present([(room.id, "bob")], now() + 10_000)
            await share_presence(server.rooms, server.store)
            await until(lambda: bool(ann.received))
            assert [seat["here"] for seat in ann.received[-1]["seats"]] == [True, True]
            await server.store.set_present([(room.id, "bob")], now() - 1)
            await share_presence(server.rooms, server.store)
            await until(lambda: ann.received[-1]["seats"][1]["here"] is False)

    run(work)


def test_unused_rooms_are_evicted_and_loaded_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("axiogames.server.domain.rooms.RECENT_ROOMS", 2)

    async def work() -> None:
        async with running(tmp_path) as server:
            seated = [SeatTaken(0, "ann", "Ann"), SeatTaken(1, "bob", "Bob")]
            rooms = [await server.rooms.open(table_config(id=f"table{n}"), seated) for n in range(5)]
            Listener(rooms[0], "ann")
            await rooms[1].move(SeatCommand(0), 0)
            server.rooms._rooms.pop("table4")
            again = await server.rooms.get("table4")
            assert again is not rooms[4]
            assert len(server.rooms) <= 3
            assert (await server.rooms.get("table0")) is rooms[0]  # it has a client
            assert (await server.rooms.get("table1")).game.number == 4
            first, second = await asyncio.gather(server.rooms.get("table2"), server.rooms.get("table2"))
            assert first is second

    run(work)


def test_reconnecting_during_a_remote_write_repeats_no_message(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as here, running(tmp_path) as there:
            room = await here.rooms.open(
                table_config(), [SeatTaken(0, "ann", "Ann"), SeatTaken(1, "bob", "Bob")]
            )
            number = await room.move(SeatCommand(0), 0)
            elsewhere = await there.rooms.get(room.id)
            await elsewhere.move(SeatCommand(1), 0)  # `here` does not know this entry yet
            ann = Listener(room, "ann", connect=False)
            await _send_state(here, room, ann.client, str(number - 1))
            await here.rooms.on_notification(f"{room.id}:{number + 1}")
            await until(lambda: any(message.get("n") == number + 1 for message in ann.received))
            steps = [message["n"] for message in ann.received if message["type"] == "step"]
            assert steps == [number, number + 1]

    run(work)


def test_one_of_two_concurrent_writers_wins_and_both_follow(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as here, running(tmp_path) as there:
            room = await here.rooms.open(
                table_config(), [SeatTaken(0, "ann", "Ann"), SeatTaken(1, "bob", "Bob")]
            )
            elsewhere = await there.rooms.get(room.id)
            number = room.game.number
            results = await asyncio.gather(
                room.move(SeatCommand(0, number, "one"), 0),
                elsewhere.move(SeatCommand(0, number, "two"), 1),
                return_exceptions=True,
            )
            refused = [result for result in results if isinstance(result, Refused)]
            assert [error.code for error in refused] == ["stale"]
            assert number + 1 in results
            await here.rooms.on_notification(f"{room.id}:{number + 1}")
            await there.rooms.on_notification(f"{room.id}:{number + 1}")
            assert room.game.table is not None
            assert elsewhere.game.table is not None
            assert room.game.table.events == elsewhere.game.table.events

    run(work)
