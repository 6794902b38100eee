"""State of a table, computed from its log: seats, status and game in play. No I/O happens here."""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from ...errors import IllegalMove, Reason
from ...games import find_variant
from ...games.runtime.state import OFFER
from ...games.variant import Variant
from ...model.table import Table
from ...model.view import last_placed
from ...rng import commitment
from ..presentation.messages import Status
from ..storage.journal import JournalEntry
from .clock import Uptime
from .entries import (
    BotSeated,
    BotSubstituted,
    GameStarted,
    MovePlayed,
    MoveTakenBack,
    PlayerRemoved,
    PlayerReturned,
    RematchLinked,
    SeatEntry,
    SeatReserved,
    SeatTaken,
    SeatVacated,
    TableClosed,
    TableEntry,
    TilesDrawn,
    encode_entry,
)

HOLD_SECONDS = 15.0  # after which the server draws a held draw
REMEMBERED_MESSAGES = 64  # ids per table; a message with a remembered id is a repetition

Drawing = TypeVar("Drawing", GameStarted, MovePlayed, TilesDrawn)


def now() -> int:
    """Return the current time in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def day_of(at: int) -> str:
    """Return the UTC date of a time in milliseconds, as YYYY-MM-DD."""
    return datetime.fromtimestamp(at / 1000, UTC).date().isoformat()


@dataclass(slots=True)
class SeatState:
    """Occupant of a seat: nobody, a person, a bot, or a person and the bot that plays for them."""

    person: str | None = None
    name: str = ""
    bot: str | None = None
    invited: bool = False  # whether the seat is reserved for `person`, who has not joined yet

    @property
    def free(self) -> bool:
        return self.person is None and self.bot is None

    def row(self, number: int) -> dict[str, object]:
        """Return the columns of this seat in the database."""
        return {"seat": number, "person": self.person, "name": self.name, "bot": self.bot}


@dataclass(frozen=True, slots=True)
class TableConfig:
    """Settings of a table, fixed when it is opened.

    Attributes:
        public: Whether the lobby lists the table.
        move_time: Seconds per move, `None` without a clock.
        daily: Day of a daily deal as YYYY-MM-DD, `None` for other tables.
        owner: Id of the person who has opened the table.
        invite: Secret part of the invitation link.
        seed: Secret seed of all draws.
        created: Time in milliseconds since 1970.
    """

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
        """Return the columns of these settings in the database."""
        return {**asdict(self), "options": msgspec.json.encode(self.options).decode()}

    @property
    def variant(self) -> Variant:
        return find_variant(self.game, self.players, self.options)

    @property
    def commitment(self) -> str:
        """Commitment to the seed, which is published while the game is in progress."""
        return commitment(self.seed)


def rematch_id(config: TableConfig, previous: str | None = None) -> str:
    """Return the id of the rematch of a table: the same for all players, and unpredictable for others.

    Args:
        config: Settings of the table.
        previous: Id of an earlier rematch that no longer exists, if there was one.
    """
    digest = hashlib.sha256(f"next:{previous or config.id}:{config.invite}".encode()).digest()
    return base64.urlsafe_b64encode(digest)[:16].decode()


@dataclass(slots=True)
class GameState:
    """State of a table. `apply` is the only method that changes it."""

    config: TableConfig
    seats: list[SeatState]
    number: int = 0  # of the last entry
    status: Status = "open"
    table: Table | None = None
    pending_draw: int | None = None  # the seat whose draw is held back
    rematch: str | None = None  # id of its table
    updated: int = 0  # time of the last entry
    last_entry: TableEntry | None = None  # the last one other than `RematchLinked`
    last_active: dict[int, int] = field(default_factory=dict)  # time of its person's last action, by seat
    removed_people: set[str] = field(default_factory=set)  # who cannot join again
    events_before: int = 0  # number of events before the last entry
    _message_numbers: dict[tuple[int, str], int] = field(default_factory=dict)  # entry by seat and message id

    @classmethod
    def new(cls, config: TableConfig) -> GameState:
        """Return the state of a table without entries: all seats are free."""
        return cls(config, [SeatState() for _ in range(config.players)])

    # ------------------------------------------------------------ queries

    @property
    def turn(self) -> int | None:
        """The seat to move, or the seat whose draw is held back."""
        if self.status != "playing" or self.table is None:
            return None
        return self.pending_draw if self.pending_draw is not None else self.table.turn

    @property
    def bot_to_move(self) -> str | None:
        """Level of the bot to move, `None` if it is not a bot's turn."""
        turn = self.turn
        return None if turn is None or self.pending_draw is not None else self.seats[turn].bot

    @property
    def last_placed(self) -> tuple[str, ...]:
        """Cells of the last placement."""
        return last_placed(self.table.events) if self.table is not None else ()

    @property
    def exchange_offered(self) -> bool:
        """Whether the seat to move has to accept or decline an exchange of its hand."""
        return self.table is not None and bool(self.table.state["phase"][0] == OFFER)

    def seats_of(self, person: str | None) -> list[int]:
        """Return the seats of a person, reserved ones included."""
        if person is None:
            return []
        return [number for number, seat in enumerate(self.seats) if seat.person == person]

    def free_seats(self) -> list[int]:
        """Return the seats that are neither taken nor reserved."""
        return [number for number, seat in enumerate(self.seats) if seat.free]

    def unfilled_seats(self) -> list[int]:
        """Return the free and the reserved seats. The game starts when there are none."""
        return [number for number, seat in enumerate(self.seats) if seat.free or seat.invited]

    def reserved_seats(self, person: str | None) -> list[int]:
        """Return the seats reserved for a person who has not joined yet."""
        return [number for number in self.seats_of(person) if self.seats[number].invited]

    def can_take_back(self, seat: int | None) -> bool:
        """Return whether a seat can take back its last placement, after which no tile has been drawn."""
        last = self.last_entry
        return (
            seat is not None
            and self.status == "playing"
            and isinstance(last, MovePlayed)
            and last.seat == seat == self.turn
            and not last.drawn
            and not last.by
            and self.table is not None
        )

    def number_of_message(self, message_id: str, seats: Iterable[int]) -> int | None:
        """Return the number of the entry that stems from a message of one of these seats, if any."""
        numbers = (self._message_numbers.get((seat, message_id)) for seat in seats)
        return next((number for number in numbers if number is not None), None)

    # ------------------------------------------------------------ changes

    def apply(self, entry: TableEntry, at: int | None = None, *, action: int | None = None) -> TableEntry:
        """Apply the next entry and return it with the drawn tiles.

        This applies new entries as well as stored ones. The tiles of a new entry are `UNDRAWN` and come from
        the bag; a stored entry names its tiles.

        Args:
            entry: The entry. `held` of a new move requests that its draw, if any, is held back.
            at: Time of the entry in milliseconds since 1970, by default now.
            action: Action id of a new `MovePlayed`, if known. Its text is not parsed then.

        Raises:
            IllegalMove: The rules forbid the move. The state is unchanged.
            ParseError: The text of the move is invalid. The state is unchanged.
        """
        before = len(self.table.events) if self.table else 0
        actor = self._acting_seat(entry)
        match entry:
            case MovePlayed(seat, move):
                table = self._table_in_play(move)
                if action is None:
                    table.play(move, seat, deal=False)
                else:
                    table.play_action(action, seat, deal=False)
                entry = self._draw(table, entry)
                self.pending_draw = seat if entry.held else None
                self._remember(seat, entry.id)
            case TilesDrawn():
                drawer = self.turn
                entry = self._draw(self._table_in_play("draw"), entry)
                if drawer is not None:
                    self._remember(drawer, entry.id)
                self.pending_draw = None
            case MoveTakenBack(seat):
                self._table_in_play("back").undo()
                self._remember(seat, entry.id)
                self.pending_draw = None
            case GameStarted():
                self.table = Table(self.config.variant)
                self.table.seed = self.config.seed
                self.status = "playing"
                entry = self._draw(self.table, entry)
            case TableClosed():
                self.status = "closed"
                self.pending_draw = None
            case RematchLinked(rematch):
                self.rematch = rematch
            case _:
                self._change_seat(entry)
        self.number += 1
        self.events_before = before
        if not isinstance(entry, RematchLinked):
            self.last_entry = entry
        if self.status == "playing" and self.table is not None and self.table.over:
            self.status = "over"
        self.updated = now() if at is None else at
        if actor is not None:
            self.last_active[actor] = self.updated
        return entry

    def _change_seat(self, entry: SeatEntry) -> None:
        match entry:
            case SeatTaken(seat, person, name):
                self.seats[seat] = SeatState(person, name)
            case SeatReserved(seat, person, name):
                self.seats[seat] = SeatState(person, name, invited=True)
            case SeatVacated(seat):
                self.seats[seat] = SeatState()
            case PlayerRemoved(seat):
                if (removed := self.seats[seat].person) is not None:
                    self.removed_people.add(removed)
                self.seats[seat] = SeatState()
            case BotSeated(seat, level):
                self.seats[seat] = SeatState(None, level, level)
            case BotSubstituted(seat, level):
                self.seats[seat].bot = level
            case PlayerReturned(seat):
                self.seats[seat].bot = None

    def _draw(self, table: Table, entry: Drawing) -> Drawing:
        """Draw the tiles of an entry and return the entry with them."""
        if entry.drawn is UNSET:
            held = isinstance(entry, MovePlayed) and entry.held and table.draw_due > 0
            drawn = () if held else tuple(table.deal())
            changed = {"held": held} if isinstance(entry, MovePlayed) else {}
            return replace(entry, drawn=drawn, **changed)
        for tile in entry.drawn:
            table.draw(tile)
        return entry

    def _table_in_play(self, move: str) -> Table:
        if self.table is None or self.status != "playing":
            raise IllegalMove(move, Reason.GAME_OVER)
        return self.table

    def _acting_seat(self, entry: TableEntry) -> int | None:
        """Return the seat whose person has caused an entry, `None` for other entries."""
        if isinstance(entry, MovePlayed):
            return entry.seat if not entry.by and self.seats[entry.seat].bot is None else None
        if isinstance(entry, SeatTaken | PlayerReturned | MoveTakenBack):
            return entry.seat
        return self.pending_draw if isinstance(entry, TilesDrawn) and entry.id else None

    def _remember(self, seat: int, message_id: str) -> None:
        if not message_id:
            return
        self._message_numbers[seat, message_id] = self.number + 1
        if len(self._message_numbers) > REMEMBERED_MESSAGES:
            del self._message_numbers[next(iter(self._message_numbers))]

    # ------------------------------------------------------------ rows of the database

    def row(self) -> dict[str, Any]:
        """Return the columns of this table in the database."""
        return {**self.config.row(), **self._summary()}

    def journal_entry(self, entry: TableEntry) -> JournalEntry:
        """Return the row of the entry applied last, with the columns of other tables that it changes."""
        changed = entry.seat if isinstance(entry, SeatEntry) else None
        return JournalEntry(
            table_id=self.config.id,
            number=self.number,
            at=self.updated,
            body=encode_entry(entry),
            summary=self._summary(),
            seats=() if changed is None else (self.seats[changed].row(changed),),
            result=self._daily_result(),
        )

    def _summary(self) -> dict[str, Any]:
        return {
            "updated": self.updated,
            "number": self.number,
            "moves": self.table.plies if self.table else 0,
            "status": self.status,
            "turn": self.turn,
            "due": due(self),
        }

    def _daily_result(self) -> dict[str, Any] | None:
        """Return the leaderboard row of a finished daily deal.

        A game that ends after its day does not count: its player could have seen the draws in other games.
        """
        if self.config.daily is None or self.status != "over" or self.table is None:
            return None
        if day_of(self.updated) != self.config.daily:
            return None
        points = sorted(self.table.scores[0].values())
        return {
            "day": self.config.daily,
            "game": self.config.game,
            "person": self.seats[0].person,
            "table_id": self.config.id,
            "name": self.seats[0].name,
            "scores": msgspec.json.encode(points).decode(),
            "rank": " ".join(f"{9999 - n:04d}" for n in points),
            "finished": self.updated,
        }


def deadline(game: GameState, uptime: Uptime | None = None) -> int | None:
    """Return the time at which the clock moves for the seat to move, `None` without a clock.

    Outages known to `uptime` are not charged to the player.
    """
    if game.config.move_time is None or game.turn is None or game.bot_to_move is not None:
        return None
    return _end(game.updated, 1000 * game.config.move_time, uptime)


def due(game: GameState, uptime: Uptime | None = None) -> int | None:
    """Return the time at which the server has to act at the table, `None` if it does not.

    Outages known to `uptime` are not charged to players.
    """
    if game.bot_to_move is not None:
        return game.updated
    if game.pending_draw is not None:
        return _end(game.updated, int(1000 * HOLD_SECONDS), uptime)
    return deadline(game, uptime)


def _end(since: int, length: int, uptime: Uptime | None) -> int:
    """Return the end of a period of `length` milliseconds, extended by outages known to `uptime`."""
    return since + length if uptime is None else max(uptime.end(since, length), uptime.earliest_deadline)
