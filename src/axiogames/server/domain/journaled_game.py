"""The game of a table, kept consistent with its log: entries are applied, committed, then broadcast."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ..presentation.views import ViewCache
from ..storage.journal import EntryConflict, Journal, JournalEntry
from ..transport.client import Client, encode
from .bots import Bots
from .clock import Uptime
from .entries import TableEntry
from .game_state import GameState
from .refusals import Refused, Unavailable, Unreadable
from .subscribers import Subscribers

if TYPE_CHECKING:
    from .room import Room

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RoomServices:
    """Services shared by all rooms of a process."""

    journal: Journal
    bots: Bots
    load: Callable[[str], Awaitable[GameState]]  # reads the game of a table from the database
    # Returns the time at which a person was last present at a table, in any process.
    last_present: Callable[[str, str], Awaitable[int | None]]
    uptime: Uptime = field(default_factory=Uptime)
    views: ViewCache = field(default_factory=ViewCache)
    occupied: set[Room] = field(default_factory=set)  # rooms with clients
    # Tasks that rooms have started. The event loop itself keeps only weak references to tasks.
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start a task and keep a reference to it until it is done."""
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task


@dataclass(frozen=True, slots=True)
class SeatCommand:
    """Request to act for a seat.

    Attributes:
        seat: The seat.
        based_on: Number of the last entry that the requester has seen, `None` to skip the check.
        message_id: Id of the message. A repeated message with the same id is only acknowledged.
        sender: The client that has sent the message, `None` for requests over HTTP and of the server.
        automatic: Whether the server acts for the seat: a bot or the clock.
    """

    seat: int
    based_on: int | None = None
    message_id: str = ""
    sender: Client | None = None
    automatic: bool = False


class Applied(NamedTuple):
    """Entries that are applied in memory and not committed yet."""

    rows: list[JournalEntry]
    last: TableEntry


class JournaledGame:
    """Game of a table in memory and its subscribers.

    Callers of the coroutines hold the lock of the room.
    """

    def __init__(self, game: GameState, services: RoomServices) -> None:
        self.subscribers = Subscribers(game, services.uptime, services.views)
        self.stale = False  # whether the state in memory may differ from the log
        self.unreadable = False  # whether the log cannot be read
        self._broadcast_number = 0  # while stale: number of the last entry that subscribers have seen
        self._services = services

    @property
    def game(self) -> GameState:
        return self.subscribers.game

    def acknowledge(self, seats: Iterable[int], message_id: str, sender: Client | None) -> int | None:
        """Return the number of the entry of a message that was executed before, and send its sender a view.

        Raises:
            Refused: The sender's connection was closed while the message waited.
        """
        if sender is not None and sender.closing:
            raise Refused("not_allowed", "this connection has been closed")
        number = self.game.number_of_message(message_id, seats)
        if number is not None and sender is not None:
            sender.send(encode(self.subscribers.view(sender.viewer, message_id)))
        return number

    def apply(self, entries: Collection[TableEntry], action: int | None = None) -> Applied:
        """Apply new entries, which the caller has to commit next.

        Args:
            entries: The entries, in order.
            action: Action id of a new `MovePlayed`, as for `GameState.apply`.

        Raises:
            IllegalMove: The rules forbid the move. Nothing has changed.
        """
        applied, rows = [], []
        for entry in entries:
            applied.append(self.game.apply(entry, action=action))
            rows.append(self.game.journal_entry(applied[-1]))
        return Applied(rows, applied[-1])

    async def commit(self, applied: Applied, request: SeatCommand | None = None) -> int:
        """Commit applied entries, all or none, broadcast the change and return the number of the last entry.

        If the commit fails, the state in memory is read from the log again.

        Args:
            applied: Result of `apply`.
            request: The request that has led to the entries, if it came from a seat.

        Raises:
            Refused: The commit failed.
        """
        rows, entry = applied
        number, before = rows[-1].number, rows[0].number - 1
        committed = self._services.journal.append(*rows)
        try:
            await asyncio.shield(committed)
        except asyncio.CancelledError:
            # The requester is gone, but the commit is in progress. Its result counts.
            await asyncio.wait([committed])
            if committed.exception() is not None:
                await self._recover(before)
            else:
                self.subscribers.broadcast(entry)
            raise
        except Exception as error:
            await self._recover(before)
            if request is not None and not self.stale:
                # The commit may have succeeded although its confirmation was lost.
                known = self.acknowledge([request.seat], request.message_id, request.sender)
                if known is not None:
                    return known
            if isinstance(error, EntryConflict):
                raise Refused("stale", "another process has changed this table first; try again") from None
            log_failure("table %s could not be committed", self.game.config.id, error)
            raise Unavailable from None
        if request is None:
            self.subscribers.broadcast(entry)
        else:
            self.subscribers.broadcast(entry, request.sender, request.message_id)
        return number

    async def _recover(self, before: int) -> None:
        """Replace the uncommitted state in memory. If this fails, the next transaction tries again."""
        self.stale, self._broadcast_number = True, before
        try:
            await self.reload()
        except Unreadable:
            pass  # `reload` has marked the table as unreadable
        except Exception as error:
            log_failure("table %s could not be reloaded", self.game.config.id, error)

    async def reload(self) -> None:
        """Read the state from the log again. Raises `Unreadable` or an error of the database."""
        try:
            game = await self._services.load(self.game.config.id)
        except Unreadable:
            self.mark_unreadable()
            raise
        self.subscribers.replace_game(game)
        self.stale = self.unreadable = False
        if game.number != self._broadcast_number:
            self.subscribers.broadcast_views()

    def mark_unreadable(self) -> None:
        """Note that the log cannot be read. Until it can, the table does not change."""
        if not self.stale:
            self.stale, self._broadcast_number = True, self.game.number
        self.unreadable = True

    def catch_up(self, entries: Collection[tuple[int, int, TableEntry]]) -> None:
        """Apply and broadcast entries that another process has committed, as (number, time, entry)."""
        for number, at, entry in entries:
            if number == self.game.number + 1:
                self.subscribers.broadcast(self.game.apply(entry, at))


def log_failure(message: str, table_id: str, error: Exception) -> None:
    """Log a failure of a table. `Database` logs its own outages, once for all tables."""
    log.error(message, table_id, exc_info=None if isinstance(error, Unavailable) else error)
