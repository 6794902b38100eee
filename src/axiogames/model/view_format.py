"""The encoding `axio-view/1` of a state, usually a redacted one, as plain data for JSON.

docs/reference/view_format.md describes it. A complete view has every field; a change has those that differ
from the state before it. Fields that follow from others are left out, and decoding recomputes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import ParseError, abbreviated
from ..games.invariants import PHASE_NAMES
from ..games.runtime.state import HIDDEN, NO_TILE
from ..games.runtime.view_loops import restore_derived
from ..games.variant import State, Variant, copied

FORMAT = "axio-view/1"
BOARD = "board"
# Lists of tiles, and the fields with their lengths.
LENGTHS = {"hands": "held", "aside": "n_aside"}
SPARSE = ("bag", "removed")  # counts by kind, of which only those that differ are written
BY_SEAT = ("scores", "stack")
NOT_WRITTEN = ("unseen", "pad", *LENGTHS.values())
PHASES = {name: phase for phase, name in PHASE_NAMES.items()}

View = dict[str, Any]


def encode_view(variant: Variant, state: State) -> View:
    """Return a state as a complete view.

    Args:
        variant: The game, its number of players and its options.
        state: The state. Redact it before it leaves the table, see `Table.view`.
    """
    view: View = {"format": FORMAT}
    for name in fields_of(variant):
        view[name] = _encode(variant, name, variant.opening, state)
    return view


def encode_change(variant: Variant, before: State, after: State) -> View:
    """Return the fields of `after` that differ from those of `before`."""
    change: View = {}
    for name in fields_of(variant):
        if _differs(variant, name, before, after):
            change[name] = _encode(variant, name, before, after)
    return change


def decode_view(variant: Variant, view: object) -> State:
    """Return the state of a complete view.

    Raises:
        ParseError: The view is malformed, or no game reaches its state.
    """
    if not isinstance(view, Mapping) or view.get("format") != FORMAT:
        raise ParseError(f"a view has the format {FORMAT!r}: {abbreviated(view)}")
    fields = {name: value for name, value in view.items() if name != "format"}
    if missing := [name for name in fields_of(variant) if name not in fields]:
        raise ParseError(f"the view lacks {', '.join(missing)}")
    return _decode(variant, variant.opening, fields)


def apply_change(variant: Variant, before: State, change: object) -> State:
    """Return the state after a change.

    Args:
        variant: The game, its number of players and its options.
        before: The state that the change follows.
        change: The change, from `encode_change`.

    Raises:
        ParseError: The change is malformed, or no game reaches the state after it.
    """
    if not isinstance(change, Mapping):
        raise ParseError(f"a change is an object with the fields that differ, not {abbreviated(change)}")
    return _decode(variant, before, change)


def fields_of(variant: Variant) -> tuple[str, ...]:
    """Return the names of the fields of a complete view."""
    names = variant.opening.dtype.names
    left_out = {*NOT_WRITTEN, *variant.derived, variant.board}
    return (*(name for name in names if name not in left_out), BOARD)


# ---------------------------------------------------------------- encoding


def _differs(variant: Variant, name: str, before: State, after: State) -> bool:
    names = (variant.board if name == BOARD else name, LENGTHS.get(name))
    return any(before[field].tobytes() != after[field].tobytes() for field in names if field)


def _encode(variant: Variant, name: str, before: State, after: State) -> Any:
    """Return the value of a field; of sparse ones, what differs from `before`."""
    if name == BOARD:
        old, new = variant.contents(before), variant.contents(after)
        changed = np.flatnonzero(old != new).tolist()
        return [[*variant.address_of(after, cell), int(new[cell])] for cell in changed]
    value = after[name][0]
    if name == "phase":
        return PHASE_NAMES[int(value)]
    if name == "hands":
        held = after["held"][0].tolist()
        return [_tiles(value[seat], held[seat]) for seat in range(variant.players)]
    if name in LENGTHS:
        return _tiles(value, int(after[LENGTHS[name]][0]))
    if name in SPARSE:
        return [[kind, int(value[kind])] for kind in np.flatnonzero(before[name][0] != value).tolist()]
    return value[: variant.players].tolist() if name in BY_SEAT else value.tolist()


def _tiles(kinds: np.ndarray, count: int) -> list[int] | int:
    """Return a list of tiles, or their number if they are hidden."""
    return count if count and kinds[0] == HIDDEN else kinds[:count].tolist()


# ---------------------------------------------------------------- decoding


def _decode(variant: Variant, before: State, fields: Mapping[Any, Any]) -> State:
    """Return a copy of `before` with other values of some fields, after all checks."""
    known = fields_of(variant)
    state = copied(before)
    for name, value in fields.items():
        if name not in known:
            raise ParseError(f"unknown field {abbreviated(name)}; a view has {', '.join(known)}")
        _write(variant, state, name, value)
    variant.kernels[restore_derived](variant.constants, state)
    for *address, _ in fields.get(BOARD, ()):
        if variant.address_of(state, variant.cell_at(address)) != tuple(address):
            raise ParseError(f"`board`: {address} is not adjacent to the other tiles")
    variant.check_state(state)
    return state


def _write(variant: Variant, state: State, name: str, value: object) -> None:
    """Write a field. Raises `ParseError` if its value does not have the right form."""
    if name == BOARD:
        allowed = variant.allowed_contents
        for row in _list(name, value):
            *address, content = _integers(name, row, variant.cell_columns + 1)
            cell = variant.cell_at(address)
            if cell < 0 or content not in allowed:
                raise ParseError(f"`board`: {abbreviated(row)} is not a cell with a content of this game")
            state[variant.board][0, cell] = content
    elif name == "phase":
        if not isinstance(value, str) or value not in PHASES:
            raise ParseError(f"`phase` is one of {', '.join(PHASES)}, not {abbreviated(value)}")
        state["phase"] = PHASES[value]
    elif name == "hands":
        for seat, tiles in enumerate(_list(name, value, variant.players)):
            state["held"][0, seat] = _write_tiles(variant, name, tiles, state["hands"][0, seat])
    elif name in LENGTHS:
        state[LENGTHS[name]] = _write_tiles(variant, name, value, state[name][0])
    elif name in SPARSE:
        for row in _list(name, value):
            kind, count = _integers(name, row, 2)
            if not 0 <= kind < len(variant.kinds):
                raise ParseError(f"`{name}`: there is no kind {kind}: 0 to {len(variant.kinds) - 1}")
            _assign(name, state[name][0], kind, count)
    else:
        _write_numbers(variant, state, name, value)


def _write_tiles(variant: Variant, name: str, value: object, kinds: np.ndarray) -> int:
    """Write a list of tiles, or the number of hidden ones, and return their number."""
    if isinstance(value, list):
        tiles = _integers(name, value)
        if any(not 0 <= kind < len(variant.kinds) for kind in tiles):
            raise ParseError(
                f"`{name}`: a kind of tile is 0 to {len(variant.kinds) - 1}: {abbreviated(value)}"
            )
    else:
        (count,) = _integers(name, [value])
        tiles = [HIDDEN] * min(max(count, 0), len(kinds) + 1)
    if len(tiles) > len(kinds):
        raise ParseError(f"`{name}`: {abbreviated(value)} has more than {len(kinds)} tiles")
    kinds[:] = NO_TILE
    kinds[: len(tiles)] = tiles
    return len(tiles)


def _write_numbers(variant: Variant, state: State, name: str, value: object) -> None:
    """Write a number, a flag, or an array of numbers."""
    target = state[name][0] if state[name].ndim > 1 else state[name]
    if target.dtype == np.bool_:
        if not isinstance(value, bool):
            raise ParseError(f"`{name}` is true or false, not {abbreviated(value)}")
        target[:] = value
        return
    rows = variant.players if name in BY_SEAT else len(target)
    values = _list(name, value, rows) if state[name].ndim > 1 else [value]
    for index, entry in enumerate(values):
        if target.ndim > 1:
            for column, number in enumerate(_integers(name, entry, target.shape[1])):
                _assign(name, target[index], column, number)
        else:
            _assign(name, target, index, _integers(name, [entry])[0])


def _assign(name: str, array: np.ndarray, index: int, number: int) -> None:
    limits = np.iinfo(array.dtype)
    if not limits.min <= number <= limits.max:
        raise ParseError(f"`{name}`: {number} is out of range: {limits.min} to {limits.max}")
    array[index] = number


def _list(name: str, value: object, length: int | None = None) -> list[Any]:
    if not isinstance(value, list) or (length is not None and len(value) != length):
        size = "" if length is None else f" of {length} entries"
        raise ParseError(f"`{name}` is a list{size}, not {abbreviated(value)}")
    return value


def _integers(name: str, value: object, length: int | None = None) -> list[int]:
    values = _list(name, value, length)
    if any(type(number) is not int for number in values):
        raise ParseError(f"`{name}` consists of integers, not {abbreviated(value)}")
    return values
