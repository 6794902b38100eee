"""Loop of the crash test: start a server, let clients play, kill it, and check its log."""

from __future__ import annotations

import asyncio
import json
import random
import tempfile
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy.ext.asyncio import AsyncEngine

from axiogames.games import GAMES
from axiogames.model.record import Record, replay
from axiogames.server.settings import Settings
from tests.server.crash.audit import Book, Lost
from tests.server.crash.clients import Line, Match, Person, Player
from tests.server.crash.kept import bots_to_move, finished, read, reader
from tests.server.crash.ledger import Counts, Ledger
from tests.server.crash.processes import ForkServer

TIMEOUT = 120.0  # seconds for a server to start, for a bot to move, for any progress
SLOTS = 2  # tables played at the same time
PEOPLE = 3  # players per table
LONGEST_LIFE = 0.06  # seconds
MORE = 10  # entries after the last kill
SEATINGS = (
    ("me", "open"),
    ("me", "bot"),
    ("open", "me", "bot"),
    ("me", "me"),
    ("bot", "me", "open"),
    ("me",),
    ("me", "open", "open"),
)


class Arena:
    """One database with one server at a time."""

    def __init__(self, fork_server: ForkServer, number: int, engine: AsyncEngine, seed: str) -> None:
        self._fork_server = fork_server
        self._number = number
        self._engine = engine
        self._lots = random.Random(seed)
        self._line = Line(fork_server.ports[number], self._lots, self._notice, self._hear)
        self._up = asyncio.Event()
        self._enough = asyncio.Event()
        self._left = 0  # messages until the next kill
        self._playing: dict[str, Match] = {}
        self._books: dict[str, Book] = {}
        self._ledgers: dict[str, Ledger] = {}
        self._bots: set[str] = set()  # tables at which it was a bot's turn when a server died
        self._closing = False
        self.counts = Counts()

    async def run(self, kills: int, progress: Callable[[], None]) -> None:
        """Kill the server `kills` times, then finish all games. Raises `Lost`."""
        await self._fork_server.start(self._number)
        people = [await self._guest(f"Guest {number}") for number in range(SLOTS * PEOPLE)]
        slots = [
            asyncio.create_task(self._slot(people[first : first + PEOPLE]))
            for first in range(0, len(people), PEOPLE)
        ]
        try:
            for _ in range(kills):
                await self._while_they_play(slots, self._live_and_die())
                await self._compare()
                progress()
                await self._fork_server.start(self._number)
            await self._while_they_play(slots, self._see_bots_move())
            self._close()
            await asyncio.wait_for(asyncio.gather(*slots), TIMEOUT)
        finally:
            for slot in slots:
                slot.cancel()
        await self._check_records()
        await self._fork_server.reap(self._number)
        await self._compare(everything=True)
        self.counts.entries = sum(len(book) for book in self._books.values())
        self.counts.tables = len(self._books)
        self.counts.acknowledged = sum(ledger.acknowledged for ledger in self._ledgers.values())

    async def _while_they_play(
        self, slots: Sequence[asyncio.Task[None]], work: Coroutine[Any, Any, None]
    ) -> None:
        """Run a coroutine; an error of a client, or a lack of progress, ends it."""
        task = asyncio.create_task(work)
        try:
            await asyncio.wait([task, *slots], return_when=asyncio.FIRST_COMPLETED, timeout=TIMEOUT)
            for one in (*slots, task):
                if one.done():
                    one.result()
            if not task.done():
                raise Lost(f"no progress; the servers wrote:\n{self._fork_server.log[-5000:]}")
        finally:
            task.cancel()

    # ------------------------------------------------------------ life and death

    async def _live_and_die(self) -> None:
        """Let the server run for a moment, then kill it."""
        lots, kind = self._lots, self._lots.random()
        self._up.clear()
        if kind < 0.1:  # during startup
            await asyncio.sleep(lots.uniform(0, LONGEST_LIFE))
        elif kind < 0.5:  # at a random instant
            await self._up.wait()
            await asyncio.sleep(lots.uniform(0, LONGEST_LIFE))
        else:  # right after a message was sent
            await self._up.wait()
            self._enough.clear()
            self._left = lots.randrange(1, 12)
            with suppress(TimeoutError):  # perhaps no client sends anything
                await asyncio.wait_for(self._enough.wait(), 1.0)
            await asyncio.sleep(lots.choice((0.0, lots.uniform(0, 0.003), lots.uniform(0, 0.01))))
        self._fork_server.kill(self._number)
        self.counts.kills += 1
        await self._fork_server.reap(self._number)

    def _notice(self) -> None:
        self._left -= 1
        if self._left == 0:
            self._enough.set()

    def _hear(self) -> None:
        self._up.set()

    # ------------------------------------------------------------ tables

    async def _guest(self, name: str) -> Person:
        made = await self._line.insist("POST", "/api/guests", body={"name": name})
        return Person(made["id"], made["token"])

    async def _slot(self, people: list[Person]) -> None:
        """Play games one after another."""
        while not self._closing:
            match = await self._open(people)
            await asyncio.gather(*(Player(self._line, match, person).play() for person in match.people))
            self.counts.finished += match.status == "over"
            del self._playing[match.id]

    async def _open(self, people: list[Person]) -> Match:
        lots, host = self._lots, people[0]
        seating = lots.choice(SEATINGS)
        wanted = [{"kind": kind, **({"level": "greedy"} if kind == "bot" else {})} for kind in seating]
        body = {"game": lots.choice(GAMES), "seats": wanted, "public": lots.random() < 0.5}
        opened = await self._line.insist("POST", "/api/tables", host.token, body)
        ledger = self._ledgers[opened["id"]] = Ledger(opened["id"], seated={host.id})
        guests = people[1 : 1 + seating.count("open")]
        stay = lots.choice((lots.randrange(8, 40), lots.randrange(20, 80), 1000))
        match = self._playing[ledger.table_id] = Match(ledger, [host, *guests], stay)
        for guest in guests:
            path = f"/api/tables/{match.id}/join"
            await self._line.insist("POST", path, guest.token, {"invite": opened["invite"]})
            ledger.seated.add(guest.id)
        return match

    def _close(self) -> None:
        """Let all clients play a little, then leave."""
        self._closing = True
        for match in self._playing.values():
            match.stay = min(match.stay, match.ledger.highest + MORE)

    # ------------------------------------------------------------ comparing

    async def _compare(self, *, everything: bool = False) -> None:
        """Compare the database with the clients' knowledge. Raises `Lost`."""
        touched = [
            one.table_id for one in self._ledgers.values() if one.told or one.table_id in self._playing
        ]
        kept = await read(self._engine, None if everything else touched)
        for table_id in self._ledgers if everything else touched:
            if table_id not in kept:
                raise Lost(f"table {table_id} was opened and is not there")
        for table_id, found in kept.items():
            ledger = self._ledgers.get(table_id) or Ledger(table_id)
            book = self._books.get(table_id)
            if book is None:
                book = self._books[table_id] = Book(found, ledger)
            before = len(book)
            self.counts.told += len(ledger.told)
            book.compare(found)
            self._count(table_id, book, ledger, before)

    def _count(self, table_id: str, book: Book, ledger: Ledger, before: int) -> None:
        counts = self.counts
        counts.bots += table_id in self._bots and before < len(book)
        self._bots.discard(table_id)
        if book.bot_to_move:
            self._bots.add(table_id)
        counts.untold += len(book) > ledger.highest > 0
        for sent in ledger.sent.values():
            if sent.acknowledged is None and sent.refused is None:
                counts.cut_off += 1
                counts.kept += book.knows(sent)

    async def _see_bots_move(self) -> None:
        """Check that every bot whose turn it was has moved."""
        while await bots_to_move(self._engine):
            await asyncio.sleep(0.02)

    async def _check_records(self) -> None:
        """Check that every finished game has a valid record."""
        for table_id in await finished(self._engine):
            answer = await self._line.insist("GET", f"/api/tables/{table_id}/record")
            if not replay(Record.parse(json.dumps(answer))).over:
                raise Lost(f"the record of {table_id} does not end")


async def _everywhere(
    folder: Path, kills: int, databases: Sequence[str], seed: int, progress: Callable[[], None]
) -> Counts:
    settings = [
        Settings(
            data=str(folder / str(number)),
            database=database,
            rate_limits=False,
            bot_threads=1,
            bot_seconds=0.01,
            max_tables_per_person=1_000_000,
            log_level="warning",
        )
        for number, database in enumerate(databases)
    ]
    async with ForkServer(settings, folder / "log.txt") as fork_server:
        engines = [reader(one.url) for one in settings]
        arenas = [Arena(fork_server, n, engine, f"{seed}/{n}") for n, engine in enumerate(engines)]
        try:
            async with asyncio.TaskGroup() as group:
                for number, arena in enumerate(arenas):
                    share = kills // len(arenas) + (number < kills % len(arenas))
                    group.create_task(arena.run(share, progress))
        except* Lost as lost:
            raise lost.exceptions[0] from None
        finally:
            for engine in engines:
                await engine.dispose()
        if fork_server.log:
            raise Lost(f"the servers complained:\n{fork_server.log[:5000]}")
    return sum((arena.counts for arena in arenas), Counts())


def run(
    kills: int,
    databases: Sequence[str] = ("", ""),
    *,
    seed: int = 0,
    progress: Callable[[], None] = lambda: None,
) -> Counts:
    """Kill servers `kills` times, one per database (`""`: an SQLite file), and return the statistics.

    Raises `Lost`.
    """
    with tempfile.TemporaryDirectory(prefix="crash-") as folder:
        return asyncio.run(_everywhere(Path(folder), kills, databases, seed, progress))
