"""A table in use: its game, the clients at it, and what the server itself has to do there."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import msgspec

from ...errors import AxioError, BadText, IllegalMove
from ...moves import Move
from ...reasons import Reason
from ..storage.journal import Conflict, Entry, Journal
from .acts import (
    Act,
    Closed,
    Continued,
    Drew,
    Hired,
    Moved,
    Replaced,
    Returned,
    Rose,
    Sat,
    TookBack,
    write_act,
)
from .bots import DEFAULT_LEVEL, Bots
from .connection import Connection, encode
from .game import Game
from .messages import RefusedMessage, SeatsMessage
from .telling import Step, Viewer, seat_infos, whole_view

HOLD = 15.0  # seconds that a draw waits
ABSENT = 120.0  # seconds after which others may call a bot for somebody

log = logging.getLogger(__name__)


class Refused(AxioError):
    """Something that may not be done at this table; `code` is for programs."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


def code_of(error: AxioError) -> str:
    """The code for programs of something that was refused at a table."""
    if isinstance(error, Refused):
        return error.code
    if isinstance(error, IllegalMove):
        codes = {Reason.NOT_YOUR_TURN: "not_your_turn", Reason.GAME_OVER: "game_over"}
        return codes.get(error.reason, "illegal_move")
    return "bad_message" if isinstance(error, BadText) else "not_allowed"


class Unavailable(Refused):
    """The database does not answer; what has become of a change is found out before anybody is told more."""

    def __init__(self) -> None:
        super().__init__("unavailable", "the server cannot reach its database; try again in a moment")


@dataclass(frozen=True, slots=True)
class Services:
    """What every room uses."""

    journal: Journal
    bots: Bots
    load: Callable[[str], Any]  # reads a table's game from the database


def now() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


class Room:
    """All changes go through here, one at a time: carried out, committed, then told."""

    def __init__(self, game: Game, services: Services) -> None:
        self.game = game
        self.connections: set[Connection] = set()
        self.lock = asyncio.Lock()
        self._services = services
        self._timer: asyncio.TimerHandle | None = None
        self._thinking: asyncio.Task[None] | None = None
        self._telling: asyncio.Task[None] | None = None
        self._elsewhere: set[str] = set()
        self._doubtful = False  # whether what is in memory may differ from what is kept
        self._told = 0  # the number that everybody knows of, while that is so
        self._left: dict[str, float] = {}
        self._loaded = time.monotonic()

    @property
    def id(self) -> str:
        return self.game.terms.id

    @property
    def idle(self) -> bool:
        """Whether nobody needs this room in memory."""
        return (
            not self.connections and not self.lock.locked() and self._thinking is None and self._timer is None
        )

    # ------------------------------------------------------------ who is here

    @property
    def here_locally(self) -> set[str]:
        """The people who are connected to this process."""
        return {client.person for client in self.connections if client.person is not None}

    @property
    def here(self) -> set[str]:
        """The people who are connected."""
        return self.here_locally | self._elsewhere

    def learn_who_is_elsewhere(self, people: set[str]) -> None:
        """Other processes, too, have clients."""
        before = self.here
        self._elsewhere = people - self.here_locally
        self._left |= dict.fromkeys(before - self.here, time.monotonic())
        if before != self.here:
            self._telling = asyncio.create_task(self._tell_seats_in_turn())

    def enter(self, client: Connection) -> None:
        """A client is here."""
        came = client.person not in self.here
        self.connections.add(client)
        if came and self.game.seats_of(client.person):
            self._tell_seats(but=client)

    def leave(self, client: Connection) -> None:
        """A client is gone."""
        self.connections.discard(client)
        if client.person is not None and client.person not in self.here:
            self._left[client.person] = time.monotonic()
            if self.game.seats_of(client.person) and self.connections:
                self._telling = asyncio.create_task(self._tell_seats_in_turn())

    def absent(self, person: str) -> bool:
        """Whether somebody has been away long enough for a bot to be called."""
        if person in self.here:
            return False
        return time.monotonic() - self._left.get(person, self._loaded) >= ABSENT

    def seat_to_look_from(self, person: str | None) -> int | None:
        """A person with one seat looks from it; several people at one screen say who looks."""
        yours = self.game.seats_of(person)
        return yours[0] if len(yours) == 1 else None

    # ------------------------------------------------------------ what is asked

    @property
    def deadline(self) -> int | None:
        """When the clock moves for the seat whose turn it is."""
        game = self.game
        if game.terms.move_time is None or game.turn is None or game.bot_to_move is not None:
            return None
        return game.since + 1000 * game.terms.move_time

    def view(self, viewer: Viewer, ack: str | None = None) -> Any:
        """The whole view for somebody."""
        return whole_view(self.game, viewer, self.here, self.deadline, ack)

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

    def _acknowledged(self, seats: Iterable[int], message: str, sender: Connection | None) -> int | None:
        """The number of the entry that a message has made already; its sender is told."""
        made = self.game.entry_of(message, seats)
        if made is not None and sender is not None:
            sender.tell(encode(self.view(sender.viewer, message)))
        return made

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
            if not self.absent(away):
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
                await self._act(Continued(table))
            assert self.game.next is not None
            return self.game.next

    def check_current(self, based_on: int | None) -> None:
        """Refuse what was not made from the latest number. Raises `Refused`."""
        if based_on is not None and based_on != self.game.number:
            raise Refused(
                "stale", f"the table is at number {self.game.number}, the message was made at {based_on}"
            )

    def _check_begun(self) -> None:
        if self.game.status == "open":
            raise Refused("not_started", "the game starts when every seat is taken")
        if self.game.status != "playing":
            raise Refused("game_over", Reason.GAME_OVER.text)

    def _check_playing(self) -> None:
        if self.game.status != "playing":
            raise Refused("not_allowed", "the game has not started, or it is over")

    # ------------------------------------------------------------ carried out, committed, told

    async def _act(self, *acts: Act) -> None:
        """Let things happen, all of them or none."""
        made: list[Entry] = []
        for number, act in enumerate(acts, 1):
            self.game.carry_out(act)
            if number < len(acts):
                made.append(self._entry(act))
            else:
                await self._keep(act, together_with=made)

    async def _take(self, act: Sat | Hired) -> None:
        """Let somebody sit down. If that was the last free seat the game starts, in the same commit."""
        self.game.carry_out(act)
        if self.game.free_seats():
            await self._keep(act)
        else:
            sat = self._entry(act)
            await self._keep(self.game.start(), together_with=[sat])

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
        kept = self._services.journal.append(*together_with, self._entry(act))
        number, before = self.game.number, self.game.number - len(together_with) - 1
        try:
            await asyncio.shield(kept)
        except asyncio.CancelledError:
            # Whoever asked is gone; what was begun is brought to its end all the same.
            await asyncio.wait([kept])
            if kept.exception() is not None:
                await self._recover(before)
            else:
                self.tell(act)
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
            log.error("table %s could not be kept", self.id, exc_info=error)
            raise Unavailable from None
        self.tell(act, sender, message)
        self.wake()
        return number

    def _entry(self, act: Act) -> Entry:
        game = self.game
        game.since = now()
        seat = getattr(act, "seat", None)
        changed = isinstance(act, Sat | Rose | Hired | Replaced | Returned) and seat is not None
        return Entry(
            table_id=self.id,
            number=game.number,
            at=game.since,
            body=write_act(act),
            summary=self._summary(),
            seats=(game.seats[seat].row(seat),) if changed and seat is not None else (),
            result=self._daily_result(),
        )

    def _summary(self) -> dict[str, Any]:
        game = self.game
        return {
            "updated": game.since,
            "number": game.number,
            "moves": game.table.plies if game.table else 0,
            "status": game.status,
            "turn": game.turn,
            "due": self._due(),
        }

    def row(self) -> dict[str, Any]:
        """The table as the database has it."""
        return {**self.game.terms.row(), **self._summary()}

    def _due(self) -> int | None:
        """When the server has to act by itself."""
        if self.game.bot_to_move is not None:
            return self.game.since
        if self.game.held is not None:
            return self.game.since + int(1000 * HOLD)
        return self.deadline

    def _daily_result(self) -> dict[str, Any] | None:
        game = self.game
        if game.terms.daily is None or game.status != "over" or game.table is None:
            return None
        points = sorted(game.table.scores[0].values())
        return {
            "day": game.terms.daily,
            "game": game.terms.game,
            "person": game.seats[0].person,
            "table_id": self.id,
            "name": game.seats[0].name,
            "scores": msgspec.json.encode(points).decode(),
            "rank": " ".join(f"{9999 - n:04d}" for n in points),
            "finished": game.since,
        }

    async def _recover(self, before: int) -> None:
        """What is in memory is not what is kept: read that again, now or before anybody asks."""
        self._doubtful, self._told = True, before
        try:
            await self._read_again()
        except Exception:
            log.exception("table %s could not be read again", self.id)

    async def _read_again(self) -> None:
        self.game = await self._services.load(self.id)
        self._doubtful = False
        if self.game.number != self._told:
            for client in self.connections:
                client.seat = self._still_looking(client)
            self._tell_views()
        self.wake()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Nobody changes the table meanwhile, and what is in memory is what is kept. Raises `Refused`."""
        async with self.lock:
            if self._doubtful:
                try:
                    await self._read_again()
                except Exception:
                    log.exception("table %s could not be read again", self.id)
                    raise Unavailable from None
            yield

    async def catch_up(self, entries: Collection[tuple[int, int, Act]]) -> None:
        """Carry out entries that another process has written."""
        async with self.alone():
            for number, at, act in entries:
                if number != self.game.number + 1:
                    continue
                self.game.carry_out(act)
                self.game.since = at
                self.tell(act)
            self.wake()

    def tell(self, act: Act, sender: Connection | None = None, message: str = "") -> None:
        """Tell everybody what an act has changed, each as they may know it."""
        if isinstance(act, Moved | Drew):
            self._tell_step(sender, message)
        else:
            for client in self.connections:
                client.seat = self._still_looking(client)
            self._tell_views(sender, message)

    def _still_looking(self, client: Connection) -> int | None:
        yours = self.game.seats_of(client.person)
        if len(yours) == 1:
            return yours[0]
        return client.seat if client.seat in yours and client.seat == self.game.turn else None

    def _tell_step(self, sender: Connection | None, message: str) -> None:
        step, made = Step(self.game, self.deadline), dict[int | None, str]()
        for client in self.connections:
            seat = self._still_looking(client)
            if seat != client.seat:
                # At a shared screen the turn has passed on: what follows is nobody's.
                client.seat = seat
                client.tell(encode(self.view(client.viewer, message if client is sender else None)))
            elif client is sender and message:
                client.tell(encode(step.seen_from(seat, message)))
            else:
                if seat not in made:
                    made[seat] = encode(step.seen_from(seat))
                client.tell(made[seat])

    def _tell_views(self, sender: Connection | None = None, message: str = "") -> None:
        for client in self.connections:
            client.tell(encode(self.view(client.viewer, message if client is sender else None)))

    def _tell_seats(self, but: Connection | None = None) -> None:
        text = encode(SeatsMessage(seat_infos(self.game, self.here)))
        for client in self.connections:
            if client is not but:
                client.tell(text)

    async def _tell_seats_in_turn(self) -> None:
        async with self.alone():  # not while a change waits for its commit
            self._tell_seats()

    def refuse(self, client: Connection, error: AxioError, message: str | None) -> None:
        """Tell a client why its message was not carried out."""
        code = code_of(error)
        view = self.view(client.viewer) if code == "stale" else None
        client.tell(encode(RefusedMessage(message, code, str(error), view)))

    # ------------------------------------------------------------ what the server does by itself

    def wake(self) -> None:
        """See to it that bots, clocks and draws that wait go on."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        due = self._due()
        if due is None:
            return
        if self.game.bot_to_move is not None:
            if self._thinking is None:
                self._thinking = asyncio.create_task(self._let_bots_move())
            return
        delay = max(0.0, (due - now()) / 1000)
        self._timer = asyncio.get_running_loop().call_later(delay, self._time_is_up, self.game.number)

    async def _let_bots_move(self) -> None:
        try:
            while (level := self.game.bot_to_move) is not None:
                await self._move_by(level, "")
        except Exception:
            log.exception("a bot could not move at table %s", self.id)
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
        finally:
            self._thinking = None
            self.wake()

    def close(self) -> None:
        """Stop what goes on by itself."""
        if self._timer is not None:
            self._timer.cancel()
        if self._thinking is not None:
            self._thinking.cancel()
