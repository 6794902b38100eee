"""Clients of a table: presence of people, and the messages that each client receives."""

from __future__ import annotations

import time

from ...errors import AxioError
from ..metrics import count_refusal
from ..presentation.messages import RefusedMessage, SeatsMessage, ViewMessage
from ..presentation.views import StepMessages, ViewCache, Viewer, new_serial, seat_infos
from ..transport.client import Client, encode
from .clock import Uptime
from .entries import MovePlayed, TableEntry, TilesDrawn
from .game_state import GameState, deadline, now
from .refusals import code_of

ABSENT_SECONDS = 120.0  # after which others can call a bot for a person
ANNOUNCE_SECONDS = 10.0  # between two announcements to other processes that a person is present


class Subscribers:
    """Clients connected to a table through this process. Nothing here changes the game."""

    def __init__(self, game: GameState, uptime: Uptime | None = None, views: ViewCache | None = None) -> None:
        self.replace_game(game)
        self._uptime = uptime or Uptime()
        self._views = views or ViewCache()
        self.connections: set[Client] = set()
        self._remote: set[str] = set()  # people with seats who are connected to other processes
        self._last_seen: dict[str, float] = {}  # by person with a seat; monotonic time
        self._announced: dict[str, float] = {}  # by person: last announcement to other processes
        self._departed: set[str] = set()  # people with seats who have left this process
        self._opened = time.monotonic()

    def replace_game(self, game: GameState) -> None:
        """Replace the state, for example after loading it again."""
        self.game, self._serial = game, new_serial()

    @property
    def deadline(self) -> int | None:
        """Time at which the clock moves for the seat to move, `None` without a clock."""
        return deadline(self.game, self._uptime)

    # ------------------------------------------------------------ presence

    @property
    def _seated(self) -> set[str]:
        """People with seats. Nothing is stored about spectators, however many there are."""
        return {seat.person for seat in self.game.seats if seat.person is not None}

    @property
    def present_locally(self) -> set[str]:
        """People with seats who are connected to this process."""
        seated = self._seated
        return {client.person for client in self.connections if client.person in seated}

    @property
    def present(self) -> set[str]:
        """People with seats who are connected to any process."""
        return self.present_locally | (self._remote & self._seated)

    def is_connected(self, person: str) -> bool:
        """Return whether a person is connected to this process, or has a seat and is connected to another."""
        return person in self.present or any(client.person == person for client in self.connections)

    def is_absent(self, person: str) -> bool:
        """Return whether a person has been away long enough for a bot, as far as this process knows."""
        if person in self.present:
            return False
        active = max((self.game.last_active.get(seat, 0) for seat in self.game.seats_of(person)), default=0)
        # While the server is down, nobody counts as absent.
        if max(active, self._uptime.resumed_at) > now() - 1000 * ABSENT_SECONDS:
            return False
        return time.monotonic() - self._last_seen.get(person, self._opened) >= ABSENT_SECONDS

    def is_reserved(self, seat: int) -> bool:
        """Return whether a seat is reserved for a person who still has time to join."""
        if seat not in self.game.unfilled_seats() or not self.game.seats[seat].invited:
            return False
        reserved_at = max(self.game.config.created, self._uptime.resumed_at)
        return now() - reserved_at < 1000 * ABSENT_SECONDS

    def note_seen(self, person: str) -> bool:
        """Note that a person has requested this table over HTTP.

        Returns:
            Whether this should be announced to other processes now.
        """
        if person not in self._seated:
            return False
        at = time.monotonic()
        if person not in self._last_seen:
            self._forget_unseated()
        self._last_seen[person] = at
        if at - self._announced.get(person, -ANNOUNCE_SECONDS) < ANNOUNCE_SECONDS:
            return False
        self._announced[person] = at
        return True

    def connect(self, client: Client) -> None:
        """Add a client, and send the others the new list of seats if its person was not present before."""
        arrived = bool(self.game.seats_of(client.person)) and client.person not in self.present
        self.connections.add(client)
        if arrived:
            self.broadcast_seats(exclude=client)

    def disconnect(self, client: Client) -> bool:
        """Remove a client and return whether the list of seats has to be sent to the others."""
        self.connections.discard(client)
        seated = self._seated
        if client.person is None or client.person not in seated or client.person in self.present:
            return False
        self._forget_unseated()
        self._last_seen[client.person] = time.monotonic()
        self._departed.add(client.person)
        return bool(self.connections)

    def _forget_unseated(self) -> None:
        """Drop what is stored about people who have given up their seats."""
        seated = self._seated
        for times in (self._last_seen, self._announced):
            for person in times.keys() - seated:
                del times[person]
        self._departed &= seated

    def close_connections(self, code: int, reason: str) -> None:
        """Close the connections of all clients."""
        for client in list(self.connections):
            client.close(code, reason)

    def take_departed(self) -> set[str]:
        """Return the people who have left this process since the last call."""
        departed, self._departed = self._departed - self.present_locally, set()
        return departed

    def update_remote_presence(self, people: set[str]) -> bool:
        """Replace the people connected to other processes and return whether anybody came or left."""
        before = self.present
        self._remote = (people & self._seated) - self.present_locally
        present = self.present
        if before - present:
            self._forget_unseated()
            self._last_seen |= dict.fromkeys(before - present, time.monotonic())
        return before != present

    # ------------------------------------------------------------ messages

    def view(self, viewer: Viewer, ack: str | None = None) -> ViewMessage:
        """Return the complete view for a viewer, with `ack` as the id of the message that it answers."""
        present = frozenset(self.present)
        return self._views.view(self._serial, self.game, viewer, present, self.deadline, ack=ack)

    def broadcast(self, entry: TableEntry, sender: Client | None = None, message_id: str = "") -> None:
        """Send every client the effect of an entry, redacted for its viewer.

        Args:
            entry: The entry applied last.
            sender: The client whose message has led to the entry, if any.
            message_id: Id of that message, which acknowledges it to the sender.
        """
        if isinstance(entry, MovePlayed | TilesDrawn):
            self._broadcast_step(sender, message_id)
        else:
            self.broadcast_views(sender, message_id)

    def _broadcast_step(self, sender: Client | None, message_id: str) -> None:
        messages, encoded = StepMessages(self.game, self.deadline), dict[int | None, str]()
        for client in self.connections:
            seat = self._seat_after_step(client)
            if seat != client.seat:
                # A seat at a shared screen has moved. The screen shows no hand until it selects a seat.
                client.seat = seat
                client.send(encode(self.view(client.viewer, message_id if client is sender else None)))
            elif client is sender and message_id:
                client.send(encode(messages.for_seat(seat, message_id)))
            else:
                if seat not in encoded:
                    encoded[seat] = encode(messages.for_seat(seat))
                client.send(encoded[seat])

    def broadcast_views(self, sender: Client | None = None, message_id: str = "") -> None:
        """Send every client its complete view. Equal views are encoded once."""
        texts: dict[int, tuple[ViewMessage, str]] = {}  # by id of the view, which is kept alive
        for client in self.connections:
            client.seat = self._seat_after_step(client)
            view = self.view(client.viewer, message_id if client is sender else None)
            if id(view) not in texts:
                texts[id(view)] = view, encode(view)
            client.send(texts[id(view)][1])

    def broadcast_seats(self, exclude: Client | None = None) -> None:
        """Send the list of seats to every client except `exclude`."""
        text = encode(SeatsMessage(seat_infos(self.game, self.present)))
        for client in self.connections:
            if client is not exclude:
                client.send(text)

    def send_refusal(
        self, client: Client, error: AxioError, message_id: str | None, *, committed: bool = True
    ) -> None:
        """Send a client the reason why its message was refused.

        A stale client also receives a view, but only of a `committed` state: nobody may see a change before
        its commit.
        """
        code = code_of(error)
        count_refusal(code)
        view = self.view(client.viewer) if code == "stale" and committed else None
        client.send(encode(RefusedMessage(message_id, code, str(error), view)))

    def _seat_after_step(self, client: Client) -> int | None:
        """Return the seat whose hand a client sees now. A shared screen shows the seat to move only."""
        own = self.game.seats_of(client.person)
        if len(own) == 1:
            return own[0]
        return client.seat if client.seat in own and client.seat == self.game.turn else None
