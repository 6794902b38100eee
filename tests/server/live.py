"""A WebSocket client at a table."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from typing import Any, Self

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection

TIMEOUT = 20.0  # seconds per message
MAX_MESSAGES = 3_000

Json = dict[str, Any]
Choose = Callable[[Json], int]


class LiveSocket:
    """A WebSocket to a table. Stores the last `n`, `now` and `moves`, and all received messages."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket.__enter__()  # exited by `close`
        self.received: list[Json] = []
        self.n = 0
        self.you: int | None = None
        self.yours: list[int] = []
        self.now: Json = {}
        self.moves: Json | None = None
        self._ids = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.socket.close()

    def send(self, message: Json) -> None:
        """Send a message."""
        self.socket.send(json.dumps(message))

    def command(self, do: str, **more: object) -> str:
        """Send a command for the last entry number, with a new id, and return the id."""
        self._ids += 1
        message_id = f"{do}-{self._ids}"
        self.send({"do": do, "id": message_id, "n": self.n, **more})
        return message_id

    def recv(self, timeout: float = TIMEOUT) -> Json:
        """Return the next message. Raises `TimeoutError` or `ConnectionClosed`."""
        message: Json = json.loads(self.socket.recv(timeout))
        self.received.append(message)
        if message["type"] in ("view", "step"):
            self.n, self.you = message["n"], message["you"]
            self.now, self.moves = message["now"], message["moves"]
            self.yours = message.get("yours", self.yours)
        return message

    def until(self, expected: Callable[[Json], bool] | str, timeout: float = TIMEOUT) -> Json:
        """Return the next message of a type, or the next that satisfies a condition."""
        deadline = time.monotonic() + timeout
        while True:
            message = self.recv(max(0.01, deadline - time.monotonic()))
            if message["type"] == expected if isinstance(expected, str) else expected(message):
                return message

    def wait_for_turn(self) -> Json:
        """Wait until this client is offered moves or the game is over, and return `now`."""
        while not self.now or (self.moves is None and self.now["phase"] not in ("over", "closed")):
            self.recv()
        return self.now

    def play(self, pick: int, **more: object) -> Json:
        """Play the offered move with index `pick`, and return its acknowledgement."""
        message_id = self.command("move", pick=pick, **more)
        answer = self.until(lambda message: message_id in (message.get("ack"), message.get("id")))
        assert answer["type"] != "refused", answer
        return answer

    def play_to_end(self, choose: Choose | None = None, *, by_text: bool = False) -> Json:
        """Play for all seats of this client until the game is over, and return the `result`."""
        choose = choose or random_chooser()
        while self.now.get("phase") not in ("over", "closed"):
            assert len(self.received) < MAX_MESSAGES, "the game does not end"
            if self.moves is not None:
                pick = choose(self.moves)
                if by_text:
                    self.command("move", move=move_text(self.moves, pick))
                else:
                    self.command("move", pick=pick)
                self.moves = None
            elif self.you is None and len(self.yours) > 1 and self.now["turn"] in self.yours:
                self.send({"do": "look", "seat": self.now["turn"]})
                self.until("view")
                continue
            message = self.recv()
            assert message["type"] != "refused", message
        result: Json = self.now["result"]
        return result

    def close_code(self) -> int | None:
        """Wait until the server closes the connection, and return the close code."""
        try:
            while True:
                self.recv()
        except ConnectionClosed as closed:
            return closed.rcvd.code if closed.rcvd else None


def check_consecutive(live: LiveSocket) -> None:
    """Check that steps have consecutive entry numbers; only a view may skip entries."""
    last = 0
    for message in live.received:
        if message["type"] == "step":
            assert message["n"] == last + 1, f"{message['n']} follows {last}"
        elif message["type"] == "view":
            assert message["n"] >= last
        last = message.get("n", last)


def count_offers(moves: Json) -> int:
    """Return the number of offered moves."""
    return len(moves["tile"]) + len(moves["others"])


def random_chooser(seed: int | str = 0) -> Choose:
    """Return a function that picks uniformly at random, reproducibly."""
    rng = random.Random(seed)
    return lambda moves: rng.randrange(count_offers(moves))


def move_text(moves: Json, pick: int) -> str:
    """Return the notation of an offered move."""
    placements = len(moves["tile"])
    if pick >= placements:
        other = moves["others"][pick - placements]
        return " ".join((other["move"], *other.get("tiles", ())))
    named = moves["named"][pick] if moves["named"] else ""
    tile = moves["looks"][moves["look"][pick]] + (f"({named})" if named else "")
    return f"{tile} {moves['places'][moves['place'][pick]][3]}"


def play_together(*lives: LiveSocket) -> Json:
    """Play a game between several clients by the first offered move, and return the result."""
    for live in lives:
        live.until("view")
    while lives[0].now["phase"] not in ("over", "closed"):
        for live in lives:
            while live.n < max(other.n for other in lives):
                live.recv()
            if live.moves is not None:
                live.play(0)
        waiting = all(live.moves is None and live.n == lives[0].n for live in lives)
        if waiting and lives[0].now["phase"] not in ("over", "closed"):
            lives[0].recv()  # a bot's turn
    result: Json = lives[0].now["result"]
    return result
