"""A table in use: its game, the clients at it, and what the server itself has to do there."""

from __future__ import annotations

import asyncio
import logging
import weakref
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

from ...errors import IllegalMove, Reason
from ...moves import Move
from ..transport.client import NO_SUCH_TABLE, Connection
from . import subscribers
from .bots import DEFAULT_LEVEL
from .entries import Closed, Continued, Hired, Removed, Replaced, Returned, Rose, Sat, TookBack
from .game_state import Game, due, now
from .kept_table import KeptTable, Services
from .refusals import Refused, Unavailable, Unreadable

RETRY = 5.0  # seconds until what failed is tried again
MOST_ENTRIES = 2_000  # from then on nothing can be done that could be done without end
FAR = 3600.0  # seconds to a deadline that keeps no room in memory: `Rooms.sweep` finds it in the database

log = logging.getLogger(__name__)


class Room(KeptTable):
    """What people and bots can do at a table, and what happens there when nobody does anything."""

    def __init__(self, game: Game, services: Services) -> None:
        super().__init__(game, services)
        self._timer: asyncio.TimerHandle | None = None
        self._reminder: asyncio.TimerHandle | None = None  # for what is far away; it does not hold the room
        self._thinking: asyncio.Task[None] | None = None
        self._telling: asyncio.Task[None] | None = None
        self._tell_of_time: asyncio.Task[None] | None = None
        self._failure: Exception | None = None  # of what `_thinking` did
        self._closed = False

    @property
    def idle(self) -> bool:
        """Whether nobody is here and nothing goes on by itself."""
        tasks = (self._thinking, self._telling, self._tell_of_time)
        busy = self.lock.locked() or any(tasks) or self._timer is not None
        return not self.audience.connections and not busy

    # ------------------------------------------------------------ who is here

    def enter(self, client: Connection) -> None:
        """A client is here."""
        self.audience.enter(client)
        if self._closed:
            client.dismiss(NO_SUCH_TABLE, "this table has been deleted")
        else:
            self._services.occupied.add(self)

    def leave(self, client: Connection) -> None:
        """A client is gone."""
        if self.audience.leave(client):
            self._tell_seats_soon()
        if not self.audience.connections:
            self._services.occupied.discard(self)

    def learn_who_is_elsewhere(self, people: set[str]) -> None:
        """Other processes, too, have clients."""
        if self.audience.learn_who_is_elsewhere(people):
            self._tell_seats_soon()

    def give_time(self) -> None:
        """No clock ends as early as it would have: see to that, and tell those who look at it."""
        self.wake()
        if self.audience.deadline is None or not self.audience.connections or self._closed:
            return
        if self._tell_of_time is None:  # otherwise they have not been told yet
            self._tell_of_time = self._services.start(self._tell_views())

    async def _tell_views(self) -> None:
        try:
            async with self.alone():
                self.audience.tell_views()
        except Refused:
            pass  # they are told when the table can be read again
        except Exception:
            log.exception("those at table %s could not be told of their time", self.id)
        finally:
            self._tell_of_time = None

    def _tell_seats_soon(self) -> None:
        """Tell everybody who is here, once for all who come and go until then."""
        if self._telling is None and not self._closed:
            self._telling = self._services.start(self._tell_seats())

    async def _tell_seats(self) -> None:
        try:
            async with self.alone():  # not while a change waits for its commit
                self.audience.tell_seats()
        except Refused:
            pass  # they are told everything when the table can be read again
        except Exception:
            log.exception("those at table %s could not be told who is here", self.id)
        finally:
            self._telling = None

    async def rename(self, person: str, name: str, seat: int | None = None) -> None:
        """Show another name on a seat of a person, or on all of them; the database has it already."""
        if not self._named_otherwise(person, name, seat):
            return
        async with self.alone():
            for number in self._named_otherwise(person, name, seat):
                self.game.seats[number].name = name
            self.audience.tell_seats()

    def _named_otherwise(self, person: str, name: str, seat: int | None) -> list[int]:
        """The seats of a person with another name, or a seat if it is one of them."""
        yours = self.game.seats_of(person)
        return [one for one in yours if seat in (None, one) and self.game.seats[one].name != name]

    def seat_to_look_from(self, person: str | None) -> int | None:
        """A person with one seat looks from it; several people at one screen say who looks."""
        yours = self.game.seats_of(person)
        return yours[0] if len(yours) == 1 else None

    # ------------------------------------------------------------ what is done

    async def move(
        self,
        seat: int,
        wanted: Move | str | int,
        *,
        based_on: int | None = None,
        message: str = "",
        hold: bool = False,
        sender: Connection | None = None,
        by: str = "",
    ) -> int:
        """Make a move for a seat; the number of its entry. `wanted` may be the number of an offered move.

        Raises `Refused` or `IllegalMove`; then nothing has happened.
        """
        async with self.alone():
            if (made := self._acknowledged([seat], message, sender)) is not None:
                return made
            self.check_current(based_on)
            self._check_begun()
            act = self.game.move(seat, self._wanted(seat, wanted), hold=hold, message=message, by=by)
            return await self._keep(act, seat, sender, message)

    def _wanted(self, seat: int, wanted: Move | str | int) -> Move | str | int:
        """A move as `Game.move` takes it: what was picked by its place in the offer is a legal action."""
        if not isinstance(wanted, int):
            return wanted
        table = self.game.table
        if table is None or self.game.turn != seat:
            raise IllegalMove(f"move {wanted}", Reason.NOT_YOUR_TURN)
        if self.game.held is not None:
            raise IllegalMove(f"move {wanted}", Reason.DRAW_DUE)
        actions = table.variant.legal_actions(table.state)
        if not 0 <= wanted < len(actions):
            raise Refused(
                "no_such_offer", f"there are {len(actions)} moves, counted from 0; {wanted} is none"
            )
        return int(actions[wanted])

    async def draw(self, seat: int, based_on: int | None, message: str, sender: Connection | None) -> None:
        """Draw the tiles that a seat has let wait."""
        async with self.alone():
            if self._acknowledged([seat], message, sender) is not None:
                return
            self.check_current(based_on)
            if self.game.held != seat:
                raise Refused("not_allowed", "no tiles wait to be drawn by this seat")
            await self._keep(self.game.draw(message), seat, sender, message)

    async def take_back(
        self, seat: int, based_on: int | None, message: str, sender: Connection | None
    ) -> None:
        """Take back a seat's last placement."""
        async with self.alone():
            if self._acknowledged([seat], message, sender) is not None:
                return
            self.check_current(based_on)
            if not self.game.may_take_back(seat):
                raise Refused(
                    "not_allowed",
                    "a placement can be taken back only by its player and before a tile is drawn",
                )
            self._check_not_endless()
            act = TookBack(seat, message)
            self.game.carry_out(act)
            await self._keep(act, seat, sender, message)

    async def acknowledge(
        self, person: str | None, message: str, sender: Connection | None = None
    ) -> int | None:
        """The number of the entry that a message of any of somebody's seats has made; they are told."""
        async with self.alone():
            return self._acknowledged(self.game.seats_of(person), message, sender)

    async def sit(self, person: str, name: str, seat: int | None = None) -> None:
        """Take a free seat; the game starts when none is left."""
        async with self.alone():
            game = self.game
            expected = game.expected(person)
            if game.seats_of(person) and not expected:
                return  # perhaps the answer to the first request was lost
            if game.status != "open":
                raise Refused("seat_taken", "the game has started; its table can be watched")
            if person in game.removed:
                raise Refused("not_allowed", "you have been removed from this table")
            self._check_not_endless()
            if expected:
                await self._take(*(Sat(one, person, game.seats[one].name) for one in expected))
                return
            free = game.free_seats()
            if seat is None and free:
                seat = free[0]
            elif seat is None:
                raise Refused("seat_taken", "no seat is free")
            elif seat not in free:
                raise Refused("seat_taken", f"seat {seat} is not free")
            await self._take(Sat(seat, person, name))

    async def hire(self, seat: int, level: str, person: str) -> None:
        """Put a bot on a free seat, or let one take over for somebody who is away.

        A bot that takes over has the default level. At a table with a clock no seat is taken over: the clock
        moves for those who do not.
        """
        async with self.alone():
            if self.game.status == "open":
                self._check_may_seat_bot(seat, person)
                self._check_not_endless()
                await self._take(Hired(seat, level))
                return
            self._check_playing()
            await self._check_may_take_over(seat, person)
            await self._act(Replaced(seat, DEFAULT_LEVEL))

    def _check_may_seat_bot(self, seat: int, person: str) -> None:
        game = self.game
        if person != game.terms.owner:
            raise Refused("not_allowed", "only the one who opened the table can put bots on its seats")
        if seat not in game.missing():
            raise Refused("seat_taken", f"seat {seat} is not free")
        kept_since = max(game.terms.created, self._services.uptime.returned)
        if game.seats[seat].invited and now() - kept_since < 1000 * subscribers.ABSENT:
            raise Refused("seat_taken", f"seat {seat} is kept for somebody who has two minutes to come")

    async def _check_may_take_over(self, seat: int, person: str) -> None:
        game = self.game
        away = game.seats[seat].person if 0 <= seat < len(game.seats) else None
        if away is None or game.seats[seat].bot is not None:
            raise Refused("not_allowed", f"nobody has left seat {seat}")
        if not game.seats_of(person):
            raise Refused("not_allowed", "only those who play at this table can call a bot")
        if game.terms.move_time is not None:
            raise Refused("not_allowed", "at this table the clock moves for those who are away")
        if not self.audience.absent(away) or await self._seen_elsewhere(away):
            raise Refused("not_allowed", "a bot can be called for somebody who has been away for two minutes")

    async def _seen_elsewhere(self, person: str) -> bool:
        """Whether somebody was lately at another process."""
        last = await self._services.last_here(self.id, person)
        return last is not None and last > now() - 1000 * subscribers.ABSENT

    async def remove(self, seat: int, person: str) -> None:
        """Take somebody else, or a bot, off a seat before the start; only who opened the table may."""
        async with self.alone():
            game = self.game
            if person != game.terms.owner:
                raise Refused("not_allowed", "only the one who opened the table can remove who sits there")
            if game.status != "open":
                raise Refused("not_allowed", "nobody can be removed once the game has started")
            sits = game.seats[seat] if 0 <= seat < len(game.seats) else None
            if sits is None or sits.free or sits.person == person:
                raise Refused("not_allowed", f"nobody else sits on seat {seat}")
            await self._act(Rose(seat) if sits.person is None else Removed(seat))

    async def give_up(self, person: str) -> None:
        """Leave for good: a free seat before the start, a bot's afterwards."""
        async with self.alone():
            game = self.game
            seats = game.seats_of(person)
            if not seats and person != game.terms.owner:
                raise Refused("not_allowed", "you have no seat at this table")
            came = (seat for seat in game.seats if seat.person and not seat.bot and not seat.invited)
            others = {seat.person for seat in came} - {person}
            if game.status in ("open", "playing") and not others:
                await self._act(Closed())
            elif game.status == "open":
                await self._act(*(Rose(seat) for seat in seats))
            elif game.status == "playing":
                theirs = [seat for seat in seats if game.seats[seat].bot is None]
                await self._act(*(Replaced(seat, DEFAULT_LEVEL) for seat in theirs))

    async def come_back(self, person: str, seat: int) -> None:
        """Take a seat back from the bot that plays for its person."""
        async with self.alone():
            self._check_playing()
            if seat not in self.game.seats_of(person) or self.game.seats[seat].bot is None:
                raise Refused("not_allowed", "no bot plays for you on this seat")
            self._check_not_endless()
            await self._act(Returned(seat))

    async def go_on_at(self, table: str, instead_of: str | None = None) -> str:
        """Note the table of the rematch; the one that counts, if somebody was first.

        `instead_of` is the rematch that was known before and is no more.
        """
        async with self.alone():
            if self.game.next == instead_of:
                with suppress(Refused):  # another process may have been first
                    await self._act(Continued(table))
            if self.game.next is None or self.game.next == instead_of:
                raise Unavailable
            return self.game.next

    def check_current(self, based_on: int | None) -> None:
        """Refuse what was not made from the latest number. Raises `Refused`."""
        if based_on is not None and based_on != self.game.number:
            raise Refused(
                "stale", f"the table is at number {self.game.number}, the message was made at {based_on}"
            )

    def check_present(self, seat: int) -> None:
        """Refuse what somebody does who has left the seat to a bot. Raises `Refused`."""
        if self.game.seats[seat].bot is not None:
            raise Refused("not_allowed", "a bot plays for you: take your seat back first")

    def _check_not_endless(self) -> None:
        """Refuse what can be undone and done again once the log is long: it is read whenever the table is."""
        if self.game.number >= MOST_ENTRIES:
            raise Refused(
                "not_allowed",
                f"too much has been done and undone at this table ({MOST_ENTRIES} entries); open another one",
            )

    def _check_begun(self) -> None:
        if self.game.status == "open":
            raise Refused("not_started", "the game starts when every seat is taken")
        if self.game.status != "playing":
            raise Refused("game_over", Reason.GAME_OVER.text)

    def _check_playing(self) -> None:
        if self.game.status != "playing":
            raise Refused("not_allowed", "the game has not started, or it is over")

    # ------------------------------------------------------------ what the server does by itself

    def wake(self) -> None:
        """See to it that bots, clocks and draws that wait go on."""
        if self._closed or self.unreadable:
            return
        if self._doubtful:
            self._try_again()
            return
        if self._timer is not None or self._reminder is not None:
            self._stop_timers()
        when = due(self.game, self._services.uptime)
        if when is None:
            return
        if self.game.bot_to_move is not None:
            self._do(self._let_bots_move)
            return
        delay = max(0.0, (when - now()) / 1000)
        loop = asyncio.get_running_loop()
        if delay > FAR:
            self._reminder = loop.call_later(FAR, _wake, weakref.ref(self))
        else:
            self._timer = loop.call_later(delay, self._time_is_up, self.game.number)

    def _stop_timers(self) -> None:
        for timer in (self._timer, self._reminder):
            if timer is not None:
                timer.cancel()
        self._timer = self._reminder = None

    def _do(self, work: Callable[[], Awaitable[None]]) -> None:
        """Let the server do something here. If it does something already, it looks again afterwards."""
        if self._thinking is None and not self._closed:
            self._failure = None
            self._thinking = self._services.start(self._attempt(work))
            self._thinking.add_done_callback(self._have_done)

    async def _attempt(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except Exception as error:
            self._failure = error

    def _have_done(self, task: asyncio.Task[None]) -> None:
        """What the server did by itself has ended: look what comes next."""
        self._thinking = None
        if task.cancelled() or self._closed:
            return
        error, self._failure = self._failure, None
        if error is None or isinstance(error, Unreadable):
            self.wake()
            return
        if not isinstance(error, Unavailable):  # which has been logged already
            log.error("what the server had to do at table %s failed", self.id, exc_info=error)
        self._try_again()

    async def _let_bots_move(self) -> None:
        while (level := self.game.bot_to_move) is not None:
            await self._move_by(level, "")

    async def _move_by(self, level: str, by: str) -> None:
        game, number, seat = self.game, self.game.number, self.game.turn
        if game.table is None or seat is None:
            return
        choice = await self._services.bots.choose(level, game.table.view(seat), game.terms.owner)
        try:
            await self.move(seat, choice.move, based_on=number, by=by)
        except Refused as error:
            if error.code != "stale":
                raise

    def _time_is_up(self, number: int) -> None:
        self._timer = None
        uptime = self._services.uptime
        if uptime.asleep(now()) or (uptime.lost and self.game.held is None):
            self._try_again()
        else:
            self._do(partial(self._act_for_the_seat, number))

    async def _act_for_the_seat(self, number: int) -> None:
        when = due(self.game, self._services.uptime)
        if self.game.number != number or when is None or when > now():
            return
        if self.game.held is None:
            try:
                await self._move_by(DEFAULT_LEVEL, "clock")
            except Unavailable:
                self._services.uptime.lost = True  # without the database nobody could move
                raise
            return
        async with self.alone():
            if self.game.number == number and self.game.held is not None:
                await self._keep(self.game.draw())

    def _try_again(self) -> None:
        """What has just failed, as it will while the database is away, is tried again after a while."""
        self._stop_timers()
        if not self._closed:
            self._timer = asyncio.get_running_loop().call_later(RETRY, self._go_on)

    def _go_on(self) -> None:
        self._timer = None
        self._do(self._find_out)

    async def _find_out(self) -> None:
        with suppress(Refused):
            async with self.alone():
                pass  # by now it is known again what is kept

    def close(self) -> None:
        """Stop everything that goes on by itself, for good."""
        self._closed = True
        self._stop_timers()
        for task in (self._thinking, self._telling, self._tell_of_time):
            if task is not None:
                task.cancel()


def _wake(reference: weakref.ref[Room]) -> None:
    """Wake a room that is still in memory."""
    room = reference()
    if room is not None:
        room.wake()
