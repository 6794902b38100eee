"""A database that fails: nobody hears of what is not kept, and everybody can go on."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.ext.asyncio import AsyncConnection

from axio.games import GAMES
from axio.server.play import entries
from axio.server.play import room as room_module
from axio.server.play.acts import write_act
from axio.server.play.entries import entry_of
from axio.server.play.game import Game
from axio.server.play.room import Room
from axio.server.storage.journal import Entry

from .inside import PATIENCE, Guest, Inside, Json, Socket, inside

PATHS = ("/picture.svg", "/picture.png", "/record", "/replay")
FAILURES: dict[str, Callable[[], Exception]] = {
    "the database": lambda: OperationalError("statement", {}, Exception("it broke")),
    "the network": lambda: ConnectionResetError("it broke"),
    "something else": lambda: RuntimeError("it broke"),
}


class Faults:
    """Makes the next transaction fail: before it begins, before its commit, or after it."""

    def __init__(self, made: Inside) -> None:
        self._writing = made.server.database.writing
        self._reading = made.server.database.reading
        self.next = ""
        self.down = False
        self.hold: asyncio.Event | None = None
        self.failure: Callable[[], Exception] = FAILURES["the database"]
        self._transact = made.server.database.transact
        made.server.database.transact = self.transact  # type: ignore[method-assign]
        made.server.database.writing = self.writing  # type: ignore[method-assign]
        made.server.database.reading = self.reading  # type: ignore[method-assign]

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncConnection]:
        when, self.next = self.next, ""
        if when == "before" or self.down:
            raise self.failure()
        async with self._writing() as connection:
            yield connection
            if self.hold is not None:
                await self.hold.wait()
            if when == "during":
                raise self.failure()
        if when == "after":
            raise self.failure()

    async def transact(self, work: Callable[[Connection], None]) -> None:
        when, self.next = self.next, ""
        if when == "before" or self.down:
            raise self.failure()

        def written(connection: Connection) -> None:
            work(connection)
            if when == "during":
                raise self.failure()

        if self.hold is not None:
            await self.hold.wait()
        await self._transact(written)
        if when == "after":
            raise self.failure()

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        if self.down:
            raise self.failure()
        async with self._reading() as connection:
            yield connection


class Company:
    """Two people who play, one who watches, and the game between them."""

    def __init__(self, made: Inside, seed: str) -> None:
        self.made = made
        self.faults = Faults(made)
        self.lots = random.Random(seed)
        self.messages = 0

    async def sit_down(self, game: str, **more: object) -> None:
        self.people = [await self.made.guest(name) for name in ("Ann", "Bob")]
        ann, bob = self.people
        opened = await self.made.open(ann, game, [{"kind": "me"}, {"kind": "open"}], **more)
        self.table: str = opened["id"]
        await self.made.good(
            "POST", f"/api/tables/{self.table}/join", bob.token, {"invite": opened["invite"]}
        )
        self.sockets = [await self.made.socket(self.table, person.token) for person in self.people]
        self.watching = await self.made.socket(self.table)
        self.views = [await socket.until(lambda told: told["type"] == "view") for socket in self.all[:2]]

    @property
    def all(self) -> list[Socket]:
        return [*self.sockets, self.watching]

    @property
    def room(self) -> Room:
        return self.made.server.rooms._rooms[self.table]

    @property
    def game(self) -> Game:
        return self.room.game

    def order(self, **more: object) -> tuple[Socket, Json]:
        """A legal order of the seat to move."""
        self.messages += 1
        game = self.game
        assert game.table is not None
        seat = game.turn
        assert seat is not None
        order: Json = {"id": f"m{self.messages}", "n": game.number}
        if game.held is not None:
            return self.sockets[seat], {**order, "do": "draw"}
        pick = self.lots.randrange(len(game.table.legal_moves()))
        hold = self.lots.random() < 0.2
        return self.sockets[seat], {**order, "do": "move", "pick": pick, "hold": hold, **more}

    async def heard(self) -> list[list[str]]:
        return [[one for one in await socket.heard() if "pong" not in one[:20]] for socket in self.all]

    async def check(self) -> None:
        """What is in memory is what the database has."""
        kept = await self.made.server.rooms._load(self.table)
        game = self.game
        assert (kept.number, kept.status, kept.turn, kept.held) == (
            game.number,
            game.status,
            game.turn,
            game.held,
        )
        assert kept.table is not None
        assert game.table is not None
        assert kept.table.events == game.table.events
        assert kept.table.state.tobytes() == game.table.state.tobytes()


@asynccontextmanager
async def company(folder: Path, game: str, seed: str = "", **more: object) -> AsyncIterator[Company]:
    async with inside(folder) as made:
        here = Company(made, seed)
        await here.sit_down(game, **more)
        yield here


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("game", GAMES)
def test_a_move_that_is_not_kept_is_told_to_nobody_and_can_be_made_again(
    tmp_path: Path, game: str, failure: str
) -> None:
    async def play() -> int:
        failed = 0
        async with company(tmp_path, game, failure) as here:
            here.faults.failure = FAILURES[failure]
            for _ in range(40):
                if here.game.turn is None:
                    break
                socket, order = here.order()
                if here.lots.random() < 0.5:
                    failed += 1
                    before, number = await here.heard(), here.game.number
                    here.faults.next = here.lots.choice(("before", "during"))
                    refused = await socket.ask(**order)
                    assert (refused["type"], refused["code"]) == ("refused", "unavailable")
                    after = await here.heard()
                    told = [len(new) - len(old) for new, old in zip(after, before, strict=True)]
                    assert told == [int(one is socket) for one in here.all]
                    assert here.game.number == number
                    await here.check()
                done = await socket.ask(**order)  # with the same id
                assert done["ack"] == order["id"]
                await here.check()
        return failed

    assert asyncio.run(play()) > 3


def test_a_move_that_is_kept_although_the_answer_is_lost_is_acknowledged(tmp_path: Path) -> None:
    async def play() -> None:
        async with company(tmp_path, "axio") as here:
            for _ in range(6):
                number = here.game.number
                socket, order = here.order()
                here.faults.next = "after"
                done = await socket.ask(**order)
                assert (done["ack"], done["n"]) == (order["id"], number + 1)
                for other in here.all:
                    if other is not socket:
                        await other.reach(number + 1)
                again = await socket.ask(**order)
                assert (again["ack"], again["n"]) == (order["id"], number + 1)
                await here.check()

    asyncio.run(play())


def test_a_number_that_somebody_else_has_taken_is_refused_with_a_fresh_view(tmp_path: Path) -> None:
    async def play() -> None:
        async with company(tmp_path, "axio") as here:
            for _ in range(5):
                socket, order = here.order(hold=False)
                elsewhere: Any = await here.made.server.rooms._load(here.table)
                act = elsewhere.move(elsewhere.turn, elsewhere.table.legal_moves()[-1], message="elsewhere")
                room = Room(elsewhere, here.room._services)  # as in another process
                entry: Entry = entry_of(room.game, act)
                assert entry.body == write_act(act)
                await here.made.server.journal.append(entry)
                refused = await socket.ask(**order)
                assert refused["code"] == "stale"
                assert refused["view"]["n"] == here.game.number == elsewhere.number
                for other in here.all:
                    if other is not socket:
                        await other.reach(elsewhere.number)
                await here.check()

    asyncio.run(play())


def test_while_the_database_is_away_nothing_happens_and_afterwards_the_game_goes_on(tmp_path: Path) -> None:
    async def play() -> None:
        async with company(tmp_path, "axio") as here:
            for _ in range(5):
                socket, order = here.order(hold=False)
                number, before = here.game.number, await here.heard()
                here.faults.down = True
                for _ in range(3):
                    assert (await socket.ask(**order))["code"] == "unavailable"
                path = f"/api/tables/{here.table}"
                seat = here.sockets.index(socket)
                body = {name: order[name] for name in ("id", "n", "pick")}
                posted = await here.made.ask("POST", f"{path}/moves", here.people[seat].token, body)
                shown = await here.made.ask("GET", path, here.people[seat].token)
                assert [posted.status, shown.status] == [503, 503]
                here.faults.down = False
                done = await socket.ask(**order)
                assert (done["ack"], done["n"]) == (order["id"], number + 1)
                after = await here.heard()
                told = [len(new) - len(old) for new, old in zip(after, before, strict=True)]
                assert told == [4 if one is socket else 1 for one in here.all]
                await here.check()

    asyncio.run(play())


def test_nobody_is_shown_a_move_before_it_is_kept(tmp_path: Path) -> None:
    async def play() -> None:
        async with company(tmp_path, "axio", public=True) as here:
            targets = [f"/api/tables/{here.table}{path}" for path in ("", *PATHS)]
            targets += [f"/api/tables?which={which}" for which in ("live", "mine")]
            tokens = ["", *(person.token for person in here.people)]
            asked = [(target, token) for target in targets for token in tokens]
            for _ in range(2):
                before = [await here.made.ask("GET", target, token) for target, token in asked]
                await here.heard()
                told = [len(one.texts) for one in here.all]
                socket, order = here.order(hold=False)
                here.faults.hold = asyncio.Event()
                socket.send(**order)
                while here.game.number == order["n"]:  # until it is carried out in memory
                    await asyncio.sleep(0)
                asking = [asyncio.create_task(here.made.ask("GET", *one)) for one in asked]
                newcomer = asyncio.create_task(here.made.socket(here.table))
                await asyncio.wait(asking, timeout=0.3)
                for task, was in zip(asking, before, strict=True):
                    assert not task.done() or task.result() == was
                assert [len(one.texts) for one in here.all] == told
                assert not newcomer.done() or not newcomer.result().texts
                here.faults.hold.set()
                here.faults.hold = None
                await asyncio.gather(newcomer, *asking)
                await socket.reach(order["n"] + 1)

    asyncio.run(play())


def test_what_could_not_be_written_is_not_in_the_logs(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def play() -> tuple[str, str]:
        async with company(tmp_path, "axio") as here:
            async with here.made.server.database.writing() as connection:
                await connection.execute(text("ALTER TABLE entries RENAME TO elsewhere"))
            socket, order = here.order(hold=False)
            refused = await socket.ask(**order)
            assert refused["code"] == "unavailable"
            async with here.made.server.database.writing() as connection:
                await connection.execute(text("ALTER TABLE elsewhere RENAME TO entries"))
            assert (await socket.ask(**order))["ack"] == order["id"]
            await here.check()
            return here.game.terms.seed, order["id"]

    with caplog.at_level(logging.INFO):
        seed, message = asyncio.run(play())
    logged = "\n".join(logging.Formatter().format(record) for record in caplog.records)
    assert "no such table: entries" in logged
    assert seed not in logged
    assert message not in logged
    assert "drawn" not in logged


def test_a_table_that_is_left_while_a_draw_waits_is_closed_for_good(tmp_path: Path) -> None:
    async def play() -> None:
        async with inside(tmp_path) as made:
            ann: Guest = await made.guest("Ann")
            table = (await made.open(ann, "axio", [{"kind": "me"}]))["id"]
            socket = await made.socket(table, ann.token)
            view = await socket.until(lambda told: told["type"] == "view")
            await socket.ask(do="move", id="a", n=view["n"], pick=0, hold=True)
            await made.good("POST", f"/api/tables/{table}/leave", ann.token)
            row = await made.server.store.find(table)
            assert row is not None
            assert (row["status"], row["turn"], row["due"]) == ("closed", None, None)

    asyncio.run(play())


@pytest.mark.parametrize("waiting", ["a bot", "a draw"])
def test_what_the_server_does_by_itself_waits_for_the_database_and_goes_on(
    tmp_path: Path, waiting: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def play() -> None:
        async with inside(tmp_path) as made:
            faults, ann = Faults(made), await made.guest("Ann")
            seats: list[Json] = [{"kind": "me"}, {"kind": "bot", "level": "greedy"}]
            table = (await made.open(ann, "axio", seats))["id"]
            socket = await made.socket(table, ann.token)
            view = await socket.until(lambda told: told["type"] == "view")
            held = waiting == "a draw"
            order = {"do": "move", "id": "m", "n": view["n"], "pick": 0, "hold": held}
            thinking = asyncio.Event()
            choose = made.server.bots.choose

            async def slowly(level: str, seen: Any) -> Any:
                await thinking.wait()
                return await choose(level, seen)

            monkeypatch.setattr(made.server.bots, "choose", slowly)
            await socket.ask(**order)
            faults.down = True
            thinking.set()
            while len(tries(caplog)) < 2:  # it was tried, and tried again
                await asyncio.sleep(0.01)
            faults.down = False
            await socket.until(lambda told: told.get("n", 0) > view["n"] + 1 and told["moves"] is not None)

    monkeypatch.setattr(room_module, "RETRY", 0.3)
    monkeypatch.setattr(entries, "HOLD", 0.1)
    asyncio.run(asyncio.wait_for(play(), PATIENCE))
    assert len(tries(caplog)) < 100  # not as fast as it can


def tries(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if " could not move at table " in record.message]
