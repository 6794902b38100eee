"""Records of many games of the same players, written directly from the states and actions of each game.

`RecordWriter` returns the same line as `record_of(table, names).to_json()` in a tenth of the time: the texts
of placements, gains and tiles are created once and reused. A test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from ..games.runtime.state import DRAW, REMOVE, START
from ..games.variant import State, Variant
from ..moves import Action, Seat
from .events import Draw, Event, Exchange, Pass, Place, Removed, Result, Start
from .position import Position
from .record import record_of
from .table import Table, chance_event

_ENCODER = msgspec.json.Encoder()
PLACE = '{"t":"place","p":'  # before the seat
PLACE_OF_SEAT_0 = f"{PLACE}0"


class RecordWriter:
    """Writes the records of games of one variant between players with the same names.

    Args:
        variant: the game, its number of players and its options.
        names: a name for each seat.
    """

    def __init__(self, variant: Variant, names: Sequence[str]) -> None:
        self.variant = variant
        self._head = record_of(Table(variant), names).to_json().removesuffix("]}")  # there are no events yet
        self._kinds = [json_text(kind) for kind in variant.kinds]
        self._chances = _ChanceFrames()
        self._placements: dict[int, _Frame] = {}
        self._gains: dict[bytes, str] = {}

    def write(self, states: State, actions: np.ndarray) -> tuple[str, Result]:
        """Return the record of a finished game as a line of JSON, and its result.

        Args:
            states: the state before each action, and the final one.
            actions: the action ids, moves and outcomes of chance.
        """
        result = Position(self.variant, states[-1:]).result
        assert result is not None, "the game is finished"
        return (
            f'{self._head}{",".join(self._events(states, actions))}],"result":{json_text(result)}}}',
            result,
        )

    def _events(self, states: State, actions: np.ndarray) -> list[str]:
        """Return the events. Consecutive tiles of the same draw are one event, as in `append_event`."""
        variant, kinds, chances = self.variant, self._kinds, self._chances
        phases, seats = states["phase"].tolist(), states["seat"].tolist()
        sources = variant.sources(states)
        placed = np.flatnonzero((states["phase"][:-1] < DRAW) & (actions < variant.placements))
        placements = self._placement_events(states, actions, placed)
        events: list[str] = []
        chance: _Frame | None = None  # of the event to which `tiles` belong
        tiles: list[str] = []
        for n, action in enumerate(actions.tolist()):
            phase = phases[n]
            if phase >= DRAW:
                frame = chances[phase, seats[n], sources[n]]
                if frame is not chance:
                    if chance:
                        events.append(f"{chance.before}[{','.join(tiles)}]{chance.after}")
                    chance, tiles = frame, []
                tiles.append(self._start_tile(states, n, action) if phase == START else kinds[action])
                continue
            event = next(placements) if action < variant.placements else self._other(states, n, action)
            if event:
                if chance:
                    events.append(f"{chance.before}[{','.join(tiles)}]{chance.after}")
                    chance = None
                events.append(event)
        if chance:
            events.append(f"{chance.before}[{','.join(tiles)}]{chance.after}")
        return events

    def _start_tile(self, states: State, n: int, action: Action) -> str:
        event = chance_event(self.variant, states[n : n + 1], action)
        assert isinstance(event, Start), "a tile of the opening display"
        return json_text(event.display[0])

    def _placement_events(self, states: State, actions: np.ndarray, placed: np.ndarray) -> Iterator[str]:
        variant = self.variant
        seats = states["seat"][placed].tolist()
        gains = states["gain"][placed + 1]
        gain_bytes, width = gains.tobytes(), gains.itemsize * gains.shape[1]
        pyramids = variant.new_pyramids(states)
        keys = variant.placement_keys(states, actions, placed)
        for i, n in enumerate(placed.tolist()):
            frame = self._placements.get(keys[i]) if keys else None
            if frame is None:
                move = variant.decode(states[n : n + 1], int(actions[n]))
                frame = _framed(Place(0, move.tile, move.at, {}, move.named), "{}")
                frame = _Frame(frame.before.removeprefix(PLACE_OF_SEAT_0), frame.after)
                if keys:
                    self._placements[keys[i]] = frame
            row = gain_bytes[i * width : (i + 1) * width]
            gain = self._gains.get(row)
            if gain is None:
                gain = self._gains[row] = self._gain_text(gains[i].tolist())
            after = frame.after
            if n in pyramids:
                after = f'{after[:-1]},"pyramids":{json_text(pyramids[n])}}}'
            yield f"{PLACE}{seats[i]}{frame.before}{gain}{after}"

    def _gain_text(self, points: Sequence[int]) -> str:
        return json_text({track: n for track, n in zip(self.variant.tracks, points, strict=True) if n})

    def _other(self, states: State, n: int, action: Action) -> str | None:
        """Return the event of a move that is not a placement; a kept hand has none."""
        variant, state = self.variant, states[n : n + 1]
        seat, move = int(state["seat"][0]), variant.decode(state, action)
        if move.kind == "exchange":
            return json_text(Exchange(seat, move.tiles or variant.hand_of(state, seat)))
        return json_text(Pass(seat)) if move.kind == "pass" else None


class _Frame(NamedTuple):
    """The text of an event before and after one of its values."""

    before: str
    after: str


class _ChanceFrames(dict[tuple[int, Seat, str], _Frame]):
    """Texts around the tiles of events of chance, by phase, seat and source.

    Draws that belong to the same event have the same object.
    """

    def __init__(self) -> None:
        super().__init__()
        self._removed = _framed(Removed(()), "[]")
        self._start = _framed(Start(()), "[]")

    def __missing__(self, key: tuple[int, Seat, str]) -> _Frame:
        phase, seat, source = key
        if phase == DRAW:
            frame = _framed(Draw(seat, (), source), "[]")
        else:
            frame = self._removed if phase == REMOVE else self._start
        self[key] = frame
        return frame


def _framed(event: Event, empty: str) -> _Frame:
    """Return the text of an event around its only empty list or object."""
    before, _, after = json_text(event).partition(empty)
    return _Frame(before, after)


def json_text(value: object) -> str:
    """Return a value as JSON, as in records."""
    return _ENCODER.encode(value).decode()
