"""Room: a table in memory with its clients, the commands of its players, and the actions of the server.

Every change goes through `Room.transaction`. It holds the room's lock, so changes are applied, committed and
broadcast one at a time.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress

from ...errors import IllegalMove, Reason
from ...moves import Move
from ...players import Choice
from ..presentation.messages import ViewMessage
from ..presentation.views import Viewer
from ..transport.client import NO_SUCH_TABLE, Client
from .automation import Automation
from .bots import DEFAULT_LEVEL
from .entries import (
    UNDRAWN,
    BotSeated,
    BotSubstituted,
    GameStarted,
    MovePlayed,
    MoveTakenBack,
    PlayerRemoved,
    PlayerReturned,
    RematchLinked,
    SeatTaken,
    SeatVacated,
    TableClosed,
    TableEntry,
    TilesDrawn,
)
from .game_state import GameState, now
from .journaled_game import JournaledGame, RoomServices, SeatCommand, log_failure
from .refusals import (
    Refused,
    Unavailable,
    Unreadable,
    check_can_move,
    check_can_remove,
    check_can_seat_bot,
    check_can_substitute,
    check_current,
    check_in_progress,
    check_log_has_room,
    check_not_substituted,
)
from .subscribers import ABSENT_SECONDS, Subscribers

log = logging.getLogger(__name__)


class Room:
    """A table in memory."""

    def __init__(self, game: GameState, services: RoomServices) -> None:
        self.lock = asyncio.Lock()
        self._state = JournaledGame(game, services)
        self._services = services
        self._closed = False
        self._automation = Automation(services)
        self._seats_task: asyncio.Task[None] | None = None
        self._views_task: asyncio.Task[None] | None = None

    @property
    def id(self) -> str:
        return self.game.config.id

    @property
    def game(self) -> GameState:
        """The state in memory. Outside a transaction it may not be committed yet."""
        return self._state.game

    @property
    def subscribers(self) -> Subscribers:
        return self._state.subscribers

    @property
    def stale(self) -> bool:
        """Whether the state in memory may differ from the log. The next transaction reads it again."""
        return self._state.stale

    @property
    def unreadable(self) -> bool:
        """Whether the log of the table cannot be read."""
        return self._state.unreadable

    @property
    def idle(self) -> bool:
        """Whether nobody is connected and no task of the room is pending."""
        tasks = (self._seats_task, self._views_task)
        busy = self.lock.locked() or any(tasks) or self._automation.busy
        return not self.subscribers.connections and not busy

    def view(self, viewer: Viewer, ack: str | None = None) -> ViewMessage:
        """Return the complete view for a viewer, with `ack` as the id of the message that it answers."""
        return self.subscribers.view(viewer, ack)

    def default_seat(self, person: str | None) -> int | None:
        """Return the only seat of a person, `None` if they have none, or several at a shared screen."""
        own = self.game.seats_of(person)
        return own[0] if len(own) == 1 else None

    # ------------------------------------------------------------ transactions

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[GameState]:
        """Hold the lock of the room, with a state in memory that equals the log.

        Raises:
            Refused: the log had to be read again and could not be.
        """
        async with self.lock:
            if self._state.stale:
                try:
                    await self._state.reload()
                except Unreadable:
                    raise
                except Exception as error:
                    log_failure("table %s could not be reloaded", self.id, error)
                    raise Unavailable from None
                self.wake()
            yield self.game

    async def _commit(
        self, *entries: TableEntry, request: SeatCommand | None = None, action: int | None = None
    ) -> int:
        """Apply, commit and broadcast entries in a transaction, and return the number of the last one."""
        applied = self._state.apply(entries, action)
        try:
            return await self._state.commit(applied, request)
        finally:
            self.wake()

    def _check(self, request: SeatCommand) -> int | None:
        """Check a request in a transaction: its sender, repetition, and the entry it is based on.

        Returns:
            The number of the entry if the message has been executed before, otherwise `None`.
        """
        if not request.automatic:
            check_not_substituted(self.game, request.seat)
        number = self._state.acknowledge([request.seat], request.message_id, request.sender)
        if number is None:
            check_current(self.game, request.based_on)
        return number

    async def acknowledge(
        self, person: str | None, message_id: str, sender: Client | None = None
    ) -> int | None:
        """Return the entry number of a person's earlier message, if any, and send its sender a view."""
        async with self.transaction() as game:
            return self._state.acknowledge(game.seats_of(person), message_id, sender)

    async def catch_up(self, entries: Collection[tuple[int, int, TableEntry]]) -> None:
        """Apply entries committed by another process."""
        async with self.transaction():
            self._state.catch_up(entries)
            self.wake()

    def mark_unreadable(self) -> None:
        """Note that the log cannot be read. Until it can, the table does not change."""
        self._state.mark_unreadable()

    # ------------------------------------------------------------ moves

    async def move(
        self, request: SeatCommand, move: Choice | Move | str | int, *, hold: bool = False, by: str = ""
    ) -> int:
        """Play a move and return the number of its entry.

        Args:
            request: The seat, and the origin of the request.
            move: A bot's choice, a move, the text of a move, or its index among the legal moves.
            hold: Delay the draw, so that the move can be taken back.
            by: `clock` if the server moves for a person.

        Raises:
            Refused: The request or the state of the table does not allow it. Nothing has changed.
            IllegalMove: The rules do not allow it. Nothing has changed.
        """
        async with self.transaction() as game:
            if (number := self._check(request)) is not None:
                return number
            check_can_move(game)
            text, action = _resolve(move, game, request.seat)
            entry = MovePlayed(request.seat, text, UNDRAWN, request.message_id, by, hold)
            return await self._commit(entry, request=request, action=action)

    async def draw(self, request: SeatCommand) -> None:
        """Draw the tiles of a seat whose draw is held back."""
        async with self.transaction() as game:
            if self._check(request) is None:
                if game.pending_draw != request.seat:
                    raise Refused("not_allowed", "this seat has no draw that is held back")
                await self._commit(TilesDrawn(UNDRAWN, request.message_id), request=request)

    async def take_back(self, request: SeatCommand) -> None:
        """Take back the last placement of a seat."""
        async with self.transaction() as game:
            if self._check(request) is None:
                if not game.can_take_back(request.seat):
                    raise Refused(
                        "not_allowed",
                        "a placement can be taken back only by its player and before a tile is drawn",
                    )
                check_log_has_room(game)
                await self._commit(MoveTakenBack(request.seat, request.message_id), request=request)

    # ------------------------------------------------------------ seats

    async def take_seat(self, person: str, name: str, seat: int | None = None) -> None:
        """Seat a person. The game starts when all seats are filled.

        Args:
            person: Id of the person. If seats are reserved for them, they take those and `seat` is ignored.
            name: Their name.
            seat: The seat, by default the first free one.
        """
        async with self.transaction() as game:
            reserved = game.reserved_seats(person)
            if game.seats_of(person) and not reserved:
                return  # the response to an earlier request may have been lost
            if game.status != "open":
                raise Refused("seat_taken", "the game has started; its table can be watched")
            if person in game.removed_people:
                raise Refused("not_allowed", "you have been removed from this table")
            check_log_has_room(game)
            if reserved:
                await self._fill_seats(*(SeatTaken(own, person, game.seats[own].name) for own in reserved))
                return
            free = game.free_seats()
            if seat is None and free:
                seat = free[0]
            elif seat is None:
                raise Refused("seat_taken", "no seat is free")
            elif seat not in free:
                raise Refused("seat_taken", f"seat {seat} is not free")
            await self._fill_seats(SeatTaken(seat, person, name))

    async def seat_bot(self, seat: int, level: str, person: str) -> None:
        """Put a bot on an unfilled seat, or substitute one for an absent person during the game.

        A substitute has the default level. Tables with a clock have no substitutes: the clock moves for
        absent people.
        """
        async with self.transaction() as game:
            if game.status == "open":
                check_can_seat_bot(game, seat, person, reserved=self.subscribers.is_reserved(seat))
                check_log_has_room(game)
                await self._fill_seats(BotSeated(seat, level))
                return
            check_in_progress(game)
            absentee = check_can_substitute(game, seat, person)
            if not self.subscribers.is_absent(absentee) or await self._seen_elsewhere(absentee):
                raise Refused(
                    "not_allowed", "a bot can be called only for a person who has been away for two minutes"
                )
            await self._commit(BotSubstituted(seat, DEFAULT_LEVEL))

    async def _fill_seats(self, *entries: SeatTaken | BotSeated) -> None:
        """Fill seats. If that fills the table, the game starts in the same commit."""
        filled = {entry.seat for entry in entries}
        if filled.issuperset(self.game.unfilled_seats()):
            await self._commit(*entries, GameStarted(UNDRAWN))
        else:
            await self._commit(*entries)

    async def _seen_elsewhere(self, person: str) -> bool:
        """Return whether another process has seen a person lately."""
        last = await self._services.last_present(self.id, person)
        return last is not None and last > now() - 1000 * ABSENT_SECONDS

    async def remove_player(self, seat: int, person: str) -> None:
        """Remove the occupant of a seat before the start. `person` has to be the owner of the table."""
        async with self.transaction() as game:
            check_can_remove(game, seat, person)
            await self._commit(SeatVacated(seat) if game.seats[seat].person is None else PlayerRemoved(seat))

    async def leave_table(self, person: str) -> None:
        """Give up the seats of a person: free before the start, played by bots afterwards.

        The table is closed if no other person has joined.
        """
        async with self.transaction() as game:
            own = game.seats_of(person)
            if not own and person != game.config.owner:
                raise Refused("not_allowed", "you have no seat at this table")
            joined = (seat for seat in game.seats if seat.person and not seat.bot and not seat.invited)
            others = {seat.person for seat in joined} - {person}
            if game.status in ("open", "playing") and not others:
                await self._commit(TableClosed())
            elif game.status == "open" and own:
                await self._commit(*(SeatVacated(seat) for seat in own))
            elif game.status == "playing":
                left = [BotSubstituted(seat, DEFAULT_LEVEL) for seat in own if game.seats[seat].bot is None]
                if left:
                    await self._commit(*left)

    async def take_seat_back(self, person: str, seat: int) -> None:
        """Give a person their seat back from the bot that plays for them."""
        async with self.transaction() as game:
            check_in_progress(game)
            if seat not in game.seats_of(person) or game.seats[seat].bot is None:
                raise Refused("not_allowed", "no bot plays for you on this seat")
            check_log_has_room(game)
            await self._commit(PlayerReturned(seat))

    async def link_rematch(self, table_id: str, previous: str | None = None) -> str:
        """Record `table_id` as the rematch of this table and return the rematch that counts.

        The first one recorded wins; later calls return it.

        Args:
            table_id: Id of the new table.
            previous: Id of an earlier rematch that no longer exists.

        Raises:
            Unavailable: the link could not be committed.
        """
        async with self.transaction():
            if self.game.rematch == previous:
                with suppress(Refused):  # another process may have committed first
                    await self._commit(RematchLinked(table_id))
            rematch = self.game.rematch  # of the state reloaded after a failure
            if rematch is None or rematch == previous:
                raise Unavailable
            return rematch

    # ------------------------------------------------------------ connections and names

    def connect(self, client: Client) -> None:
        """Add a client."""
        self.subscribers.connect(client)
        if self._closed:
            client.close(NO_SUCH_TABLE, "this table has been deleted")
        else:
            self._services.occupied.add(self)

    def disconnect(self, client: Client) -> None:
        """Remove a client."""
        if self.subscribers.disconnect(client):
            self._broadcast_seats_soon()
        if not self.subscribers.connections:
            self._services.occupied.discard(self)

    def update_remote_presence(self, people: set[str]) -> None:
        """Replace the people who are connected to other processes."""
        if self.subscribers.update_remote_presence(people):
            self._broadcast_seats_soon()

    async def rename(self, person: str, name: str, seat: int | None = None) -> None:
        """Show the new name of a person on a seat, or on all their seats. The database already has it."""
        if not self._seats_to_rename(person, name, seat):
            return
        async with self.transaction() as game:
            for number in self._seats_to_rename(person, name, seat):
                game.seats[number].name = name
            self.subscribers.broadcast_seats()

    def _seats_to_rename(self, person: str, name: str, seat: int | None) -> list[int]:
        own = self.game.seats_of(person)
        return [number for number in own if seat in (None, number) and self.game.seats[number].name != name]

    def extend_deadlines(self) -> None:
        """Set the timers again after an outage, and send clients the new deadline, if any."""
        self.wake()
        if self.subscribers.deadline is None or not self.subscribers.connections or self._closed:
            return
        if self._views_task is None:  # otherwise the next broadcast has the new deadline
            self._views_task = self._services.start(self._broadcast_views())

    async def _broadcast_views(self) -> None:
        try:
            async with self.transaction():
                self.subscribers.broadcast_views()
        except Refused:
            pass  # clients receive views once the table can be read again
        except Exception:
            log.exception("failed to send the new deadline of table %s", self.id)
        finally:
            self._views_task = None

    def _broadcast_seats_soon(self) -> None:
        """Schedule one broadcast of the seats for all clients that come and go until it starts."""
        if self._seats_task is None and not self._closed:
            self._seats_task = self._services.start(self._broadcast_seats())

    async def _broadcast_seats(self) -> None:
        try:
            async with self.transaction():  # not while a change awaits its commit
                self.subscribers.broadcast_seats()
        except Refused:
            pass  # clients receive views once the table can be read again
        except Exception:
            log.exception("failed to send the seats of table %s", self.id)
        finally:
            self._seats_task = None

    # ------------------------------------------------------------ automation

    def wake(self) -> None:
        """Start what is due at this table, and set a timer for what is due later."""
        if not self._closed:
            self._automation.wake(self)

    def close(self) -> None:
        """Stop all tasks and timers permanently."""
        self._closed = True
        self._automation.close()
        for task in (self._seats_task, self._views_task):
            if task is not None:
                task.cancel()


def _resolve(move: Choice | Move | str | int, game: GameState, seat: int) -> tuple[str, int | None]:
    """Return the text of a move, and its action id if it is known."""
    if isinstance(move, Choice):
        return str(move.move), move.action
    if not isinstance(move, int):
        return str(move), None
    table = game.table
    if table is None or game.turn != seat:
        raise IllegalMove(f"move {move}", Reason.NOT_YOUR_TURN)
    if game.pending_draw is not None:
        raise IllegalMove(f"move {move}", Reason.DRAW_DUE)
    actions = table.variant.legal_actions(table.state)
    if not 0 <= move < len(actions):
        raise Refused("no_such_offer", f"pick {move} is out of range: {len(actions)} moves are offered")
    action = int(actions[move])
    return str(table.variant.decode(table.state, action)), action
