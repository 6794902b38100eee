"""The clients at a table: who is here, and what each of them is told."""

from __future__ import annotations

import time
from typing import Any

from ...errors import AxioError
from ..metrics import note_refusal
from ..presentation.messages import RefusedMessage, SeatsMessage
from ..presentation.views import Step, ViewCache, Viewer, new_serial, seat_infos
from ..transport.client import Connection, encode
from .clock import Uptime
from .entries import Act, Drew, Moved
from .game_state import Game, deadline, now
from .refusals import code_of

ABSENT = 120.0  # seconds after which others may call a bot for somebody
NOTED = 10.0  # seconds after which other processes are told again that somebody was here


class Audience:
    """Everybody who follows a game. Nothing here changes it."""

    def __init__(self, game: Game, uptime: Uptime | None = None, views: ViewCache | None = None) -> None:
        self.follow(game)
        self._uptime = uptime or Uptime()
        self._views = views or ViewCache()
        self.connections: set[Connection] = set()
        self._elsewhere: set[str] = set()
        self._left: dict[str, float] = {}  # when people with seats were here last
        self._noted: dict[str, float] = {}  # when that was told to other processes
        self._gone: set[str] = set()
        self._opened = time.monotonic()

    def follow(self, game: Game) -> None:
        """Follow another game, such as one that was read again."""
        self.game, self._serial = game, new_serial()

    @property
    def deadline(self) -> int | None:
        """When the clock moves for the seat whose turn it is."""
        return deadline(self.game, self._uptime)

    # ------------------------------------------------------------ who is here

    @property
    def _seated(self) -> set[str]:
        """The people with seats. Nothing is noted of anybody else, however many come to watch."""
        return {seat.person for seat in self.game.seats if seat.person is not None}

    @property
    def here_locally(self) -> set[str]:
        """The people with seats who are connected to this process."""
        seated = self._seated
        return {client.person for client in self.connections if client.person in seated}

    @property
    def here(self) -> set[str]:
        """The people with seats who are connected."""
        return self.here_locally | (self._elsewhere & self._seated)

    def connected(self, person: str) -> bool:
        """Whether somebody is connected to this process, with a seat or without, or to another with one."""
        return person in self.here or any(client.person == person for client in self.connections)

    def absent(self, person: str) -> bool:
        """Whether somebody has been away long enough for a bot to be called, as far as this process knows."""
        if person in self.here:
            return False
        acted = max((self.game.acted.get(seat, 0) for seat in self.game.seats_of(person)), default=0)
        if max(acted, self._uptime.returned) > now() - 1000 * ABSENT:  # nobody is away with the server
            return False
        return time.monotonic() - self._left.get(person, self._opened) >= ABSENT

    def saw(self, person: str) -> bool:
        """Somebody has asked for this table without a connection; whether to tell other processes now."""
        if person not in self._seated:
            return False
        at = time.monotonic()
        if person not in self._left:
            self._forget_others()
        self._left[person] = at
        if at - self._noted.get(person, -NOTED) < NOTED:
            return False
        self._noted[person] = at
        return True

    def enter(self, client: Connection) -> None:
        """A client is here."""
        came = bool(self.game.seats_of(client.person)) and client.person not in self.here
        self.connections.add(client)
        if came:
            self.tell_seats(but=client)

    def leave(self, client: Connection) -> bool:
        """A client is gone; whether the others should be told."""
        self.connections.discard(client)
        seated = self._seated
        if client.person is None or client.person not in seated or client.person in self.here:
            return False
        self._forget_others()
        self._left[client.person] = time.monotonic()
        self._gone.add(client.person)
        return bool(self.connections)

    def _forget_others(self) -> None:
        """Keep nothing of those who have given up their seats."""
        seated = self._seated
        for noted in (self._left, self._noted):
            for person in noted.keys() - seated:
                del noted[person]
        self._gone &= seated

    def dismiss(self, code: int, reason: str, person: str | None = None) -> None:
        """Close the connections of everybody, or of one person."""
        for client in list(self.connections):
            if person is None or client.person == person:
                client.dismiss(code, reason)

    def gone(self) -> set[str]:
        """Those who have left this process since this was last asked."""
        gone, self._gone = self._gone - self.here_locally, set()
        return gone

    def learn_who_is_elsewhere(self, people: set[str]) -> bool:
        """Other processes have clients, too; whether that has changed."""
        before = self.here
        self._elsewhere = (people & self._seated) - self.here_locally
        here = self.here
        if before - here:
            self._forget_others()
            self._left |= dict.fromkeys(before - here, time.monotonic())
        return before != here

    # ------------------------------------------------------------ what they are told

    def view(self, viewer: Viewer, ack: str | None = None) -> Any:
        """The whole view for somebody."""
        return self._views.view(self._serial, self.game, viewer, frozenset(self.here), self.deadline, ack)

    def tell(self, act: Act, sender: Connection | None = None, message: str = "") -> None:
        """Tell everybody what an act has changed, each as they may know it."""
        if isinstance(act, Moved | Drew):
            self._tell_step(sender, message)
        else:
            self.tell_views(sender, message)

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

    def tell_views(self, sender: Connection | None = None, message: str = "") -> None:
        """Tell everybody everything; what several are told is written once."""
        texts: dict[int, tuple[Any, str]] = {}
        for client in self.connections:
            client.seat = self._still_looking(client)
            view = self.view(client.viewer, message if client is sender else None)
            if id(view) not in texts:
                texts[id(view)] = view, encode(view)
            client.tell(texts[id(view)][1])

    def tell_seats(self, but: Connection | None = None) -> None:
        """Tell everybody who sits where."""
        text = encode(SeatsMessage(seat_infos(self.game, self.here)))
        for client in self.connections:
            if client is not but:
                client.tell(text)

    def refuse(
        self, client: Connection, error: AxioError, message: str | None, *, settled: bool = True
    ) -> None:
        """Tell a client why its message was not carried out.

        A fresh view goes with it where that helps, unless the table is not `settled`: a change waits for its
        commit, which nobody may see yet.
        """
        code = code_of(error)
        note_refusal(code)
        view = self.view(client.viewer) if code == "stale" and settled else None
        client.tell(encode(RefusedMessage(message, code, str(error), view)))

    def _still_looking(self, client: Connection) -> int | None:
        yours = self.game.seats_of(client.person)
        if len(yours) == 1:
            return yours[0]
        return client.seat if client.seat in yours and client.seat == self.game.turn else None
