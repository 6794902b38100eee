"""A server that is killed again and again while people play, and the comparison after every death."""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from axio.games import GAMES
from axio.record import Record, replay
from axio.server.settings import Settings
from axio.server.storage.schema import entries, seats, tables

from .audit import Book, Kept, Lost
from .clients import Line, Match, Person, Player
from .ledger import Counts, Ledger
from .nursery import Nursery

PATIENCE = 60.0  # seconds for a server to come up, or for a bot to move
SLOTS = 3  # tables played at the same time
LONGEST_LIFE = 0.06  # seconds
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
    """One database, one server at a time."""

    def __init__(self, folder: Path, database: str = "", seed: int = 0) -> None:
        self._folder = folder
        self._lots = random.Random(seed)
        self._settings = Settings(
            data=str(folder),
            database=database,
            limits=False,
            bot_threads=1,
            bot_seconds=0.01,
            most_tables_each=1_000_000,
            logs="error",
        )
        self._nursery = Nursery(self._settings, folder / "log.txt")
        self._up = asyncio.Event()
        self._sent = 0
        self._strike_at: int | None = None
        self._people: list[Person] = []
        self._matches: dict[str, Match] = {}
        self._books: dict[str, Book] = {}
        self._waiting_bots: set[str] = set()
        self._closing = False
        self.counts = Counts()

    async def run(self, kills: int, progress: Callable[[], None] = lambda: None) -> None:
        """Kill a server so many times; then let all games end. Raises `Lost`."""
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._nursery)
            engine = _reader(self._settings.url)
            stack.push_async_callback(engine.dispose)
            self._line = Line(self._nursery.port, self._lots, self._noticed_sending, self._up.set)
            await self._nursery.start()
            self._people = [await self._guest(f"Guest {number}") for number in range(SLOTS * 3)]
            slots = [asyncio.create_task(self._slot(number)) for number in range(SLOTS)]
            stack.callback(lambda: [slot.cancel() for slot in slots])
            for _ in range(kills):
                await self._or_fail(self._live_and_die(), slots)
                await self._compare(engine, list(self._matches))
                progress()
                await self._nursery.start()
            await self._or_fail(self._see_bots_move(engine), slots)
            self._closing = True
            await asyncio.wait_for(asyncio.gather(*slots), PATIENCE * 5)
            await self._check_records(engine)
            await self._nursery.bury()
            await self._compare(engine, None)
            self.counts.entries = sum(len(book) for book in self._books.values())
            if errors := self._nursery.log:
                raise Lost(f"the servers complained:\n{errors[:5000]}")

    async def _or_fail(self, work: Any, slots: Sequence[asyncio.Task[None]]) -> None:
        """Do something while people play; if they meet with something wrong, that ends it."""
        task = asyncio.create_task(work)
        await asyncio.wait([task, *slots], return_when=asyncio.FIRST_COMPLETED, timeout=PATIENCE * 2)
        failed = next((slot for slot in slots if slot.done()), None)
        if failed is not None or not task.done():
            task.cancel()
            if failed is not None:
                failed.result()
            raise Lost(f"nothing goes on; the servers wrote:\n{self._nursery.log[-5000:]}")
        task.result()

    # ------------------------------------------------------------ life and death

    async def _live_and_die(self) -> None:
        """Let the server live for a moment, then kill it."""
        lots = self._lots
        self._up.clear()
        kind = lots.random()
        if kind < 0.1:  # while it starts
            await asyncio.sleep(lots.uniform(0, 0.05))
        else:
            await self._up.wait()
            if kind < 0.5:  # at any instant
                await asyncio.sleep(lots.uniform(0, LONGEST_LIFE))
            else:  # right after something was sent
                await self._until_sent(lots.randrange(1, 12))
                await asyncio.sleep(lots.choice((0.0, lots.uniform(0, 0.003), lots.uniform(0, 0.01))))
        self._nursery.strike()
        self.counts.kills += 1
        await self._nursery.bury()

    async def _until_sent(self, count: int) -> None:
        self._sending = asyncio.Event()
        self._strike_at = self._sent + count
        with suppress(TimeoutError):  # perhaps nobody has anything to say
            await asyncio.wait_for(self._sending.wait(), 1.0)
        self._strike_at = None

    def _noticed_sending(self) -> None:
        self._sent += 1
        if self._strike_at is not None and self._sent >= self._strike_at:
            self._sending.set()

    # ------------------------------------------------------------ tables

    async def _guest(self, name: str) -> Person:
        made = await self._line.insist("POST", "/api/guests", body={"name": name})
        return Person(made["id"], made["token"])

    async def _slot(self, number: int) -> None:
        """Play one game after the other."""
        people = self._people[number * 3 : number * 3 + 3]
        while not self._closing:
            match = await self._open(people)
            await asyncio.gather(*(Player(self._line, match, person).play() for person in match.people))
            self.counts.finished += match.status == "over"
            self._matches.pop(match.id, None)

    async def _open(self, people: list[Person]) -> Match:
        lots, host = self._lots, people[0]
        seating = lots.choice(SEATINGS)
        wanted = [{"kind": kind, **({"level": "greedy"} if kind == "bot" else {})} for kind in seating]
        body = {"game": lots.choice(GAMES), "seats": wanted, "public": lots.random() < 0.5}
        opened = await self._line.insist("POST", "/api/tables", host.token, body)
        ledger = Ledger(opened["id"], seated={host.id} if "me" in seating else set())
        guests = people[1 : 1 + seating.count("open")]
        stay = lots.choice((lots.randrange(8, 40), lots.randrange(20, 80), 1000))
        match = Match(ledger, [host, *guests], stay)
        self._matches[match.id] = match
        self.counts.tables += 1
        for guest in guests:
            path = f"/api/tables/{match.id}/join"
            await self._line.insist("POST", path, guest.token, {"invite": opened["invite"]})
            ledger.seated.add(guest.id)
        return match

    # ------------------------------------------------------------ comparing

    async def _compare(self, engine: AsyncEngine, ids: Sequence[str] | None) -> None:
        """Hold the database against what clients know, of some tables or of all."""
        kept = await _read(engine, ids)
        for table_id, match in self._matches.items():
            if table_id not in kept:
                raise Lost(f"table {table_id} was opened and is not there")
            self.counts.told += len(match.ledger.told)
        for table_id, found in kept.items():
            match_or_none = self._matches.get(table_id)
            ledger = match_or_none.ledger if match_or_none else Ledger(table_id)
            book = self._books.get(table_id)
            if book is None:
                book = self._books[table_id] = Book(found, ledger)
            before = len(book)
            book.compare(found)
            self._count(table_id, book, ledger, before)

    def _count(self, table_id: str, book: Book, ledger: Ledger, before: int) -> None:
        counts = self.counts
        counts.bots += table_id in self._waiting_bots and before < len(book)
        self._waiting_bots.discard(table_id)
        if book.bot_to_move:
            self._waiting_bots.add(table_id)
        counts.untold += len(book) > ledger.highest > 0
        for sent in ledger.sent.values():
            if sent.acknowledged is None and sent.refused is None:
                counts.cut_off += 1
                counts.kept += book.knows(sent)

    async def _see_bots_move(self, engine: AsyncEngine) -> None:
        """Without anybody connected, every bot whose turn it is has to move."""
        async with asyncio.timeout(PATIENCE):
            while True:
                async with engine.connect() as connection:
                    query = select(tables.c.id).join(
                        seats, (seats.c.table_id == tables.c.id) & (seats.c.seat == tables.c.turn)
                    )
                    waiting = (await connection.execute(query.where(seats.c.bot.is_not(None)))).all()
                if not waiting:
                    return
                await asyncio.sleep(0.02)

    async def _check_records(self, engine: AsyncEngine) -> None:
        """Every finished game has a record that checks."""
        async with engine.connect() as connection:
            over = (await connection.execute(select(tables.c.id).where(tables.c.status == "over"))).all()
        for (table_id,) in over:
            answer = await self._line.insist("GET", f"/api/tables/{table_id}/record")
            import json

            record = Record.parse(json.dumps(answer))
            if not replay(record).over:
                raise Lost(f"the record of {table_id} does not end")


def _reader(url: str) -> AsyncEngine:
    """Reads beside the server. On SQLite it must leave no trace: a writer that is the last one to leave would
    tidy up, and the next server would not find what the dead one has left behind."""
    if url.startswith("sqlite"):
        path = url.partition(":///")[2]
        return create_async_engine(f"sqlite+aiosqlite:///file:{path}?mode=ro&uri=true", poolclass=NullPool)
    return create_async_engine(url, isolation_level="REPEATABLE READ")


async def _read(engine: AsyncEngine, ids: Sequence[str] | None) -> dict[str, Kept]:
    async with engine.connect() as connection:
        rows = []
        for table, key in ((tables, tables.c.id), (seats, seats.c.table_id), (entries, entries.c.table_id)):
            query = select(table) if ids is None else select(table).where(key.in_(ids))
            rows.append((await connection.execute(query)).mappings().all())
    kept = {row["id"]: Kept(dict(row), [], []) for row in rows[0]}
    for row in sorted(rows[1], key=lambda row: row["seat"]):
        kept[row["table_id"]].seats.append(dict(row))
    for row in sorted(rows[2], key=lambda row: row["number"]):
        kept[row["table_id"]].entries.append((row["number"], row["at"], row["body"]))
    return kept


def run(
    kills: int,
    *,
    database: str = "",
    arenas: int = 2,
    seed: int = 0,
    progress: Callable[[], None] = lambda: None,
) -> Counts:
    """Kill servers so many times, in several arenas at once; what was seen. Raises `Lost`."""

    async def everywhere(folder: Path) -> Counts:
        made = []
        for number in range(arenas):
            (folder / str(number)).mkdir()
            made.append(Arena(folder / str(number), database, seed * 100 + number))
        shares = [kills // arenas + (number < kills % arenas) for number in range(arenas)]
        async with asyncio.TaskGroup() as group:
            for arena, share in zip(made, shares, strict=True):
                group.create_task(arena.run(share, progress))
        return sum((arena.counts for arena in made), Counts())

    with tempfile.TemporaryDirectory(prefix="crash-") as folder:
        return asyncio.run(everywhere(Path(folder)))
