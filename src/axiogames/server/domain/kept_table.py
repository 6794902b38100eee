"""A table that is kept in the database: all changes are carried out, committed, then told, one at a time."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from ..presentation.views import ViewCache, Viewer
from ..storage.journal import Conflict, Entry, Journal
from ..transport.client import Connection, encode
from .bots import Bots
from .clock import Uptime
from .entries import Act
from .game_state import Game, entry_of
from .refusals import Refused, Unavailable, Unreadable
from .subscribers import Audience

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Services:
    """What every room uses."""

    journal: Journal
    bots: Bots
    load: Callable[[str], Awaitable[Game]]  # reads a table's game from the database
    last_here: Callable[[str, str], Awaitable[int | None]]  # when a person was at a table, at any process
    uptime: Uptime = field(default_factory=Uptime)
    views: ViewCache = field(default_factory=ViewCache)
    occupied: set[KeptTable] = field(default_factory=set)  # tables with clients
    # What tables do by themselves. The event loop itself keeps only weak references to tasks.
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start a task that lives until it is done, whoever forgets it."""
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task


class KeptTable(ABC):
    """What is in memory of a table, and that it is what the database has."""

    def __init__(self, game: Game, services: Services) -> None:
        self.audience = Audience(game, services.uptime, services.views)
        self.lock = asyncio.Lock()
        self._services = services
        self._doubtful = False  # whether what is in memory may differ from what is kept
        self._told = 0  # the number that everybody knows of, while that is so
        self.unreadable = False  # whether the database has what cannot be read

    @property
    def game(self) -> Game:
        """The game as its entries tell it."""
        return self.audience.game

    @property
    def id(self) -> str:
        return self.game.terms.id

    def view(self, viewer: Viewer, ack: str | None = None) -> Any:
        """The whole view for somebody."""
        return self.audience.view(viewer, ack)

    @abstractmethod
    def wake(self) -> None:
        """See to it that what waits at this table goes on."""

    @abstractmethod
    def _try_again(self) -> None:
        """Find out after a while what is kept, and go on."""

    def _acknowledged(self, seats: Iterable[int], message: str, sender: Connection | None) -> int | None:
        """The number of the entry that a message has made already; its sender is told.

        Raises `Refused` for a sender whose connection was closed while the message waited.
        """
        if sender is not None and sender.dismissed:
            raise Refused("not_allowed", "this connection has been closed")
        made = self.game.entry_of(message, seats)
        if made is not None and sender is not None:
            sender.tell(encode(self.view(sender.viewer, message)))
        return made

    # ------------------------------------------------------------ carried out, committed, told

    async def _act(self, *acts: Act) -> None:
        """Let things happen, all of them or none."""
        made: list[Entry] = []
        for number, act in enumerate(acts, 1):
            self.game.carry_out(act)
            if number < len(acts):
                made.append(entry_of(self.game, act))
            else:
                await self._keep(act, together_with=made)

    async def _take(self, *acts: Act) -> None:
        """Let somebody sit down. If nobody is missing then, the game starts, in the same commit."""
        made: list[Entry] = []
        for act in acts[:-1]:
            self.game.carry_out(act)
            made.append(entry_of(self.game, act))
        self.game.carry_out(acts[-1])
        if self.game.missing():
            await self._keep(acts[-1], together_with=made)
        else:
            made.append(entry_of(self.game, acts[-1]))
            await self._keep(self.game.start(), together_with=made)

    async def _keep(
        self,
        act: Act,
        seat: int | None = None,
        sender: Connection | None = None,
        message: str = "",
        together_with: Sequence[Entry] = (),
    ) -> int:
        """Commit what has just been carried out, then tell everybody; take it all back if that fails.

        Returns the number of the entry. Raises `Refused`.
        """
        kept = self._services.journal.append(*together_with, entry_of(self.game, act))
        number, before = self.game.number, self.game.number - len(together_with) - 1
        try:
            await asyncio.shield(kept)
        except asyncio.CancelledError:
            # Whoever asked is gone; what was begun is brought to its end all the same.
            await asyncio.wait([kept])
            if kept.exception() is not None:
                await self._recover(before)
            else:
                self.audience.tell(act)
                self.wake()
            raise
        except Exception as error:
            await self._recover(before)
            if seat is not None and not self._doubtful:
                # A commit can succeed and its answer be lost, also that of a process which is gone.
                made = self._acknowledged([seat], message, sender)
                if made is not None:
                    return made
            if isinstance(error, Conflict):
                raise Refused("stale", "somebody else was faster; look again") from None
            _log("table %s could not be kept", self.id, error)
            raise Unavailable from None
        self.audience.tell(act, sender, message)
        self.wake()
        return number

    async def _recover(self, before: int) -> None:
        """What is in memory is not what is kept: read that again, now or before anybody asks."""
        self._doubtful, self._told = True, before
        try:
            await self._read_again()
        except Unreadable:
            self.set_aside()
        except Exception as error:
            _log("table %s could not be read again", self.id, error)
            self._try_again()

    def set_aside(self) -> None:
        """The table's log cannot be read: nobody does anything here before it can."""
        if not self._doubtful:
            self._doubtful, self._told = True, self.game.number
        self.unreadable = True

    async def _read_again(self) -> None:
        self.audience.follow(await self._services.load(self.id))
        self._doubtful = self.unreadable = False
        if self.game.number != self._told:
            self.audience.tell_views()
        self.wake()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Nobody changes the table meanwhile, and what is in memory is what is kept. Raises `Refused`."""
        async with self.lock:
            if self._doubtful:
                try:
                    await self._read_again()
                except Unreadable:
                    self.set_aside()
                    raise
                except Exception as error:
                    _log("table %s could not be read again", self.id, error)
                    raise Unavailable from None
            yield

    async def catch_up(self, entries: Collection[tuple[int, int, Act]]) -> None:
        """Carry out entries that another process has written."""
        async with self.alone():
            for number, at, act in entries:
                if number != self.game.number + 1:
                    continue
                self.game.carry_out(act)
                self.game.happened(at)
                self.audience.tell(act)
            self.wake()


def _log(message: str, table: str, error: Exception) -> None:
    """Log what has failed. `Database` logs what made it unavailable, once for all tables."""
    log.error(message, table, exc_info=None if isinstance(error, Unavailable) else error)
