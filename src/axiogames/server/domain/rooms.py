"""All tables in use in this process: opened, loaded from their entries, kept in step with other processes."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

import msgspec
from sqlalchemy.exc import SQLAlchemyError

from ..storage.journal import Journal
from ..storage.tables import TableStore
from ..storage.uptime import EVERY_TABLE, Standing, UptimeStore
from ..transport.client import NO_SUCH_TABLE
from ..transport.fair_share import Pauses, charged, long_work
from .bots import Bots
from .clock import ABSENCE, BEAT
from .entries import Act, read_act, write_act
from .game_state import Game, Terms, now, table_row
from .kept_table import Services
from .refusals import NoSuchTable, Refused, Unavailable, Unreadable
from .room import Room

KEPT = 500  # rooms that stay in memory after they were used, though nobody needs them
SWEEP = 5.0  # seconds between looks for what was missed
GRACE = 20_000  # milliseconds after which another process does what one has left undone
AT_ONCE = 200
MOST_NOTED = 1_000  # tables whose failure is logged only once

# What a log raises that is not as the rules want it.
# Anything else (memory, files, the database, a compiler) may pass, and is no fault of the table.
UNREADABLE = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    AssertionError,
    ArithmeticError,
    RecursionError,
)

log = logging.getLogger(__name__)


class BadLog(ValueError):
    """A table's log that does not lead to a game; the message says which entry is at fault, and why."""


def new_id() -> str:
    """A name that nobody can guess."""
    return secrets.token_urlsafe(12)


class Rooms:
    """The rooms of this process, by their tables' ids. There is never more than one for a table.

    A room stays in memory as long as anybody refers to it: clients, a request, a bot that thinks, a timer. So
    `_rooms` holds it weakly; what is used no more lives on among the `KEPT` rooms used last.
    """

    def __init__(self, store: TableStore, journal: Journal, bots: Bots) -> None:
        self._store = store
        self._times = UptimeStore(store.database)
        self._services = Services(journal, bots, self._load, store.last_here)
        self._rooms: WeakValueDictionary[str, Room] = WeakValueDictionary()
        self._recent: OrderedDict[str, Room] = OrderedDict()
        self._loading: dict[str, asyncio.Task[Room]] = {}
        self._grace = 0  # after a start nobody else is at work
        self._announced: dict[str, int] = {}  # the last number heard of tables that are being loaded
        self._failed: OrderedDict[str, None] = OrderedDict()  # tables whose failure has been logged
        self._swept: tuple[int, str] | None = None  # where the last page of overdue tables has ended

    def __len__(self) -> int:
        """Number of rooms with clients and of those used last."""
        return len(self._recent.keys() | {room.id for room in self._services.occupied})

    @property
    def clients(self) -> int:
        """How many clients are connected."""
        return sum(len(room.audience.connections) for room in self.in_use())

    def in_use(self) -> list[Room]:
        """The rooms with clients."""
        return [room for room in self._services.occupied if isinstance(room, Room)]

    def is_in_use(self, table_id: str) -> bool:
        """Whether a client of this process is at a table."""
        room = self._rooms.get(table_id)
        return room is not None and bool(room.audience.connections)

    def awaited(self) -> list[str]:
        """The public tables that wait for players and whose host is at them."""
        waiting = [room for room in self.in_use() if room.game.status == "open" and room.game.terms.public]
        return [room.id for room in waiting if room.audience.connected(room.game.terms.owner)]

    # ------------------------------------------------------------ opening

    async def open(self, terms: Terms, acts: Sequence[Act]) -> Room:
        """A new table, with those who sit there from the beginning; it starts if no seat is free."""
        game = Game.opened(terms)
        for act in acts:
            game.carry_out(act)
        made = [*acts]
        if not game.missing():
            made.append(game.start())
        game.since = terms.created
        room = Room(game, self._services)
        await self._store.open(
            table_row(game),
            [{**seat.row(number), "table_id": terms.id} for number, seat in enumerate(game.seats)],
            [
                {"table_id": terms.id, "number": number, "at": terms.created, "body": write_act(act)}
                for number, act in enumerate(made, 1)
            ],
        )
        room = self._adopt(room)
        room.wake()
        return room

    # ------------------------------------------------------------ finding

    async def get(self, table_id: str) -> Room:
        """The room of a table. Raises `NoSuchTable`."""
        if "\0" in table_id:
            raise NoSuchTable  # PostgreSQL has no such text
        room = self._rooms.get(table_id)
        if room is None:
            async with long_work():
                room = self._rooms.get(table_id)  # somebody else may have loaded it meanwhile
                if room is None:
                    room = await asyncio.shield(self._loaded(table_id))
        self._use(room)
        return room

    def _loaded(self, table_id: str) -> asyncio.Task[Room]:
        """Load a table, once for all who ask for it meanwhile."""
        task = self._loading.get(table_id)
        if task is None:
            task = self._loading[table_id] = asyncio.create_task(charged(self._bring(table_id)))
            task.add_done_callback(partial(self._end_loading, table_id))
        return task

    def _end_loading(self, table_id: str, task: asyncio.Task[Room]) -> None:
        del self._loading[table_id]
        self._announced.pop(table_id, None)
        if not task.cancelled():
            task.exception()  # those who asked may be gone

    async def _bring(self, table_id: str) -> Room:
        room = self._adopt(Room(await self._load(table_id), self._services))
        while room.game.number < self._announced.pop(table_id, 0):  # written while it was read
            await self._catch_up(room)
        room.wake()
        return room

    def _adopt(self, room: Room) -> Room:
        """The one room of a table, which is this one if there was none."""
        room = self._rooms.setdefault(room.id, room)
        self._use(room)
        return room

    def _use(self, room: Room) -> None:
        """Note that a room is used now, and let go of those that have not been used for long."""
        self._recent[room.id] = room
        self._recent.move_to_end(room.id)
        while len(self._recent) > KEPT:
            self._recent.popitem(last=False)

    async def _load(self, table_id: str) -> Game:
        """Read a table from the database. Raises `NoSuchTable` or `Unreadable`."""
        row, entries = await self._store.read(table_id)
        if row is None:
            raise NoSuchTable
        if row["quarantined"] is not None:
            raise Unreadable
        try:
            return await replayed(row, entries)
        except UNREADABLE as error:
            await self._quarantine(table_id, error)
            raise Unreadable from error

    async def before(self, room: Room, number: int) -> tuple[Game, list[tuple[int, Act]]]:
        """The game as it was at an earlier number, and the acts since then. Raises `Unreadable`.

        Not to be awaited by who holds the room: it may take as long as loading it.
        """
        async with long_work():
            rows = await self._store.entries(room.id)
            # What another process has written since is told when it is heard of.
            rows = [entry for entry in rows if entry[0] <= room.game.number]
            try:
                game = Game.opened(room.game.terms)
                await _carry_out(game, rows[:number])
                return game, [(at, read_act(body)) for _, at, body in rows[number:]]
            except UNREADABLE as error:
                await self._quarantine(room.id, error)
                raise Unreadable from error

    async def _quarantine(self, table_id: str, error: Exception) -> None:
        """Put a table aside that cannot be read."""
        try:
            new = await self._store.quarantine(table_id, f"{type(error).__name__}: {error}")
        except Exception:
            log.exception("table %s cannot be read, and that could not be noted", table_id)
        else:
            if new:  # what was wrong is in the database: it may name tiles that nobody may see
                log.error("table %s cannot be read and is in quarantine", table_id)

    # ------------------------------------------------------------ other processes

    async def resume(self) -> None:
        """The server is at work again: people get some time to come back before any clock ends."""
        self._learn_of_resumption(now())
        try:
            await self._beat(BEAT, returned=True)
        except Exception:
            log.exception("when the server came back could not be noted")

    async def beat(self) -> None:
        """Note that this process is at work. A time in which none was is charged to no clock."""
        # Without the database nobody could move.
        await self._beat(ABSENCE, returned=self._services.uptime.lost)

    async def _beat(self, longest: float, *, returned: bool) -> None:
        uptime, at = self._services.uptime, now()
        try:
            standing = await self._times.beat(at, uptime.alive or 0, int(1000 * longest), returned=returned)
        except (SQLAlchemyError, OSError, Unavailable):
            uptime.lost = True
            raise
        uptime.alive, uptime.lost = at, False
        self._learn(standing)

    def _learn(self, standing: Standing) -> None:
        """Take over what all processes know of the times in which the server was away."""
        if self._services.uptime.learn(standing):
            self._give_time()

    def _learn_of_resumption(self, at: int) -> None:
        """A process of this server has come back at a time."""
        if self._services.uptime.resumed(at):
            self._give_time()

    def _give_time(self) -> None:
        for room in list(self._rooms.values()):
            room.give_time()

    def saw(self, room: Room, person: str) -> None:
        """Somebody has asked for a table, and so is not away."""
        if room.audience.saw(person) and self._store.shared:
            self._services.start(self._note_seen(room.id, person))

    async def _note_seen(self, table_id: str, person: str) -> None:
        with suppress(Exception):  # they are seen again before long
            await self._store.note_seen(table_id, person, now())

    async def heard(self, notice: str) -> None:
        """Catch up with what another process has written."""
        for item in notice.split():
            table_id, _, number = item.partition(":")
            if not number.isdecimal():
                continue
            if table_id == EVERY_TABLE:
                self._learn(await self._times.standing())
                continue
            room = self._rooms.get(table_id)
            if room is not None and room.game.number < int(number):
                await self._catch_up(room)
            elif room is None and table_id in self._loading:
                self._announced[table_id] = int(number)

    async def _catch_up(self, room: Room) -> None:
        """Follow what is written of a table. One that fails holds up no other."""
        try:
            rows = await self._store.entries(room.id, after=room.game.number)
            await room.catch_up([(number, at, read_act(body)) for number, at, body in rows])
        except Refused:
            pass  # it is read again when the database answers
        except UNREADABLE as error:
            await self._quarantine(room.id, error)
            room.set_aside()
        except Exception:
            log.exception("what was written of table %s could not be followed", room.id)

    async def sweep(self) -> None:
        """Wake tables at which something is overdue: after a crash, and where a notice was lost."""
        await self._wake_overdue(now() - self._grace)
        if self._swept is None:  # all that was left behind at the start goes on
            self._grace = GRACE
        await self.compare()

    async def _wake_overdue(self, before: int) -> None:
        """Wake the tables that have been overdue longest, and in turn all that come behind them."""
        found = await self._store.due(before, AT_ONCE)
        if len(found) == AT_ONCE:
            page = await self._store.due_page(before, AT_ONCE, self._swept)
            self._swept = page[-1] if len(page) == AT_ONCE else None
            found += [table_id for _, table_id in page]
        for table_id in dict.fromkeys(found):
            try:
                (await self.get(table_id)).wake()
            except (NoSuchTable, Unreadable):
                pass  # it has been deleted a moment ago, or it is in quarantine
            except (SQLAlchemyError, OSError, Unavailable):
                raise  # the others would fail as well
            except Exception:
                self._note_failure(table_id)
            else:
                self._failed.pop(table_id, None)

    def _note_failure(self, table_id: str) -> None:
        """Log an exception, once for each table until it goes well again."""
        if table_id not in self._failed:
            log.exception("table %s could not be woken", table_id)
            self._failed[table_id] = None
            if len(self._failed) > MOST_NOTED:
                self._failed.popitem(last=False)

    async def refresh(self, table_id: str) -> None:
        """Follow what was written of a table elsewhere; if it has been deleted, its clients are sent away."""
        if (loading := self._loading.get(table_id)) is not None:
            await asyncio.wait([loading])
        room = self._rooms.get(table_id)
        if room is None:
            return
        if await self._store.find(table_id) is None:
            self.drop(table_id)
        else:
            await self._catch_up(room)

    async def refresh_tables_of(self, person: str) -> None:
        """Follow what was written elsewhere of the tables that a person sits at or has opened."""
        for room in list(self._rooms.values()):
            if room.game.terms.owner == person or room.game.seats_of(person):
                try:
                    await self.refresh(room.id)
                except Unavailable:
                    raise  # the others would fail as well
                except Exception:
                    log.exception("table %s could not be followed", room.id)

    async def rename(self, person: str, name: str) -> None:
        """Show another name of a person at all tables in memory. The database has it already."""
        for room in await self._tables_of(person):
            await self._rename(room, person, name)

    async def refresh_names(self, person: str) -> None:
        """Show the names of a person that the database has, at all tables in memory where they sit."""
        rooms = {room.id: room for room in await self._tables_of(person)}
        ids = list(rooms)
        for first in range(0, len(ids), AT_ONCE):
            for table_id, rows in (await self._store.seats(ids[first : first + AT_ONCE])).items():
                for row in rows:
                    if row["person"] == person:
                        await self._rename(rooms[table_id], person, row["name"], row["seat"])

    async def _tables_of(self, person: str) -> list[Room]:
        """The tables in memory at which a person sits, also those that are being loaded."""
        if self._loading:
            await asyncio.wait(list(self._loading.values()))
        return [room for room in list(self._rooms.values()) if room.game.seats_of(person)]

    async def _rename(self, room: Room, person: str, name: str, seat: int | None = None) -> None:
        """Show another name at a table. One that fails holds up no other."""
        try:
            await room.rename(person, name, seat)
        except Refused:
            pass  # it is read again before anybody sees it, and the database has the name
        except Exception:
            log.exception("a name could not be changed at table %s", room.id)

    def seated(self) -> set[str]:
        """The people who sit at tables in memory."""
        rooms = self._rooms.values()
        return {seat.person for room in rooms for seat in room.game.seats if seat.person is not None}

    def drop(self, table_id: str) -> None:
        """Forget a table that is no more."""
        self._recent.pop(table_id, None)
        room = self._rooms.pop(table_id, None)
        if room is not None:
            room.close()
            self._services.occupied.discard(room)
            room.audience.dismiss(NO_SUCH_TABLE, "this table has been deleted")

    async def compare(self, *, everything: bool = False) -> None:
        """See whether tables with clients, or all in memory, have gone on without this process."""
        watched = {room.id: room for room in (self._rooms.values() if everything else self.in_use())}
        ids = list(watched)
        for first in range(0, len(ids), AT_ONCE):
            page = ids[first : first + AT_ONCE]
            kept = await self._store.numbers(page)
            aside = [table_id for table_id in page if watched[table_id].unreadable]
            still_aside = await self._store.quarantined(aside) if aside else set()
            for table_id in page:
                room = watched[table_id]
                if table_id not in kept:
                    self.drop(table_id)
                elif table_id in still_aside or room.lock.locked():
                    continue
                elif room.unreadable or room.game.number < kept[table_id]:
                    await self._catch_up(room)

    def close(self) -> None:
        """Stop everything that goes on by itself."""
        for task in list(self._loading.values()):
            task.cancel()
        for room in list(self._rooms.values()):
            room.close()
        for other in list(self._services.tasks):
            other.cancel()


async def load_game(store: TableStore, table_id: str) -> Game:
    """Return the game that a table's entries lead to, in quarantine or not.

    Raises `NoSuchTable`, or one of `UNREADABLE` if its entries lead nowhere under the rules of today.
    """
    row, entries = await store.read(table_id)
    if row is None:
        raise NoSuchTable
    return await replayed(row, entries)


async def replayed(row: Any, entries: Collection[tuple[int, int, str]]) -> Game:
    """Return the game that a table's entries lead to.

    Raises `BadLog`, or one of `UNREADABLE`, if they lead nowhere under the rules of today.
    """
    game = Game.opened(terms_of(row))
    game.terms.variant  # noqa: B018 - raises if there is no such game
    await _carry_out(game, entries)
    if game.number < row["number"]:
        raise BadLog(f"entries {game.number + 1} to {row['number']} are missing")
    if game.status == "playing" and game.held is None and game.table is not None and game.table.draw_due:
        raise BadLog(f"entry {game.number}: tiles are missing that were drawn")
    return game


async def _carry_out(game: Game, entries: Iterable[tuple[int, int, str]]) -> None:
    """Let everything happen that the entries tell. Raises `BadLog`."""
    pause = Pauses()
    for number, at, body in entries:
        if number != game.number + 1:
            raise BadLog(f"entry {game.number + 1} is missing")
        try:
            act = read_act(body)
            if not 0 <= getattr(act, "seat", 0) < game.terms.players:
                raise BadLog("there is no such seat")
            game.carry_out(act)
        except UNREADABLE as error:
            raise BadLog(f"entry {number}: {type(error).__name__}: {error}") from error
        game.happened(at)
        await pause()


def terms_of(row: Any) -> Terms:
    """The terms of a table from its row."""
    return Terms(
        id=row["id"],
        game=row["game"],
        players=row["players"],
        options=msgspec.json.decode(row["options"], type=dict[str, bool]),
        public=bool(row["public"]),
        move_time=row["move_time"],
        daily=row["daily"],
        owner=row["owner"],
        invite=row["invite"],
        seed=row["seed"],
        created=row["created"],
    )


EVERY = 10.0  # seconds between two looks
LASTS = 25_000  # milliseconds that a note is taken for true


async def share(rooms: Rooms, store: TableStore) -> None:
    """Inform the rooms of this process about clients of the others, and the other way round."""
    used = rooms.in_use()
    # A note that one of ours is here must not come back to us when they have left.
    if gone := [(room.id, person) for room in used for person in room.audience.gone()]:
        await store.set_here(gone, now())
    ours = [(room.id, person) for room in used for person in room.audience.here_locally]
    if ours:
        await store.set_here(ours, now() + LASTS)
    found = await store.here([room.id for room in used], now())
    for room in used:
        room.learn_who_is_elsewhere(found[room.id])
