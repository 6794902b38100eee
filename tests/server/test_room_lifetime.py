"""A table has one room as long as anybody refers to it, and nothing that a room has started outlives it."""

from __future__ import annotations

import asyncio
import gc
import json
import weakref
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, insert

from axio.server.play.acts import Act, Hired, Sat, write_act
from axio.server.play.connection import Connection
from axio.server.play.entries import table_row
from axio.server.play.game import Game
from axio.server.play.orders import hear
from axio.server.play.rooms import KEPT
from axio.server.running import Server
from axio.server.storage import schema

from .rooms import Listener, run, running, terms, until

MANY = 1_500
SEATED: list[Act] = [Sat(0, "ann", "Ann"), Sat(1, "bob", "Bob")]


class Player:
    """Somebody at a table who holds nothing but a connection, and counts what comes."""

    def __init__(self, person: str) -> None:
        self.person = person
        self.steps = 0
        self.client: Connection | None = None

    async def _take(self, text: str) -> None:
        self.steps += text.startswith('{"type":"step"')

    async def enter(self, server: Server, table: str) -> None:
        room = await server.rooms.get(table)
        self.client = Connection(self._take, self.person, room.seat_to_look_from(self.person))
        room.enter(self.client)

    async def leave(self, server: Server, table: str) -> None:
        assert self.client is not None
        (await server.rooms.get(table)).leave(self.client)


async def move(server: Server, table: str, player: Player) -> None:
    """A move over the player's connection."""
    room = await server.rooms.get(table)
    assert player.client is not None
    order = {"do": "move", "id": f"m{room.game.number}", "n": room.game.number, "pick": 0}
    await hear(room, player.client, json.dumps(order), server.hints)


async def each(tables: list[str], work: Callable[[str], Awaitable[None]], at_once: int = 4) -> None:
    """Do something at all tables, some at a time."""
    for first in range(0, len(tables), at_once):
        await asyncio.gather(*(work(table) for table in tables[first : first + at_once]))


async def open_all(server: Server, tables: list[str]) -> None:
    """Put tables into the database as if they had been opened by somebody."""
    game = Game.opened(terms(game="trio"))
    for act in SEATED:
        game.carry_out(act)
    bodies = [write_act(act) for act in (*SEATED, game.start())]
    row = table_row(game)
    async with server.database.writing() as connection:
        await connection.execute(insert(schema.tables), [{**row, "id": table} for table in tables])
        seats = [{**seat.row(n), "table_id": table} for table in tables for n, seat in enumerate(game.seats)]
        await connection.execute(insert(schema.seats), seats)
        entries = [
            {"table_id": table, "number": n, "at": game.terms.created, "body": body}
            for table in tables
            for n, body in enumerate(bodies, 1)
        ]
        await connection.execute(insert(schema.entries), entries)


def in_a_hurry(server: Server) -> None:
    """Nobody cuts the power in these tests."""

    def prepare(connection: Any, _: object) -> None:
        connection.cursor().execute("PRAGMA synchronous=OFF")

    event.listen(server.database.engine.sync_engine, "connect", prepare)
    assert server.database._writer is not None
    event.listen(server.database._writer._engine, "connect", prepare)


def test_players_of_1500_tables_hear_each_other_through_eviction_restart_and_reload(tmp_path: Path) -> None:
    tables = [f"table{number}" for number in range(MANY)]

    async def both_hear(server: Server, mover: str) -> None:
        """Everybody is at all tables at once; ann comes first everywhere, bob when all rooms are in use."""
        people = {table: {name: Player(name) for name in ("ann", "bob")} for table in tables}
        for name in ("ann", "bob"):
            await each(tables, lambda table, name=name: people[table][name].enter(server, table))  # type: ignore[misc]
        assert server.rooms.clients == 2 * MANY
        assert len(server.rooms.in_use()) == MANY
        await each(tables, lambda table: move(server, table, people[table][mover]), MANY)
        assert {(two["ann"].steps, two["bob"].steps) for two in people.values()} == {(1, 1)}
        await each(tables, lambda table: people[table]["ann"].leave(server, table))
        assert server.rooms.clients == MANY
        await each(tables, lambda table: people[table]["bob"].leave(server, table))
        assert server.rooms.clients == 0

    async def work() -> None:
        async with running(tmp_path) as server:
            in_a_hurry(server)
            await open_all(server, tables)
            await both_hear(server, "ann")
            await until(lambda: not server.rooms._services.tasks)  # the last who was there has been told
            gc.collect()
            assert len(server.rooms) == len(server.rooms._rooms) == KEPT
        async with running(tmp_path) as server:
            in_a_hurry(server)
            await both_hear(server, "bob")

    run(work)


def test_a_room_is_the_same_as_long_as_anybody_holds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("axio.server.play.rooms.KEPT", 1)

    async def work() -> None:
        async with running(tmp_path) as server:
            held = await server.rooms.open(terms(id="held"), SEATED)
            player = Player("ann")
            await server.rooms.open(terms(id="visited"), SEATED)
            await player.enter(server, "visited")
            visited = id(await server.rooms.get("visited"))
            gone = weakref.ref(await server.rooms.open(terms(id="gone"), SEATED))
            for number in range(3):
                await server.rooms.open(terms(id=f"other{number}"), SEATED)
            assert gone() is None  # without waiting for the garbage collector
            assert await server.rooms.get("held") is held
            assert id(await server.rooms.get("visited")) == visited
            assert (await server.rooms.get("gone")).game.number == 3

    run(work)


def test_a_table_that_is_asked_for_while_it_is_opened_has_one_room(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            opened, found = asyncio.Event(), asyncio.Event()
            honest = server.store.open

            async def slowly(*rows: Any) -> None:
                await honest(*rows)
                opened.set()
                await found.wait()

            server.store.open = slowly  # type: ignore[method-assign, assignment]
            opening = asyncio.create_task(server.rooms.open(terms(), SEATED))
            await opened.wait()
            early = await server.rooms.get("table")
            found.set()
            assert await opening is early

    run(work)


def test_what_another_process_writes_while_a_table_is_loaded_is_not_missed(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as here, running(tmp_path) as there:
            room = await here.rooms.open(terms(), SEATED)
            read, go_on = asyncio.Event(), asyncio.Event()
            honest = there.rooms._load

            async def slowly(table: str) -> Any:
                game = await honest(table)
                read.set()
                await go_on.wait()
                return game

            there.rooms._load = slowly  # type: ignore[method-assign, assignment]
            getting = asyncio.create_task(there.rooms.get("table"))
            await read.wait()
            number = await room.move(0, 0)
            await there.rooms.heard(f"table:{number}")
            go_on.set()
            assert (await getting).game.number == number

    run(work)


def test_a_table_is_loaded_though_whoever_asked_first_is_gone(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            await server.rooms.open(terms(), SEATED)
            server.rooms._recent.clear()
            first = asyncio.create_task(server.rooms.get("table"))
            second = asyncio.create_task(server.rooms.get("table"))
            await asyncio.sleep(0)
            first.cancel()
            assert (await second).game.number == 3
            assert not server.rooms._loading

    run(work)


# ---------------------------------------------------------------- what a room does by itself


class Slow:
    """A bot that thinks until a test lets it, and counts how many think at once."""

    def __init__(self, server: Server) -> None:
        self._allowed = asyncio.Semaphore(0)
        self.began = 0
        self.thinking = 0
        self.most = 0
        self._choose = server.bots.choose
        server.bots.choose = self.choose  # type: ignore[method-assign]

    def let(self) -> None:
        """Let one of those who think come to an end."""
        self._allowed.release()

    async def choose(self, level: str, *more: Any, **options: Any) -> Any:
        self.began += 1
        self.thinking += 1
        self.most = max(self.most, self.thinking)
        try:
            await self._allowed.acquire()
            return await self._choose(level, *more, **options)
        finally:
            self.thinking -= 1


def test_after_a_move_of_the_clock_one_bot_thinks_and_is_known(tmp_path: Path) -> None:
    """The task that the clock has begun must not take the handle of the bot's with it."""

    async def work() -> None:
        async with running(tmp_path) as server:
            slow = Slow(server)
            room = await server.rooms.open(terms(move_time=0), [Sat(0, "ann", "Ann"), Hired(1, "random")])
            await until(lambda: slow.began == 1)  # the clock looks for a move
            slow.let()
            await until(lambda: slow.began == 2)
            assert room.game.turn == 1
            for _ in range(5):
                room.wake()
                await asyncio.sleep(0)
            assert not room.idle
            assert (slow.thinking, slow.most) == (1, 1)
            room.close()
            await until(lambda: not server.rooms._services.tasks)
            assert slow.thinking == 0

    run(work)


def test_after_a_failure_one_bot_thinks_and_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("axio.server.play.room.RETRY", 0.0)

    async def work() -> None:
        async with running(tmp_path) as server:
            slow = Slow(server)
            honest, failures = slow._choose, 0

            async def fail_once(*given: Any) -> Any:
                nonlocal failures
                failures += 1
                if failures == 1:
                    raise RuntimeError("it broke")
                return await honest(*given)

            slow._choose = fail_once  # type: ignore[assignment]
            slow.let()
            room = await server.rooms.open(terms(), [Hired(0, "random"), Sat(1, "bob", "Bob")])
            await until(lambda: slow.began == 2 and slow.thinking == 1)
            for _ in range(5):
                room.wake()
                await asyncio.sleep(0)
            assert not room.idle
            assert slow.most == 1
            slow.let()
            await until(lambda: room.game.turn == 1)
            await until(lambda: room.idle)

    run(work)


def test_a_room_in_which_a_bot_thinks_is_not_let_go_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("axio.server.play.rooms.KEPT", 1)

    async def work() -> None:
        async with running(tmp_path) as server:
            slow = Slow(server)
            before = id(await server.rooms.open(terms(), [Hired(0, "random"), Sat(1, "bob", "Bob")]))
            for number in range(3):
                await server.rooms.open(terms(id=f"other{number}"), SEATED)
            gc.collect()
            room = await server.rooms.get("table")
            assert id(room) == before
            slow.let()
            await until(lambda: room.game.turn == 1)
            assert slow.began == 1

    run(work)


def test_a_far_deadline_keeps_no_room_in_memory_and_a_near_one_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("axio.server.play.rooms.KEPT", 1)

    async def work() -> None:
        async with running(tmp_path) as server:
            far = weakref.ref(await server.rooms.open(terms(id="far", move_time=86_400), SEATED))
            near = weakref.ref(await server.rooms.open(terms(id="near", move_time=600), SEATED))
            await server.rooms.open(terms(id="other"), SEATED)
            assert far() is None
            assert near() is not None
            assert await server.store.due(2**62, 10) == ["near", "far"]  # it is found when the time comes

    run(work)


def test_a_room_that_is_closed_starts_nothing_any_more(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            slow = Slow(server)
            room = await server.rooms.open(terms(), [Hired(0, "random"), Sat(1, "bob", "Bob")])
            ann = Listener(room, "ann")
            bob = Listener(room, "bob")
            room.leave(bob.client)  # somebody has to be told
            assert len(server.rooms._services.tasks) == 2
            server.rooms.close()
            await until(lambda: not server.rooms._services.tasks)
            room.wake()
            room._try_again()
            room.enter(bob.client)
            room.leave(bob.client)
            assert room.idle or room.audience.connections == {ann.client}
            assert not server.rooms._services.tasks
            assert slow.thinking == 0

    run(work)


def test_those_who_come_and_go_quickly_are_told_of_at_once(tmp_path: Path) -> None:
    """However often a person leaves before anybody could be told, there is one task and one message."""

    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(terms(), SEATED)
            ann, bob = Listener(room, "ann"), Listener(room, "bob")
            ann.heard.clear()
            async with room.lock:
                for _ in range(10):
                    room.leave(bob.client)
                    room.audience.connections.add(bob.client)
                room.leave(bob.client)
                assert len(server.rooms._services.tasks) == 1
            await until(lambda: bool(ann.heard))
            await until(lambda: not server.rooms._services.tasks)
            assert [told["type"] for told in ann.heard] == ["seats"]
            assert ann.heard[0]["seats"][1]["here"] is False

    run(work)


def test_nothing_is_kept_of_those_who_only_watch(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(terms(), SEATED)
            ann = Listener(room, "ann")
            for number in range(200):
                room.leave(Listener(room, f"guest{number}").client)
            room.learn_who_is_elsewhere({f"guest{number}" for number in range(200)} | {"bob"})
            assert room.audience.here == {"ann", "bob"}
            room.learn_who_is_elsewhere({f"guest{number}" for number in range(200)})
            room.leave(ann.client)
            sizes = [len(getattr(room.audience, name)) for name in ("_left", "_gone", "_elsewhere")]
            assert sizes == [2, 1, 0]
            assert room.audience.gone() == {"ann"}

    run(work)
