"""The clients at a table: who is here, and what each of them is told."""

from __future__ import annotations

import time
from typing import Any

from ...errors import AxioError
from .acts import Act, Drew, Moved
from .connection import Connection, encode
from .entries import deadline
from .game import Game
from .messages import RefusedMessage, SeatsMessage
from .refusals import code_of
from .telling import Step, Viewer, seat_infos, whole_view

ABSENT = 120.0  # seconds after which others may call a bot for somebody


class Audience:
    """Everybody who follows a game. Nothing here changes it."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.connections: set[Connection] = set()
        self._elsewhere: set[str] = set()
        self._left: dict[str, float] = {}
        self._gone: set[str] = set()
        self._opened = time.monotonic()

    # ------------------------------------------------------------ who is here

    @property
    def here_locally(self) -> set[str]:
        """The people who are connected to this process."""
        return {client.person for client in self.connections if client.person is not None}

    @property
    def here(self) -> set[str]:
        """The people who are connected."""
        return self.here_locally | self._elsewhere

    def absent(self, person: str) -> bool:
        """Whether somebody has been away long enough for a bot to be called."""
        if person in self.here:
            return False
        return time.monotonic() - self._left.get(person, self._opened) >= ABSENT

    def enter(self, client: Connection) -> None:
        """A client is here."""
        came = client.person not in self.here
        self.connections.add(client)
        if came and self.game.seats_of(client.person):
            self.tell_seats(but=client)

    def leave(self, client: Connection) -> bool:
        """A client is gone; whether the others should be told."""
        self.connections.discard(client)
        if client.person is None or client.person in self.here:
            return False
        self._left[client.person] = time.monotonic()
        self._gone.add(client.person)
        return bool(self.connections and self.game.seats_of(client.person))

    def gone(self) -> set[str]:
        """Those who have left this process since this was last asked."""
        gone, self._gone = self._gone - self.here_locally, set()
        return gone

    def learn_who_is_elsewhere(self, people: set[str]) -> bool:
        """Other processes have clients, too; whether that has changed."""
        before = self.here
        self._elsewhere = people - self.here_locally
        self._left |= dict.fromkeys(before - self.here, time.monotonic())
        return before != self.here

    # ------------------------------------------------------------ what they are told

    def view(self, viewer: Viewer, ack: str | None = None) -> Any:
        """The whole view for somebody."""
        return whole_view(self.game, viewer, self.here, deadline(self.game), ack)

    def tell(self, act: Act, sender: Connection | None = None, message: str = "") -> None:
        """Tell everybody what an act has changed, each as they may know it."""
        if isinstance(act, Moved | Drew):
            self._tell_step(sender, message)
        else:
            self.tell_views(sender, message)

    def _tell_step(self, sender: Connection | None, message: str) -> None:
        step, made = Step(self.game, deadline(self.game)), dict[int | None, str]()
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

    def tell_views(self, sender: Connection | None = None, message: str = "") -> None:
        """Tell everybody everything."""
        for client in self.connections:
            client.seat = self._still_looking(client)
            client.tell(encode(self.view(client.viewer, message if client is sender else None)))

    def tell_seats(self, but: Connection | None = None) -> None:
        """Tell everybody who sits where."""
        text = encode(SeatsMessage(seat_infos(self.game, self.here)))
        for client in self.connections:
            if client is not but:
                client.tell(text)

    def refuse(self, client: Connection, error: AxioError, message: str | None) -> None:
        """Tell a client why its message was not carried out."""
        code = code_of(error)
        view = self.view(client.viewer) if code == "stale" else None
        client.tell(encode(RefusedMessage(message, code, str(error), view)))

    def _still_looking(self, client: Connection) -> int | None:
        yours = self.game.seats_of(client.person)
        if len(yours) == 1:
            return yours[0]
        return client.seat if client.seat in yours and client.seat == self.game.turn else None
