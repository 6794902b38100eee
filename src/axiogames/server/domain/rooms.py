"""Rooms of this process: opening, loading from the database, and following changes of other processes."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from weakref import WeakValueDictionary

from sqlalchemy.exc import SQLAlchemyError

from ..storage.journal import Journal
from ..storage.tables import TableStore
from ..storage.uptime import ALL_TABLES, UptimeState, UptimeStore
from ..transport.client import NO_SUCH_TABLE
from ..transport.fair_share import charged, long_work
from .bots import Bots
from .clock import HEARTBEAT_SECONDS, HEARTBEAT_TIMEOUT
from .entries import UNDRAWN, GameStarted, TableEntry, decode_entry, encode_entry
from .game_state import GameState, TableConfig, now
from .journaled_game import RoomServices
from .log_replay import UNREADABLE, apply_stored, replay_log
from .refusals import NoSuchTable, Refused, Unavailable, Unreadable
from .room import Room

RECENT_ROOMS = 500  # stay in memory after their last use
SWEEP_SECONDS = 5.0  # between two sweeps
TAKEOVER_MS = 20_000  # milliseconds overdue before a process acts at a table of another process
PAGE_SIZE = 200  # tables per query
PRESENCE_SECONDS = 10.0  # between two updates of the presence of people
PRESENCE_MS = 25_000  # milliseconds for which a stored presence is valid
MAX_FAILURES = 1_000  # tables whose failure is logged only once

log = logging.getLogger(__name__)


def new_table_id() -> str:
    """Return a random table id that cannot be guessed."""
    return secrets.token_urlsafe(12)


class Rooms:
    """Rooms of this process by table id, at most one per table.

    A room stays in memory as long as something refers to it: a client, a request, a bot's search, a timer.
    Therefore `_rooms` holds weak references. The `RECENT_ROOMS` rooms used last stay as well.
    """

    def __init__(self, store: TableStore, journal: Journal, bots: Bots) -> None:
        self._store = store
        self._uptime_store = UptimeStore(store.database)
        self._services = RoomServices(journal, bots, self._load, store.last_present)
        self._rooms: WeakValueDictionary[str, Room] = WeakValueDictionary()
        self._recent: OrderedDict[str, Room] = OrderedDict()
        self._loading: dict[str, asyncio.Task[Room]] = {}
        # Milliseconds. 0 until the first complete sweep: after a start no process has the overdue tables.
        self._takeover_after = 0
        self._announced: dict[str, int] = {}  # last number announced, by id of a table that is being loaded
        self._failed: OrderedDict[str, None] = OrderedDict()  # tables whose failure has been logged
        self._swept: tuple[int, str] | None = None  # last table of the previous page of overdue tables

    def __len__(self) -> int:
        """Number of rooms with clients and of those used recently."""
        return len(self._recent.keys() | {room.id for room in self._services.occupied})

    @property
    def clients(self) -> int:
        """Number of connected clients."""
        return sum(len(room.subscribers.connections) for room in self.in_use())

    def in_use(self) -> list[Room]:
        """Return the rooms that have clients."""
        return list(self._services.occupied)

    def is_in_use(self, table_id: str) -> bool:
        """Return whether a client of this process is connected to a table."""
        room = self._rooms.get(table_id)
        return room is not None and bool(room.subscribers.connections)

    def waiting_for_players(self) -> list[str]:
        """Return the ids of public tables that wait for players and whose owner is connected."""
        waiting = [room for room in self.in_use() if room.game.status == "open" and room.game.config.public]
        return [room.id for room in waiting if room.subscribers.is_connected(room.game.config.owner)]

    # ------------------------------------------------------------ opening

    async def open(self, config: TableConfig, entries: Sequence[TableEntry]) -> Room:
        """Create a table with its first entries and return its room. The game starts if no seat is free."""
        game = GameState.new(config)
        applied = [game.apply(entry, config.created) for entry in entries]
        if not game.unfilled_seats():
            applied.append(game.apply(GameStarted(UNDRAWN), config.created))
        room = Room(game, self._services)
        await self._store.open(
            game.row(),
            [{**seat.row(number), "table_id": config.id} for number, seat in enumerate(game.seats)],
            [
                {"table_id": config.id, "number": number, "at": config.created, "body": encode_entry(entry)}
                for number, entry in enumerate(applied, 1)
            ],
        )
        room = self._adopt(room)
        room.wake()
        return room

    # ------------------------------------------------------------ loading

    async def get(self, table_id: str) -> Room:
        """Return the room of a table. Raises `NoSuchTable` or `Unreadable`."""
        if "\0" in table_id:
            raise NoSuchTable  # PostgreSQL does not accept this character
        room = self._rooms.get(table_id)
        if room is None:
            async with long_work():
                room = self._rooms.get(table_id)  # another request may have loaded it meanwhile
                if room is None:
                    room = await asyncio.shield(self._start_loading(table_id))
        self._use(room)
        return room

    def _start_loading(self, table_id: str) -> asyncio.Task[Room]:
        """Return the task that loads a table. Concurrent requests share it."""
        task = self._loading.get(table_id)
        if task is None:
            task = self._loading[table_id] = asyncio.create_task(charged(self._load_room(table_id)))
            task.add_done_callback(partial(self._end_loading, table_id))
        return task

    def _end_loading(self, table_id: str, task: asyncio.Task[Room]) -> None:
        del self._loading[table_id]
        self._announced.pop(table_id, None)
        if not task.cancelled():
            task.exception()  # mark it as retrieved: the requesters may be gone

    async def _load_room(self, table_id: str) -> Room:
        room = self._adopt(Room(await self._load(table_id), self._services))
        while room.game.number < self._announced.pop(table_id, 0):  # written while the log was read
            await self._catch_up(room)
        room.wake()
        return room

    def _adopt(self, room: Room) -> Room:
        """Register a room. If its table already has one, return that room instead."""
        room = self._rooms.setdefault(room.id, room)
        self._use(room)
        return room

    def _use(self, room: Room) -> None:
        """Note that a room is used now, and drop the least recently used ones."""
        self._recent[room.id] = room
        self._recent.move_to_end(room.id)
        while len(self._recent) > RECENT_ROOMS:
            self._recent.popitem(last=False)

    async def _load(self, table_id: str) -> GameState:
        """Load the game of a table. Raises `NoSuchTable` or `Unreadable`."""
        row, entries = await self._store.read(table_id)
        if row is None:
            raise NoSuchTable
        if row["quarantined"] is not None:
            raise Unreadable
        try:
            return await replay_log(row, entries)
        except UNREADABLE as error:
            await self._quarantine(table_id, error)
            raise Unreadable from error

    async def state_at(self, room: Room, number: int) -> tuple[GameState, list[tuple[int, TableEntry]]]:
        """Return the game after entry `number`, and the later entries with their times.

        Do not await this inside a transaction: it may take as long as loading the table.

        Raises:
            Unreadable: The log cannot be read.
        """
        async with long_work():
            rows = await self._store.entries(room.id)
            # Later entries of other processes are broadcast when their notification arrives.
            rows = [row for row in rows if row[0] <= room.game.number]
            try:
                game = GameState.new(room.game.config)
                await apply_stored(game, rows[:number])
                return game, [(at, decode_entry(body)) for _, at, body in rows[number:]]
            except UNREADABLE as error:
                await self._quarantine(room.id, error)
                raise Unreadable from error

    async def _quarantine(self, table_id: str, error: Exception) -> None:
        """Put a table that cannot be read into quarantine."""
        try:
            new = await self._store.quarantine(table_id, f"{type(error).__name__}: {error}")
        except Exception:
            log.exception("table %s cannot be read, and putting it into quarantine failed", table_id)
        else:
            if new:  # the error itself is stored in the database only, since it may name hidden tiles
                log.error("table %s cannot be read and is in quarantine", table_id)

    # ------------------------------------------------------------ uptime

    async def resume(self) -> None:
        """Note the end of an outage. No clock expires before people have had time to return."""
        self._note_resumption(now())
        try:
            await self._heartbeat(HEARTBEAT_SECONDS, returned=True)
        except Exception:
            log.exception("failed to store the end of the outage")

    async def heartbeat(self) -> None:
        """Store that this process is running. Clocks do not run while no process is running."""
        # Nobody can move without the database, so its outages count as outages of the server.
        await self._heartbeat(HEARTBEAT_TIMEOUT, returned=self._services.uptime.database_lost)

    async def _heartbeat(self, max_gap: float, *, returned: bool) -> None:
        """Store a heartbeat. More than `max_gap` seconds since the previous one count as an outage."""
        uptime, at = self._services.uptime, now()
        try:
            state = await self._uptime_store.heartbeat(
                at, uptime.last_heartbeat or 0, int(1000 * max_gap), returned=returned
            )
        except (SQLAlchemyError, OSError, Unavailable):
            uptime.database_lost = True
            raise
        uptime.last_heartbeat, uptime.database_lost = at, False
        self._adopt_uptime(state)

    def _adopt_uptime(self, state: UptimeState) -> None:
        """Adopt the outages stored by all processes."""
        if self._services.uptime.update(state):
            self._extend_deadlines()

    def _note_resumption(self, at: int) -> None:
        """Note that an outage ended at `at`."""
        if self._services.uptime.note_resumption(at):
            self._extend_deadlines()

    def _extend_deadlines(self) -> None:
        for room in list(self._rooms.values()):
            room.extend_deadlines()

    # ------------------------------------------------------------ other processes

    def note_seen(self, room: Room, person: str) -> None:
        """Note that a person has requested a table, and is therefore not absent."""
        if room.subscribers.note_seen(person) and self._store.shared:
            self._services.start(self._store_seen(room.id, person))

    async def _store_seen(self, table_id: str, person: str) -> None:
        with suppress(Exception):  # the next request stores it again
            await self._store.record_presence(table_id, person, now())

    async def on_notification(self, notice: str) -> None:
        """Catch up with entries of other processes. `notice` lists them as `TABLE:NUMBER TABLE:NUMBER`."""
        for item in notice.split():
            table_id, _, number = item.partition(":")
            if not number.isdecimal():
                continue
            if table_id == ALL_TABLES:
                self._adopt_uptime(await self._uptime_store.read())
                continue
            room = self._rooms.get(table_id)
            if room is not None and room.game.number < int(number):
                await self._catch_up(room)
            elif room is None and table_id in self._loading:
                self._announced[table_id] = int(number)

    async def _catch_up(self, room: Room) -> None:
        """Apply the entries of other processes to a room. Failures are logged and affect no other table."""
        try:
            rows = await self._store.entries(room.id, after=room.game.number)
            await room.catch_up([(number, at, decode_entry(body)) for number, at, body in rows])
        except Refused:
            pass  # the room is reloaded when the database responds
        except UNREADABLE as error:
            await self._quarantine(room.id, error)
            room.mark_unreadable()
        except Exception:
            log.exception("failed to read the new entries of table %s", room.id)

    async def sweep(self) -> None:
        """Wake overdue tables, for example after a crash or a lost notification."""
        await self._wake_overdue(now() - self._takeover_after)
        if self._swept is None:  # the last page has been reached
            self._takeover_after = TAKEOVER_MS
        await self.reconcile()

    async def _wake_overdue(self, before: int) -> None:
        """Wake the tables that have been overdue longest, and the next page of the others."""
        found = await self._store.list_due(before, PAGE_SIZE)
        if len(found) == PAGE_SIZE:
            page = await self._store.due_page(before, PAGE_SIZE, self._swept)
            self._swept = page[-1] if len(page) == PAGE_SIZE else None
            found += [table_id for _, table_id in page]
        for table_id in dict.fromkeys(found):
            try:
                (await self.get(table_id)).wake()
            except (NoSuchTable, Unreadable):
                pass  # it has just been deleted, or is in quarantine
            except (SQLAlchemyError, OSError, Unavailable):
                raise  # the other tables would fail as well
            except Exception:
                self._note_failure(table_id)
            else:
                self._failed.pop(table_id, None)

    def _note_failure(self, table_id: str) -> None:
        """Log the current exception, once per table until it succeeds again."""
        if table_id not in self._failed:
            log.exception("failed to wake table %s", table_id)
            self._failed[table_id] = None
            if len(self._failed) > MAX_FAILURES:
                self._failed.popitem(last=False)

    async def refresh(self, table_id: str) -> None:
        """Catch up with a table. If it has been deleted, drop it and disconnect its clients."""
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
        """Catch up with the tables that a person has opened or has a seat at."""
        for room in list(self._rooms.values()):
            if room.game.config.owner == person or room.game.seats_of(person):
                try:
                    await self.refresh(room.id)
                except Unavailable:
                    raise  # the other tables would fail as well
                except Exception:
                    log.exception("failed to refresh table %s", room.id)

    async def rename(self, person: str, name: str) -> None:
        """Show the new name of a person at all tables in memory. The database already has it."""
        for room in await self._tables_of(person):
            await self._rename(room, person, name)

    async def refresh_names(self, person: str) -> None:
        """Show the stored names of a person at all tables in memory."""
        rooms = {room.id: room for room in await self._tables_of(person)}
        ids = list(rooms)
        for start in range(0, len(ids), PAGE_SIZE):
            for table_id, rows in (await self._store.seats(ids[start : start + PAGE_SIZE])).items():
                for row in rows:
                    if row["person"] == person:
                        await self._rename(rooms[table_id], person, row["name"], row["seat"])

    async def _tables_of(self, person: str) -> list[Room]:
        """Wait for the tables that are being loaded, and return the rooms in which a person has a seat."""
        if self._loading:
            await asyncio.wait(list(self._loading.values()))
        return [room for room in list(self._rooms.values()) if room.game.seats_of(person)]

    async def _rename(self, room: Room, person: str, name: str, seat: int | None = None) -> None:
        """Show a new name at a table. Failures are logged and affect no other table."""
        try:
            await room.rename(person, name, seat)
        except Refused:
            pass  # the room is reloaded before anybody sees it, and the database has the name
        except Exception:
            log.exception("failed to change a name at table %s", room.id)

    def seated(self) -> set[str]:
        """Return the people with seats at tables in memory."""
        rooms = self._rooms.values()
        return {seat.person for room in rooms for seat in room.game.seats if seat.person is not None}

    def drop(self, table_id: str) -> None:
        """Drop a deleted table and disconnect its clients."""
        self._recent.pop(table_id, None)
        room = self._rooms.pop(table_id, None)
        if room is not None:
            room.close()
            self._services.occupied.discard(room)
            room.subscribers.close_connections(NO_SUCH_TABLE, "this table has been deleted")

    async def reconcile(self, *, everything: bool = False) -> None:
        """Compare rooms with the database and catch up: those with clients, or all in memory."""
        rooms = {room.id: room for room in (self._rooms.values() if everything else self.in_use())}
        ids = list(rooms)
        for start in range(0, len(ids), PAGE_SIZE):
            page = ids[start : start + PAGE_SIZE]
            stored = await self._store.entry_numbers(page)
            unreadable = [table_id for table_id in page if rooms[table_id].unreadable]
            quarantined = await self._store.quarantined_tables(unreadable) if unreadable else set()
            for table_id in page:
                room = rooms[table_id]
                if table_id not in stored:
                    self.drop(table_id)
                elif table_id in quarantined or room.lock.locked():
                    continue
                elif room.unreadable or room.game.number < stored[table_id]:
                    await self._catch_up(room)

    def close(self) -> None:
        """Stop all tasks and timers."""
        for loading in list(self._loading.values()):
            loading.cancel()
        for room in list(self._rooms.values()):
            room.close()
        for task in list(self._services.tasks):
            task.cancel()


async def share_presence(rooms: Rooms, store: TableStore) -> None:
    """Store the people connected to this process, and update the rooms with those connected to others."""
    used = rooms.in_use()
    # Otherwise this process would read back the stored presence of people who have left it.
    departed = [(room.id, person) for room in used for person in room.subscribers.take_departed()]
    if departed:
        await store.set_present(departed, now())
    local = [(room.id, person) for room in used for person in room.subscribers.present_locally]
    if local:
        await store.set_present(local, now() + PRESENCE_MS)
    present = await store.present_people([room.id for room in used], now())
    for room in used:
        room.update_remote_presence(present[room.id])
