"""Legal moves as JSON: columns of numbers.

Compiled loops write the columns, because a list of legal moves has thousands of numbers.
"""

from __future__ import annotations

from functools import cache
from typing import Any, cast

import msgspec
import numpy as np
from msgspec import Raw

from ...games.runtime.compile import entry_point
from ...games.variant import Variant
from ...model.position import Position
from ...web.board_json import board_encoder
from .messages import OfferedMoves, OtherMove

_JSON = msgspec.json.Encoder()

# ------------------------------------------------------------ columns of numbers

# The loops call no functions of other files, so Numba's cache detects every change. They are not compiled
# with the decorators of the rules: otherwise an edit of this file would recompile all rules.

ZERO, MINUS, COMMA, OPEN, CLOSE = (ord(sign) for sign in "0-,[]")
MAX_NUMBER_BYTES = 21  # an int64 and the comma after it


def _put(out: Any, at: Any, number: Any) -> Any:
    """Write a number at an offset and return the offset after it."""
    if number < 0:
        out[at] = MINUS
        at += 1
        number = -number
    digits = 1
    power = 10
    while number >= power:
        digits += 1
        power *= 10
    for offset in range(at + digits - 1, at - 1, -1):
        out[offset] = ZERO + number % 10
        number //= 10
    return at + digits


def _write(rows: Any, out: Any, flat: Any) -> Any:
    """Write rows of numbers as a list of lists, or as one list if `flat`, and return the number of bytes."""
    out[0] = OPEN
    at = 1
    for row in range(rows.shape[0]):
        if row > 0:
            out[at] = COMMA
            at += 1
        if not flat:
            out[at] = OPEN
            at += 1
        for column in range(rows.shape[1]):
            if column > 0:
                out[at] = COMMA
                at += 1
            at = put(out, at, np.int64(rows[row, column]))
        if not flat:
            out[at] = CLOSE
            at += 1
    out[at] = CLOSE
    return at + 1


def _rank(numbers: Any, ranks: Any, values: Any) -> Any:
    """Write the distinct numbers, ascending, to `values` and their indices to `ranks`; return their count."""
    for n in range(len(numbers)):
        ranks[numbers[n]] = 1
    count = 0
    for number in range(len(ranks)):
        if ranks[number]:
            values[count] = number
            ranks[number] = count
            count += 1
    return count


put = entry_point(_put)
write = entry_point(_write)
rank = entry_point(_rank)


def prepare() -> None:
    """Compile or load the loops, so that no table waits for them."""
    column_as_json(np.zeros(1, np.int64))
    rows_as_json(np.zeros((1, 1), np.int16))
    distinct(np.zeros(1, np.int64))


def column_as_json(numbers: np.ndarray) -> bytes:
    """Return numbers as a JSON list."""
    # Always the same type: the loop would be compiled again for any other.
    return _json(numbers.astype(np.int64, copy=False).reshape(-1, 1), True)


def rows_as_json(rows: np.ndarray) -> bytes:
    """Return rows of small numbers as a JSON list of lists."""
    return _json(rows.astype(np.int16, copy=False), False)


def _json(rows: np.ndarray, flat: bool) -> bytes:
    out = np.empty(MAX_NUMBER_BYTES * rows.size + 2 * len(rows) + 2, np.uint8)
    return out[: write(rows, out, flat)].tobytes()


def distinct(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct numbers in ascending order, and for each number its index among them.

    No number may be negative.
    """
    numbers = numbers.astype(np.int64, copy=False)
    if not len(numbers):
        return numbers, numbers
    ranks = np.zeros(int(numbers.max()) + 1, np.int64)
    values = np.empty(len(numbers), np.int64)
    count = rank(numbers, ranks, values)
    return values[:count], ranks[numbers]


# ------------------------------------------------------------ moves


class MoveEncoder:
    """Encodes the legal moves of one variant. Places are cached."""

    def __init__(self, variant: Variant) -> None:
        self._variant = variant
        self._board = board_encoder(variant)
        self._rows: dict[int, bytes] = {}
        self._kinds: dict[str, int | None] = {}

    def moves(self, position: Position) -> OfferedMoves | None:
        """Return the moves of the seat to move as the JSON of `OfferedMoves`, `None` if there are none."""
        variant, state = self._variant, position.state
        legal = position.legal_moves()
        if not len(legal):
            return None
        count = int(legal.actions.searchsorted(variant.placements))
        ways, places, named = variant.parts(legal.actions[:count])
        way_numbers, look = distinct(ways)
        place_numbers, place = distinct(places)
        looks = [variant.oriented(state, way) for way in way_numbers.tolist()]
        seat = int(state["seat"][0])
        hand = state["hands"][0, seat, : state["held"][0, seat]].tolist()
        hand_index = np.array([hand.index(self._kind(letters)) for letters in looks], np.int64)
        columns = {
            "places": b"[%b]" % b",".join(self._place_rows(position, place_numbers.tolist())),
            "looks": _JSON.encode(looks),
            "tile": column_as_json(hand_index[look]),
            "look": column_as_json(look),
            "place": column_as_json(place),
            "named": _JSON.encode(self._named(named)),
            "gain": rows_as_json(position.gains(legal[:count])),
            "others": _JSON.encode([OtherMove(move.kind, move.tiles) for move in legal[count:]]),
        }
        text = b"{%b}" % b",".join(b'"%b":%b' % (name.encode(), text) for name, text in columns.items())
        # The text is already JSON. The declared type describes its content and appears in the OpenAPI schema.
        return cast(OfferedMoves, Raw(text))

    def _kind(self, letters: str) -> int | None:
        if letters not in self._kinds:
            self._kinds[letters] = self._variant.kind_of(letters)
        return self._kinds[letters]

    def _place_rows(self, position: Position, numbers: list[int]) -> list[bytes]:
        """Return the rows of `OfferedMoves.places` as JSON."""
        rows = self._rows
        if self._variant.grows:
            rows = {}  # the numbers of the places change with every placement
        for number in numbers:
            if number not in rows:
                cells = self._variant.cells_of(position.state, number)
                rows[number] = _JSON.encode((*self._board.place(cells), "-".join(cells)))
        return [rows[number] for number in numbers]

    def _named(self, numbers: np.ndarray) -> list[str] | None:
        """Return the colour that each placement names, empty for none; `None` if no placement names one."""
        if not numbers.any():
            return None
        letters = ("", *self._variant.colours)
        return [letters[number] for number in numbers.tolist()]


@cache
def move_encoder(variant: Variant) -> MoveEncoder:
    """Return the encoder of a variant."""
    return MoveEncoder(variant)
