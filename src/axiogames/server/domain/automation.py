"""Actions of the server at a table: bot moves, moves of the clock, held draws and retries."""

from __future__ import annotations

import asyncio
import logging
import weakref
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from .bots import DEFAULT_LEVEL
from .game_state import due, now
from .journaled_game import RoomServices, SeatCommand
from .refusals import Refused, Unavailable, Unreadable

if TYPE_CHECKING:
    from .room import Room

RETRY_SECONDS = 5.0  # until a failed action is tried again
TIMER_SECONDS = 3600.0  # a longer timer does not keep its room in memory; `Rooms.sweep` finds the table

log = logging.getLogger(__name__)


class Automation:
    """Task and timer of a room, at most one of each.

    It holds no reference to its room: a cycle would keep rooms in memory until the next garbage collection. A
    pending task or timer does hold one.
    """

    def __init__(self, services: RoomServices) -> None:
        self._services = services
        self._timer: asyncio.TimerHandle | None = None
        self._reminder: asyncio.TimerHandle | None = (
            None  # a distant timer, with a weak reference to the room
        )
        self._task: asyncio.Task[None] | None = None
        self._error: Exception | None = None  # of the task
        self._closed = False

    @property
    def busy(self) -> bool:
        """Whether a task runs or a timer keeps the room in memory."""
        return self._task is not None or self._timer is not None

    def wake(self, room: Room) -> None:
        """Start the action that is due, or set a timer for it."""
        if self._closed or room.unreadable:
            return
        if room.stale:
            self._retry_later(room)
            return
        if self._timer is not None or self._reminder is not None:
            self._cancel_timers()
        game = room.game
        when = due(game, self._services.uptime)
        if when is None:
            return
        if game.bot_to_move is not None:
            self._start(room, partial(self._play_bots, room))
            return
        delay = max(0.0, (when - now()) / 1000)
        loop = asyncio.get_running_loop()
        if delay > TIMER_SECONDS:
            self._reminder = loop.call_later(TIMER_SECONDS, _wake, weakref.ref(room))
        else:
            self._timer = loop.call_later(delay, self._on_timer, room, game.number)

    def close(self) -> None:
        """Stop the task and the timer permanently."""
        self._closed = True
        self._cancel_timers()
        if self._task is not None:
            self._task.cancel()

    # ------------------------------------------------------------ task

    def _start(self, room: Room, work: Callable[[], Awaitable[None]]) -> None:
        """Start a task unless there is one. The room is woken again when it ends."""
        if self._task is None and not self._closed:
            self._error = None
            self._task = self._services.start(self._run(work))
            self._task.add_done_callback(partial(self._on_task_done, room))

    async def _run(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except Exception as error:
            self._error = error

    def _on_task_done(self, room: Room, task: asyncio.Task[None]) -> None:
        self._task = None
        if task.cancelled() or self._closed:
            return
        error, self._error = self._error, None
        if error is None or isinstance(error, Unreadable):
            room.wake()
            return
        if not isinstance(error, Unavailable):  # `Unavailable` has been logged already
            log.error("an action of the server failed at table %s", room.id, exc_info=error)
        self._retry_later(room)

    async def _play_bots(self, room: Room) -> None:
        """Let bots move until it is a person's turn or the game is over."""
        while (level := room.game.bot_to_move) is not None:
            await self._play_bot(room, level)

    async def _play_bot(self, room: Room, level: str, by: str = "") -> None:
        """Let the bot `level` move for the seat to move. `by` is stored with the move."""
        game, seat = room.game, room.game.turn
        if game.table is None or seat is None:
            return
        request = SeatCommand(seat, based_on=game.number, automatic=True)
        choice = await self._services.bots.choose(level, game.table.view(seat), game.config.owner)
        with _ignoring_stale():
            await room.move(request, choice, by=by)

    # ------------------------------------------------------------ timers

    def _cancel_timers(self) -> None:
        for timer in (self._timer, self._reminder):
            if timer is not None:
                timer.cancel()
        self._timer = self._reminder = None

    def _on_timer(self, room: Room, number: int) -> None:
        self._timer = None
        uptime = self._services.uptime
        if uptime.is_suspended(now()) or (uptime.database_lost and room.game.pending_draw is None):
            self._retry_later(room)
        else:
            self._start(room, partial(self._act_when_due, room, number))

    async def _act_when_due(self, room: Room, number: int) -> None:
        """Move or draw for a seat whose time is up, unless there are entries after `number`."""
        game = room.game
        when = due(game, self._services.uptime)
        if game.number != number or when is None or when > now():
            return
        if game.pending_draw is None:
            try:
                await self._play_bot(room, DEFAULT_LEVEL, "clock")
            except Unavailable:
                self._services.uptime.database_lost = True  # the person could not have moved either
                raise
        else:
            with _ignoring_stale():
                await room.draw(SeatCommand(game.pending_draw, based_on=number, automatic=True))

    def _retry_later(self, room: Room) -> None:
        """Try again after `RETRY_SECONDS`, for example after an outage of the database."""
        self._cancel_timers()
        if not self._closed:
            self._timer = asyncio.get_running_loop().call_later(RETRY_SECONDS, self._retry, room)

    def _retry(self, room: Room) -> None:
        self._timer = None
        self._start(room, partial(_reload_if_stale, room))


@contextmanager
def _ignoring_stale() -> Iterator[None]:
    """Ignore the refusal of a request that is stale because somebody else has acted first."""
    try:
        yield
    except Refused as error:
        if error.code != "stale":
            raise


async def _reload_if_stale(room: Room) -> None:
    """Start a transaction, which reloads a stale state, and change nothing."""
    with suppress(Refused):
        async with room.transaction():
            pass


def _wake(reference: weakref.ref[Room]) -> None:
    """Wake a room that is still in memory."""
    room = reference()
    if room is not None:
        room.wake()
