"""A table in use: its game, the clients at it, and what the server itself has to do there."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

from ...errors import IllegalMove
from ...moves import Move
from ...reasons import Reason
from .acts import Closed, Continued, Hired, Replaced, Returned, Rose, Sat, TookBack
from .bots import DEFAULT_LEVEL
from .connection import Connection
from .entries import due, now
from .game import Game
from .kept_table import KeptTable, Services
from .refusals import Refused, Unavailable

RETRY = 5.0  # seconds until what failed is tried again

log = logging.getLogger(__name__)


class Room(KeptTable):
    """What people and bots can do at a table, and what happens there when nobody does anything."""

    def __init__(self, game: Game, services: Services) -> None:
        super().__init__(game, services)
        self._timer: asyncio.TimerHandle | None = None
        self._thinking: asyncio.Task[None] | None = None
        self._telling: asyncio.Task[None] | None = None

    @property
    def idle(self) -> bool:
        """Whether nobody needs this room in memory."""
        busy = self.lock.locked() or self._thinking is not None or self._timer is not None
        return not self.audience.connections and not busy

    # ------------------------------------------------------------ who is here

    def enter(self, client: Connection) -> None:
        """A client is here."""
        self.audience.enter(client)

    def leave(self, client: Connection) -> None:
        """A client is gone."""
        if self.audience.leave(client):
            self._telling = asyncio.create_task(self._tell_seats())

    def learn_who_is_elsewhere(self, people: set[str]) -> None:
        """Other processes, too, have clients."""
        if self.audience.learn_who_is_elsewhere(people):
            self._telling = asyncio.create_task(self._tell_seats())

    async def _tell_seats(self) -> None:
        async with self.alone():  # not while a change waits for its commit
            self.audience.tell_seats()

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

    def _wanted(self, seat: int, wanted: Move | str | int) -> Move | str:
        if not isinstance(wanted, int):
            return wanted
        table = self.game.table
        if table is None or self.game.turn != seat:
            raise IllegalMove(f"move {wanted}", Reason.NOT_YOUR_TURN)
        if self.game.held is not None:
            raise IllegalMove(f"move {wanted}", Reason.DRAW_DUE)
        offered = table.legal_moves()
        if not 0 <= wanted < len(offered):
            raise Refused(
                "no_such_offer", f"there are {len(offered)} moves, counted from 0; {wanted} is none"
            )
        return offered[wanted]

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
            if game.seats_of(person):
                return  # perhaps the answer to the first request was lost
            if game.status != "open":
                raise Refused("seat_taken", "the game has started; its table can be watched")
            free = game.free_seats()
            if seat is None:
                seat = free[0]
            elif seat not in free:
                raise Refused("seat_taken", f"seat {seat} is not free")
            await self._take(Sat(seat, person, name))

    async def hire(self, seat: int, level: str, person: str) -> None:
        """Put a bot on a free seat, or let it take over for somebody who has been away for long."""
        async with self.alone():
            game = self.game
            if game.status == "open":
                if person != game.terms.owner:
                    raise Refused(
                        "not_allowed", "only the one who opened the table can put bots on its seats"
                    )
                if seat not in game.free_seats():
                    raise Refused("seat_taken", f"seat {seat} is not free")
                await self._take(Hired(seat, level))
                return
            self._check_playing()
            away = game.seats[seat].person if 0 <= seat < len(game.seats) else None
            if away is None or game.seats[seat].bot is not None:
                raise Refused("not_allowed", f"nobody has left seat {seat}")
            if not game.seats_of(person):
                raise Refused("not_allowed", "only those who play at this table can call a bot")
            if not self.audience.absent(away):
                raise Refused(
                    "not_allowed", "a bot can be called for somebody who has been away for two minutes"
                )
            await self._act(Replaced(seat, level))

    async def give_up(self, person: str) -> None:
        """Leave for good: a free seat before the start, a bot's afterwards."""
        async with self.alone():
            game = self.game
            seats = game.seats_of(person)
            if not seats and person != game.terms.owner:
                raise Refused("not_allowed", "you have no seat at this table")
            others = {seat.person for seat in game.seats if seat.person and not seat.bot} - {person}
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
            await self._act(Returned(seat))

    async def go_on_at(self, table: str) -> str:
        """Note the table of the rematch; the one that counts, if somebody was first."""
        async with self.alone():
            if self.game.next is None:
                with suppress(Refused):  # another process may have been first
                    await self._act(Continued(table))
            if self.game.next is None:
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
        if self._doubtful:
            self._try_again()
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        when = due(self.game)
        if when is None:
            return
        if self.game.bot_to_move is not None:
            if self._thinking is None:
                self._thinking = asyncio.create_task(self._let_bots_move())
            return
        delay = max(0.0, (when - now()) / 1000)
        self._timer = asyncio.get_running_loop().call_later(delay, self._time_is_up, self.game.number)

    async def _let_bots_move(self) -> None:
        try:
            while (level := self.game.bot_to_move) is not None:
                await self._move_by(level, "")
        except Exception:
            log.exception("a bot could not move at table %s", self.id)
            self._try_again()
        finally:
            self._thinking = None

    async def _move_by(self, level: str, by: str) -> None:
        game, number, seat = self.game, self.game.number, self.game.turn
        if game.table is None or seat is None:
            return
        choice = await self._services.bots.choose(level, game.table.view(seat))
        try:
            await self.move(seat, choice.move, based_on=number, by=by)
        except Refused as error:
            if error.code != "stale":
                raise

    def _time_is_up(self, number: int) -> None:
        self._timer = None
        if self.game.number == number and self._thinking is None:
            self._thinking = asyncio.create_task(self._act_for_the_seat(number))

    async def _act_for_the_seat(self, number: int) -> None:
        try:
            if self.game.held is not None:
                async with self.alone():
                    if self.game.number == number:
                        await self._keep(self.game.draw())
            else:
                await self._move_by(DEFAULT_LEVEL, "clock")
        except Exception:
            log.exception("the clock could not move at table %s", self.id)
            self._try_again()
        else:
            self._thinking = None
            self.wake()
        finally:
            self._thinking = None

    def _try_again(self) -> None:
        """What has just failed, as it will while the database is away, is tried again after a while."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(RETRY, self._go_on)

    def _go_on(self) -> None:
        self._timer = None
        if self._thinking is None:
            self._thinking = asyncio.create_task(self._find_out_and_go_on())

    async def _find_out_and_go_on(self) -> None:
        try:
            async with self.alone():
                pass  # by now it is known again what is kept
        except Refused:
            self._try_again()
        else:
            self._thinking = None
            self.wake()
        finally:
            self._thinking = None

    def close(self) -> None:
        """Stop what goes on by itself."""
        if self._timer is not None:
            self._timer.cancel()
        if self._thinking is not None:
            self._thinking.cancel()
