"""What a room does by itself: it draws, keeps the clock, calls bots, notices who is gone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from axio.server.play import presence
from axio.server.play.acts import Act, Hired, Moved, Sat, read_act
from axio.server.play.connection import Connection
from axio.server.play.entries import deadline, now
from axio.server.play.game import Terms
from axio.server.play.refusals import Refused
from axio.server.play.room import Room
from axio.server.running import Server, assemble
from axio.server.settings import Settings

SOON = 20.0


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[Server]:
    """The parts of a server without its routes, and without what it does at its start."""
    server = assemble(Settings(data=str(folder), bot_threads=1))
    await server.database.upgrade()
    try:
        yield server
    finally:
        server.rooms.close()
        await server.journal.close()
        server.bots.close()
        await server.database.close()


def terms(players: int = 2, *, game: str = "rota", move_time: int | None = None, id: str = "table") -> Terms:
    return Terms(
        id=id,
        game=game,
        players=players,
        options={},
        public=False,
        move_time=move_time,
        daily=None,
        owner="ann",
        invite="key",
        seed="5eed",
        created=now(),
    )


class Listener:
    """A client in memory: what it has been told."""

    def __init__(self, room: Room, person: str | None) -> None:
        self.heard: list[dict[str, Any]] = []
        self.client = Connection(self._take, person, room.seat_to_look_from(person))
        room.enter(self.client)

    async def _take(self, text: str) -> None:
        self.heard.append(json.loads(text))


async def entries(server: Server, room: Room) -> list[Act]:
    return [read_act(body) for _, _, body in await server.store.entries(room.id)]


async def until(met: Callable[[], bool]) -> None:
    """Wait for something that happens by itself."""
    async with asyncio.timeout(SOON):
        while not met():
            await asyncio.sleep(0.005)


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(asyncio.wait_for(work(), 60))


def test_a_held_draw_is_made_after_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("axio.server.play.entries.HOLD", 0.05)

    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(terms(), [Sat(0, "ann", "Ann"), Sat(1, "bob", "Bob")])
            hers, his = Listener(room, "ann"), Listener(room, "bob")
            number = await room.move(0, 0, hold=True)
            assert room.game.held == 0
            await until(lambda: room.game.held is None)
            await until(lambda: len(his.heard) >= 2)
            assert room.game.number == number + 1
            assert room.game.turn == 1
            steps = [told for told in his.heard if told["type"] == "step"]
            assert [told["n"] for told in steps] == [number, number + 1]
            assert steps[-1]["events"][0]["t"] == "draw"
            assert hers.heard[-1]["now"]["held"] is False
            with pytest.raises(Refused, match="before a tile is drawn"):
                await room.take_back(0, None, "", None)

    run(work)


def test_a_held_draw_of_a_table_that_nobody_has_in_memory_is_made_after_a_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("axio.server.play.entries.HOLD", 0.05)

    async def before() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(terms(), [Sat(0, "ann", "Ann"), Sat(1, "bob", "Bob")])
            await room.move(0, 0, hold=True)
            room.close()

    async def after() -> None:
        async with running(tmp_path) as server:
            sweeping = asyncio.create_task(server.rooms.sweep())
            room = await server.rooms.get("table")
            await until(lambda: room.game.held is None)
            sweeping.cancel()

    run(before)
    run(after)


def test_the_clock_moves_for_those_who_do_not(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            acts: list[Act] = [Sat(0, "ann", "Ann"), Sat(1, "bob", "Bob"), Hired(2, "random")]
            room = await server.rooms.open(terms(3, move_time=0), acts)
            listener = Listener(room, "ann")
            await until(lambda: room.game.status == "over")
            moves = [act for act in await entries(server, room) if isinstance(act, Moved)]
            assert {act.by for act in moves if act.seat < 2} == {"clock"}
            assert {act.by for act in moves if act.seat == 2} == {""}
            await until(lambda: listener.heard[-1].get("now", {}).get("phase") == "over")
            numbers = [told["n"] for told in listener.heard if told["type"] == "step"]
            assert numbers == list(range(5, 5 + len(moves)))

    run(work)


def test_a_deadline_counts_from_the_last_entry(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(terms(move_time=600), [Sat(0, "ann", "Ann"), Sat(1, "bob", "Bob")])
            assert deadline(room.game) == room.game.since + 600_000
            before = room.game.since
            await asyncio.sleep(0.01)
            await room.move(0, 0)
            assert room.game.since > before
            assert deadline(room.game) == room.game.since + 600_000
            listener = Listener(room, "bob")
            await room.move(1, 0)
            await until(lambda: bool(listener.heard))
            assert listener.heard[-1]["now"]["deadline"] == deadline(room.game)
            kept = await server.store.find("table")
            assert kept is not None
            assert kept["due"] == deadline(room.game)

    run(work)


def test_a_placement_of_the_clock_is_not_taken_back(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(terms(), [Sat(0, "ann", "Ann"), Sat(1, "bob", "Bob")])
            await room.move(0, 0, by="clock", hold=True)
            assert room.game.held == 0
            with pytest.raises(Refused, match="only by its player"):
                await room.take_back(0, None, "", None)

    run(work)


def test_a_bot_is_called_for_somebody_who_has_been_away_for_two_minutes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(terms(), [Sat(0, "ann", "Ann"), Sat(1, "bob", "Bob")])
            bob = Listener(room, "bob")
            monkeypatch.setattr("axio.server.play.audience.ABSENT", 0.0)
            with pytest.raises(Refused, match="two minutes"):
                await room.hire(1, "greedy", "ann")  # he is here
            room.leave(bob.client)
            monkeypatch.setattr("axio.server.play.audience.ABSENT", 120.0)
            with pytest.raises(Refused, match="two minutes"):
                await room.hire(1, "greedy", "ann")  # he has only just gone
            monkeypatch.setattr("axio.server.play.audience.ABSENT", 0.0)
            with pytest.raises(Refused, match="only those who play"):
                await room.hire(1, "greedy", "eve")
            await room.hire(1, "greedy", "ann")
            assert (room.game.seats[1].bot, room.game.seats[1].person) == ("greedy", "bob")
            with pytest.raises(Refused, match="nobody has left"):
                await room.hire(1, "greedy", "ann")
            number = await room.move(0, 0)
            await until(lambda: room.game.number > number)  # the bot moves
            await room.come_back("bob", 1)
            assert room.game.seats[1].bot is None

    run(work)


def test_a_bot_that_fails_makes_some_legal_move(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("no idea")

    monkeypatch.setattr("axio.players.greedy.Greedy.choose", broken)

    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(terms(), [Sat(0, "ann", "Ann"), Hired(1, "greedy")])
            number = await room.move(0, 0)
            await until(lambda: room.game.number > number)
            assert room.game.turn == 0

    run(work)


def test_somebody_who_has_left_is_not_said_to_be_here_again(tmp_path: Path) -> None:
    """What a process notes for the others must not come back to itself."""

    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(terms(), [Sat(0, "ann", "Ann"), Sat(1, "bob", "Bob")])
            Listener(room, "ann")
            bob = Listener(room, "bob")
            await presence._once(server.rooms, server.store)
            assert room.audience.here == {"ann", "bob"}
            room.leave(bob.client)
            assert room.audience.here == {"ann"}
            await presence._once(server.rooms, server.store)
            assert room.audience.here == {"ann"}

    run(work)


def test_somebody_at_another_process_is_here(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(terms(), [Sat(0, "ann", "Ann"), Sat(1, "bob", "Bob")])
            ann = Listener(room, "ann")
            await server.store.set_here([(room.id, "bob")], now() + 10_000)
            await presence._once(server.rooms, server.store)
            await until(lambda: bool(ann.heard))
            assert [seat["here"] for seat in ann.heard[-1]["seats"]] == [True, True]
            await server.store.set_here([(room.id, "bob")], now() - 1)
            await presence._once(server.rooms, server.store)
            await until(lambda: ann.heard[-1]["seats"][1]["here"] is False)

    run(work)


def test_rooms_that_nobody_uses_are_forgotten_and_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("axio.server.play.rooms.KEPT", 2)

    async def work() -> None:
        async with running(tmp_path) as server:
            seated = [Sat(0, "ann", "Ann"), Sat(1, "bob", "Bob")]
            rooms = [await server.rooms.open(terms(id=f"table{n}"), seated) for n in range(5)]
            Listener(rooms[0], "ann")
            await rooms[1].move(0, 0)
            server.rooms._rooms.pop("table4")
            again = await server.rooms.get("table4")
            assert again is not rooms[4]
            assert len(server.rooms) <= 3
            assert (await server.rooms.get("table0")) is rooms[0]  # somebody is there
            assert (await server.rooms.get("table1")).game.number == 4
            first, second = await asyncio.gather(server.rooms.get("table2"), server.rooms.get("table2"))
            assert first is second

    run(work)
