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
from tests.server.crash.checker import Inconsistency, LogChecker
from tests.server.crash.clients import Connection, Match, Person, Player
from tests.server.crash.ledger import Counts, Ledger
from tests.server.crash.processes import ForkServer
from tests.server.crash.stored import bots_to_move, finished, read, reader

TIMEOUT = 120.0  # seconds for a server to start, for a bot to move, for any progress
SLOTS = 2  # tables played at the same time
PEOPLE = 3  # players per table
MAX_LIFETIME = 0.06  # seconds
FINAL_ENTRIES = 10  # entries after the last kill
SEATINGS = (
    ("me", "open"),
    ("me", "bot"),
    ("open", "me", "bot"),
    ("me", "me"),
    ("bot", "me", "open"),
    ("me",),
    ("me", "open", "open"),
)


class CrashLoop:
    """One database with one server at a time."""

    def __init__(self, fork_server: ForkServer, index: int, engine: AsyncEngine, seed: str) -> None:
        self._fork_server = fork_server
        self._index = index
        self._engine = engine
        self._rng = random.Random(seed)
        self._connection = Connection(fork_server.ports[index], self._rng, self._on_send, self._on_receive)
        self._up = asyncio.Event()
        self._kill_now = asyncio.Event()
        self._messages_left = 0  # messages until the next kill
        self._playing: dict[str, Match] = {}
        self._checkers: dict[str, LogChecker] = {}
        self._ledgers: dict[str, Ledger] = {}
        self._bots: set[str] = set()  # tables at which it was a bot's turn when a server died
        self._closing = False
        self.counts = Counts()

    async def run(self, kills: int, progress: Callable[[], None]) -> None:
        """Kill the server `kills` times, then finish all games. Raises `Inconsistency`."""
        await self._fork_server.start(self._index)
        people = [await self._guest(f"Guest {number}") for number in range(SLOTS * PEOPLE)]
        slots = [
            asyncio.create_task(self._slot(people[first : first + PEOPLE]))
            for first in range(0, len(people), PEOPLE)
        ]
        try:
            for _ in range(kills):
                await self._during_play(slots, self._run_and_kill())
                await self._compare()
                progress()
                await self._fork_server.start(self._index)
            await self._during_play(slots, self._wait_for_bots())
            self._close()
            await asyncio.wait_for(asyncio.gather(*slots), TIMEOUT)
        finally:
            for slot in slots:
                slot.cancel()
        await self._check_records()
        await self._fork_server.reap(self._index)
        await self._compare(everything=True)
        self.counts.entries = sum(len(checker) for checker in self._checkers.values())
        self.counts.tables = len(self._checkers)
        self.counts.acknowledged = sum(ledger.acknowledged for ledger in self._ledgers.values())

    async def _during_play(
        self, slots: Sequence[asyncio.Task[None]], work: Coroutine[Any, Any, None]
    ) -> None:
        """Run a coroutine. Cancel it when a client fails, or when it does not end within `TIMEOUT`."""
        task = asyncio.create_task(work)
        try:
            await asyncio.wait([task, *slots], return_when=asyncio.FIRST_COMPLETED, timeout=TIMEOUT)
            for each in (*slots, task):
                if each.done():
                    each.result()
            if not task.done():
                raise Inconsistency(
                    f"no progress in {TIMEOUT:.0f} s; the servers wrote:\n{self._fork_server.log[-5000:]}"
                )
        finally:
            task.cancel()

    # ------------------------------------------------------------ kills

    async def _run_and_kill(self) -> None:
        """Let the server run for a moment, then kill it."""
        rng, kind = self._rng, self._rng.random()
        self._up.clear()
        if kind < 0.1:  # during startup
            await asyncio.sleep(rng.uniform(0, MAX_LIFETIME))
        elif kind < 0.5:  # at a random instant
            await self._up.wait()
            await asyncio.sleep(rng.uniform(0, MAX_LIFETIME))
        else:  # right after a message was sent
            await self._up.wait()
            self._kill_now.clear()
            self._messages_left = rng.randrange(1, 12)
            with suppress(TimeoutError):  # perhaps no client sends anything
                await asyncio.wait_for(self._kill_now.wait(), 1.0)
            await asyncio.sleep(rng.choice((0.0, rng.uniform(0, 0.003), rng.uniform(0, 0.01))))
        self._fork_server.kill(self._index)
        self.counts.kills += 1
        await self._fork_server.reap(self._index)

    def _on_send(self) -> None:
        self._messages_left -= 1
        if self._messages_left == 0:
            self._kill_now.set()

    def _on_receive(self) -> None:
        self._up.set()

    # ------------------------------------------------------------ tables

    async def _guest(self, name: str) -> Person:
        created = await self._connection.retry("POST", "/api/guests", body={"name": name})
        return Person(created["id"], created["token"])

    async def _slot(self, people: list[Person]) -> None:
        """Play games one after another until the loop closes."""
        while not self._closing:
            match = await self._open(people)
            await asyncio.gather(*(Player(self._connection, match, person).play() for person in match.people))
            self.counts.finished += match.status == "over"
            del self._playing[match.id]

    async def _open(self, people: list[Person]) -> Match:
        rng, host = self._rng, people[0]
        seating = rng.choice(SEATINGS)
        seats = [{"kind": kind, **({"level": "greedy"} if kind == "bot" else {})} for kind in seating]
        body = {"game": rng.choice(GAMES), "seats": seats, "public": rng.random() < 0.5}
        opened = await self._connection.retry("POST", "/api/tables", host.token, body)
        ledger = self._ledgers[opened["id"]] = Ledger(opened["id"], seated={host.id})
        guests = people[1 : 1 + seating.count("open")]
        stay = rng.choice((rng.randrange(8, 40), rng.randrange(20, 80), 1000))
        match = self._playing[ledger.table_id] = Match(ledger, [host, *guests], stay)
        for guest in guests:
            path = f"/api/tables/{match.id}/join"
            await self._connection.retry("POST", path, guest.token, {"invite": opened["invite"]})
            ledger.seated.add(guest.id)
        return match

    def _close(self) -> None:
        """Let all clients play up to `FINAL_ENTRIES` more entries, then leave."""
        self._closing = True
        for match in self._playing.values():
            match.stay = min(match.stay, match.ledger.highest + FINAL_ENTRIES)

    # ------------------------------------------------------------ comparing

    async def _compare(self, *, everything: bool = False) -> None:
        """Compare the database with the clients' knowledge. Raises `Inconsistency`."""
        touched = [
            ledger.table_id
            for ledger in self._ledgers.values()
            if ledger.delivered or ledger.table_id in self._playing
        ]
        stored = await read(self._engine, None if everything else touched)
        for table_id in self._ledgers if everything else touched:
            if table_id not in stored:
                raise Inconsistency(f"table {table_id} was opened but is not stored")
        for table_id, found in stored.items():
            ledger = self._ledgers.get(table_id) or Ledger(table_id)
            checker = self._checkers.get(table_id)
            if checker is None:
                checker = self._checkers[table_id] = LogChecker(found, ledger)
            before = len(checker)
            self.counts.delivered += len(ledger.delivered)
            checker.compare(found)
            self._count(table_id, checker, ledger, before)

    def _count(self, table_id: str, checker: LogChecker, ledger: Ledger, before: int) -> None:
        counts = self.counts
        counts.bots += table_id in self._bots and before < len(checker)
        self._bots.discard(table_id)
        if checker.bot_to_move:
            self._bots.add(table_id)
        counts.undelivered += len(checker) > ledger.highest > 0
        for sent in ledger.sent.values():
            if sent.acknowledged is None and sent.refused is None:
                counts.cut_off += 1
                counts.stored += checker.has_applied(sent)

    async def _wait_for_bots(self) -> None:
        """Wait until no bot is to move."""
        while await bots_to_move(self._engine):
            await asyncio.sleep(0.02)

    async def _check_records(self) -> None:
        """Check that every finished game has a valid record."""
        for table_id in await finished(self._engine):
            record = await self._connection.retry("GET", f"/api/tables/{table_id}/record")
            if not replay(Record.parse(json.dumps(record))).over:
                raise Inconsistency(f"the record of {table_id} is not a finished game")


async def _run_loops(
    folder: Path, kills: int, databases: Sequence[str], seed: int, progress: Callable[[], None]
) -> Counts:
    """Run one loop per database at the same time, and return the sum of their statistics."""
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
        engines = [reader(each.url) for each in settings]
        loops = [CrashLoop(fork_server, n, engine, f"{seed}/{n}") for n, engine in enumerate(engines)]
        try:
            async with asyncio.TaskGroup() as group:
                for number, loop in enumerate(loops):
                    share = kills // len(loops) + (number < kills % len(loops))
                    group.create_task(loop.run(share, progress))
        except* Inconsistency as group_error:
            raise group_error.exceptions[0] from None
        finally:
            for engine in engines:
                await engine.dispose()
        if fork_server.log:
            raise Inconsistency(f"the servers logged errors:\n{fork_server.log[:5000]}")
    return sum((loop.counts for loop in loops), Counts())


def run(
    kills: int,
    databases: Sequence[str] = ("", ""),
    *,
    seed: int = 0,
    progress: Callable[[], None] = lambda: None,
) -> Counts:
    """Kill servers `kills` times in total and return the statistics.

    Args:
        kills: Number of kills, shared evenly by the servers.
        databases: URL of the database of each server; `""` is an SQLite file.
        seed: Random seed.
        progress: Called after each kill.

    Raises:
        Inconsistency: A log contradicts the rules or the messages to clients.
    """
    with tempfile.TemporaryDirectory(prefix="crash-") as folder:
        return asyncio.run(_run_loops(Path(folder), kills, databases, seed, progress))
