"""A game at a table as its log tells it: who sits where, what was played. No database, no network."""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

import msgspec

from ...errors import IllegalMove, Reason
from ...games import find_variant
from ...games.runtime.state import OFFER
from ...games.variant import Variant
from ...model.table import Table
from ...model.view import last_placed
from ...moves import Move
from ...rng import commitment
from ..presentation.messages import Status
from ..storage.journal import Entry
from .clock import Uptime
from .entries import (
    Act,
    Closed,
    Continued,
    Drew,
    Hired,
    Invited,
    Moved,
    Removed,
    Replaced,
    Returned,
    Rose,
    Sat,
    Started,
    TookBack,
    write_act,
)

REMEMBERED = 64  # ids of messages that a table knows again


@dataclass(slots=True)
class Seat:
    """A seat: free, kept for a person, a person's, a bot's, or a person's for whom a bot plays."""

    person: str | None = None
    name: str = ""
    bot: str | None = None
    invited: bool = False  # whether its person has yet to come

    @property
    def free(self) -> bool:
        return self.person is None and self.bot is None

    def row(self, number: int) -> dict[str, object]:
        """The seat as the database repeats it."""
        return {"seat": number, "person": self.person, "name": self.name, "bot": self.bot}


@dataclass(frozen=True, slots=True)
class Terms:
    """What is fixed when a table is opened."""

    id: str
    game: str
    players: int
    options: dict[str, bool]
    public: bool
    move_time: int | None
    daily: str | None
    owner: str
    invite: str
    seed: str
    created: int

    def row(self) -> dict[str, object]:
        """The terms as the database has them."""
        return {**asdict(self), "options": msgspec.json.encode(self.options).decode()}

    @property
    def variant(self) -> Variant:
        return find_variant(self.game, self.players, self.options)

    @property
    def commitment(self) -> str:
        """What is shown of the seed while the game is played."""
        return commitment(self.seed)


def next_id(terms: Terms, instead_of: str | None = None) -> str:
    """Return the id of the rematch of a table: one for all who ask, and nobody else can guess it.

    `instead_of` is the rematch that was to be played before and is no more.
    """
    digest = hashlib.sha256(f"next:{instead_of or terms.id}:{terms.invite}".encode()).digest()
    return base64.urlsafe_b64encode(digest)[:16].decode()


@dataclass(slots=True)
class Game:
    """The state that a table's entries lead to."""

    terms: Terms
    seats: list[Seat]
    number: int = 0
    status: Status = "open"
    table: Table | None = None
    held: int | None = None  # the seat whose draw waits
    next: str | None = None
    since: int = 0  # when the last entry was made
    last: Act | None = None
    acted: dict[int, int] = field(default_factory=dict)  # when a seat's person has done something last
    removed: set[str] = field(default_factory=set)  # people who may not sit down again
    events_before: int = 0  # how many events there were before the last entry
    _actor: int | None = None  # the seat whose person has made the last entry
    _ids: dict[tuple[int, str], int] = field(default_factory=dict)

    @classmethod
    def opened(cls, terms: Terms) -> Game:
        """A table at which nobody sits yet."""
        return cls(terms, [Seat() for _ in range(terms.players)])

    # ------------------------------------------------------------ what is asked

    @property
    def turn(self) -> int | None:
        """The seat that has to move; the one whose draw waits counts, too."""
        if self.status != "playing" or self.table is None:
            return None
        return self.held if self.held is not None else self.table.turn

    @property
    def bot_to_move(self) -> str | None:
        """The level of the bot that has to move, if one has."""
        turn = self.turn
        return None if turn is None or self.held is not None else self.seats[turn].bot

    def seats_of(self, person: str | None) -> list[int]:
        """The seats of a person."""
        if person is None:
            return []
        return [number for number, seat in enumerate(self.seats) if seat.person == person]

    def free_seats(self) -> list[int]:
        """The seats that nobody has taken."""
        return [number for number, seat in enumerate(self.seats) if seat.free]

    def missing(self) -> list[int]:
        """The seats without which the game does not start: free ones, and those of people yet to come."""
        return [number for number, seat in enumerate(self.seats) if seat.free or seat.invited]

    def expected(self, person: str | None) -> list[int]:
        """The seats that are kept for a person who has not come."""
        return [number for number in self.seats_of(person) if self.seats[number].invited]

    @property
    def last_placed(self) -> tuple[str, ...]:
        """The cells of the last placement."""
        return last_placed(self.table.events) if self.table is not None else ()

    def may_take_back(self, seat: int | None) -> bool:
        """Whether a seat's last placement can be taken back: nothing has been drawn since."""
        last = self.last
        return (
            seat is not None
            and self.status == "playing"
            and isinstance(last, Moved)
            and last.seat == seat == self.turn
            and not last.drawn
            and not last.by
            and self.table is not None
        )

    def entry_of(self, message: str, seats: Iterable[int]) -> int | None:
        """The number of the entry that a message of one of these seats has made, if it has made one."""
        return next((n for seat in seats if (n := self._ids.get((seat, message))) is not None), None)

    # ------------------------------------------------------------ what happens

    def move(
        self, seat: int, move: Move | str | int, *, hold: bool = False, message: str = "", by: str = ""
    ) -> Moved:
        """Make a move and deal; the act to be kept. Raises `IllegalMove` or `ParseError`.

        A move that is a number is one of the legal actions of the seat to move, which is not checked again.
        """
        table = self._playing(move)
        before = len(table.events)
        if isinstance(move, int):
            text = str(table.variant.decode(table.state, move))
            table.play_unchecked(move, deal=False)
        else:
            text = move if isinstance(move, str) else str(move)
            table.play(move, seat, deal=False)
        held = hold and table.draw_due > 0
        drawn = () if held else tuple(table.deal())
        act = Moved(seat, text, drawn, message, by, held)
        self._note(act, before)
        return act

    def draw(self, message: str = "") -> Drew:
        """Draw what waits; the act to be kept."""
        table = self._playing("draw")
        before = len(table.events)
        act = Drew(tuple(table.deal()), message)
        self._note(act, before)
        return act

    def start(self) -> Started:
        """Deal; the act to be kept."""
        self._set_up()
        assert self.table is not None
        act = Started(tuple(self.table.deal()))
        self._note(act)
        return act

    def happened(self, at: int) -> None:
        """Note when the last entry was made."""
        self.since = at
        if self._actor is not None:
            self.acted[self._actor] = at

    def carry_out(self, act: Act) -> None:
        """Let an act of the log happen."""
        before = len(self.table.events) if self.table else 0
        match act:
            case Sat(seat, person, name):
                self.seats[seat] = Seat(person, name)
            case Invited(seat, person, name):
                self.seats[seat] = Seat(person, name, invited=True)
            case Rose(seat):
                self.seats[seat] = Seat()
            case Removed(seat):
                if (who := self.seats[seat].person) is not None:
                    self.removed.add(who)
                self.seats[seat] = Seat()
            case Hired(seat, level):
                self.seats[seat] = Seat(None, level, level)
            case Started(drawn):
                self._set_up()
                self._draw_all(drawn)
            case Moved(seat, move, drawn):
                self._playing(move).play(move, seat, deal=False)
                self._draw_all(drawn)
            case Drew(drawn):
                self._draw_all(drawn)
            case TookBack():
                self._playing("back").undo()
            case Replaced(seat, level):
                self.seats[seat].bot = level
            case Returned(seat):
                self.seats[seat].bot = None
            case Closed():
                self.status = "closed"
            case Continued(table):
                self.next = table
        self._note(act, before)

    def _set_up(self) -> None:
        self.table = Table(self.terms.variant)
        self.table.seed = self.terms.seed
        self.status = "playing"

    def _draw_all(self, drawn: tuple[str, ...]) -> None:
        assert self.table is not None
        for tile in drawn:
            self.table.draw(tile)

    def _playing(self, move: object) -> Table:
        if self.table is None or self.status != "playing":
            raise IllegalMove(move, Reason.GAME_OVER)
        return self.table

    def _note(self, act: Act, before: int = 0) -> None:
        """What follows from any act; `before` is how many events there were."""
        self.number += 1
        self.events_before = before
        self._actor = self._by_a_person(act)
        if isinstance(act, Moved):
            self.held = act.seat if act.held else None
            self._remember(act.seat, act.id)
        elif isinstance(act, Drew | TookBack):
            if (seat := self.turn if isinstance(act, Drew) else act.seat) is not None:
                self._remember(seat, act.id)
            self.held = None
        elif isinstance(act, Closed):
            self.held = None
        if not isinstance(act, Continued):
            self.last = act
        if self.status == "playing" and self.table is not None and self.table.over:
            self.status = "over"

    def _by_a_person(self, act: Act) -> int | None:
        """The seat whose person has done this themselves."""
        if isinstance(act, Moved):
            return act.seat if not act.by and self.seats[act.seat].bot is None else None
        if isinstance(act, Sat | Returned | TookBack):
            return act.seat
        return self.held if isinstance(act, Drew) and act.id else None

    def _remember(self, seat: int, message: str) -> None:
        if not message:
            return
        self._ids[seat, message] = self.number
        if len(self._ids) > REMEMBERED:
            del self._ids[next(iter(self._ids))]

    @property
    def offered(self) -> bool:
        """Whether the seat to move is asked if it wants to exchange its hand."""
        return self.table is not None and bool(self.table.state["phase"][0] == OFFER)


HOLD = 15.0  # seconds that a draw waits

SEATING = Sat | Invited | Rose | Removed | Hired | Replaced | Returned  # acts that change who has a seat


def now() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def day_of(at: int) -> str:
    """The day that a moment belongs to, everywhere on earth."""
    return datetime.fromtimestamp(at / 1000, UTC).date().isoformat()


def deadline(game: Game, uptime: Uptime | None = None) -> int | None:
    """When the clock moves for the seat whose turn it is; what `uptime` knows of is not charged to it."""
    if game.terms.move_time is None or game.turn is None or game.bot_to_move is not None:
        return None
    return _end(game.since, 1000 * game.terms.move_time, uptime)


def due(game: Game, uptime: Uptime | None = None) -> int | None:
    """When the server has to act by itself. People are not charged for what `uptime` knows of."""
    if game.bot_to_move is not None:
        return game.since
    if game.held is not None:
        return _end(game.since, int(1000 * HOLD), uptime)
    return deadline(game, uptime)


def _end(since: int, length: int, uptime: Uptime | None) -> int:
    return since + length if uptime is None else max(uptime.end(since, length), uptime.earliest)


def entry_of(game: Game, act: Act) -> Entry:
    """The entry for an act that has just been carried out."""
    game.happened(now())
    changed = act.seat if isinstance(act, SEATING) else None
    return Entry(
        table_id=game.terms.id,
        number=game.number,
        at=game.since,
        body=write_act(act),
        summary=_summary(game),
        seats=() if changed is None else (game.seats[changed].row(changed),),
        result=_daily_result(game),
    )


def table_row(game: Game) -> dict[str, Any]:
    """The table as the database has it."""
    return {**game.terms.row(), **_summary(game)}


def _summary(game: Game) -> dict[str, Any]:
    return {
        "updated": game.since,
        "number": game.number,
        "moves": game.table.plies if game.table else 0,
        "status": game.status,
        "turn": game.turn,
        "due": due(game),
    }


def _daily_result(game: Game) -> dict[str, Any] | None:
    """The line of a leaderboard. Who ends after the day could have looked at what others drew."""
    if game.terms.daily is None or game.status != "over" or game.table is None:
        return None
    if day_of(game.since) != game.terms.daily:
        return None
    points = sorted(game.table.scores[0].values())
    return {
        "day": game.terms.daily,
        "game": game.terms.game,
        "person": game.seats[0].person,
        "table_id": game.terms.id,
        "name": game.seats[0].name,
        "scores": msgspec.json.encode(points).decode(),
        "rank": " ".join(f"{9999 - n:04d}" for n in points),
        "finished": game.since,
    }
