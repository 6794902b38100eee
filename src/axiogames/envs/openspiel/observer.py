"""OpenSpiel observers: the information of a seat as strings and as tensors in named pieces.

| piece | shape | |
|---|---|---|
| `board`, `vector` | of `axiogames.batch` | what the seat sees (docs/reference/observations.md) |
| `events` | events × 4 | the history as the seat knows it: event, seat, tile, action; 0: unknown |
| `hand` | kinds | the seat's tiles by kind, for private information only |
| `hands` | players × kinds | all tiles in hands by kind, for the private information of all seats |
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...batch.loops import observe_all
from ...games.variant import Variant
from ...model.position_text import write_position
from .history import NOBODY, History, HistoryEntry

COLUMNS = ("event", "seat", "tile", "action")


class Observer:
    """Observes a game for a seat.

    Args:
        variant: the game.
        rows: the maximum number of events.
        public: include public information.
        own: include the private information of the seat.
        everything: include the private information of all seats.
        recall: include the history, not only the current position.
    """

    def __init__(
        self, variant: Variant, rows: int, *, public: bool, own: bool, everything: bool, recall: bool
    ) -> None:
        self._variant = variant
        self._public, self._own, self._everything, self._recall = public, own, everything, recall
        kinds, layout = len(variant.kinds), variant.observation.board
        pieces: dict[str, tuple[int, ...]] = {}
        if public:
            pieces |= {"board": layout.shape, "vector": (len(variant.observation.names),)}
        elif own:
            pieces["hand"] = (kinds,)
        if everything:
            pieces["hands"] = (variant.players, kinds)
        if recall and (public or own):
            pieces["events"] = (rows, len(COLUMNS))
        sizes = [int(np.prod(shape)) for shape in pieces.values()]
        self.tensor = np.zeros(sum(sizes), np.float32)
        parts = np.split(self.tensor, np.cumsum(sizes)[:-1]) if sizes else []
        self.dict = {
            name: part.reshape(shape)
            for (name, shape), part in zip(pieces.items(), parts, strict=True)
        }  # fmt: skip

    def set_from(self, state: Any, player: int) -> None:
        """Write the information of a seat into `tensor`, and so into the pieces in `dict`."""
        play: History = state.play
        self.tensor.fill(0)
        if "board" in self.dict:
            self._write_position(play, player)
        if "hand" in self.dict:
            self.dict["hand"][:] = self._hand_counts(play, player)
        if "hands" in self.dict:
            self.dict["hands"][:] = [self._hand_counts(play, seat) for seat in range(self._variant.players)]
        if "events" in self.dict:
            rows = [row for entry in play.entries for row in self._rows(entry, player)]
            if rows:
                self.dict["events"][: len(rows)] = rows

    def string_from(self, state: Any, player: int) -> str:
        """Return the information of a seat as text."""
        play: History = state.play
        observer = player if self._own else None
        parts = []
        if self._recall and self._public:
            parts = [play.phase_text(), play.history_for(observer)]
        elif self._public:
            parts = [write_position(self._variant, self._variant.redact(play.state, observer))]
        elif self._own:
            hand = ",".join(self._variant.hand_of(play.state, player))
            parts = [f"hand={hand}", play.history_for(player, own=True) if self._recall else ""]
        if self._everything:
            hands = (self._variant.hand_of(play.state, seat) for seat in range(self._variant.players))
            parts.append("hands=" + ";".join(",".join(hand) for hand in hands))
        if self._own:
            parts.insert(0, f"seat {player}")
        return " | ".join(part for part in parts if part)

    def _write_position(self, play: History, player: int) -> None:
        variant = self._variant
        # Public information is what seat 0 sees without its hand: the same for all seats.
        state = play.state if self._own else variant.redact(play.state, None)
        seats = np.array([player if self._own else 0], np.uint8)
        layout = variant.observation.board
        board = np.zeros((1, layout.size), np.int8)
        vector = np.zeros((1, len(variant.observation.names)), np.int16)
        variant.kernels[observe_all](variant.constants, state, seats, layout.places, board, vector, 0, 1)
        self.dict["board"][:] = board.reshape(layout.shape)
        self.dict["vector"][:] = vector[0]

    def _hand_counts(self, play: History, seat: int) -> np.ndarray:
        held = play.state["held"][0, seat]
        return np.bincount(play.state["hands"][0, seat, :held], minlength=len(self._variant.kinds))

    def _rows(self, entry: HistoryEntry, player: int) -> list[tuple[int, ...]]:
        """Return a row for each tile of an entry. Known values count from 1."""
        event, seat, action, tiles, public, *_ = entry
        own = seat == player and self._own
        if not self._public and not own:
            return []
        players = self._variant.players
        observer = player if self._own else 0
        owner = 0 if seat == NOBODY else (seat - observer) % players + 1
        known = public or own
        shown_action = action + 1 if known else 0
        return [(event, owner, tile + 1 if known else 0, shown_action) for tile in tiles] or [
            (event, owner, 0, shown_action)
        ]
