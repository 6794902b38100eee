"""The text form of positions, one line each.

    axio 2 - board=9/9/… hands=BB,GO;?,? bag=RR4,RG7 scores=0,0,1,0,0;… seat=0 phase=place due=0 …

A line contains the game, the number of players, the options (`-` for none), and fields in a fixed order.
Hidden tiles are `?`; they are counted in the bag, together with the tiles that are in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from ..errors import AxioError, ParseError, abbreviated
from ..games import find_variant
from ..games.invariants import PHASE_NAMES
from ..games.runtime.state import HIDDEN
from ..games.variant import State, Variant

NONE = "-"
MAX_LENGTH = 8_000  # characters; the longest position of the built-in games has about 1,200


def write_position(variant: Variant, state: State) -> str:
    """Return the text of a state."""
    fields = {
        "board": variant.write_board(state),
        "hands": ";".join(_tiles(variant.hand_of(state, seat)) for seat in range(variant.players)),
        "bag": _write_counts(variant, state["bag"][0]),
        "scores": ";".join(",".join(map(str, row)) for row in state["scores"][0, : variant.players].tolist()),
        "seat": str(state["seat"][0]),
        "phase": PHASE_NAMES[int(state["phase"][0])],
        "due": str(state["due"][0]),
    }
    for name in variant.counters:
        fields[name] = ",".join(str(int(value)) for value in np.atleast_1d(state[name][0]))
    if "aside" in state.dtype.names:
        aside = state["aside"][0, : state["n_aside"][0]].tolist()
        fields["aside"] = _tiles([variant.tile_name(kind) for kind in aside])
    if "removed" in state.dtype.names:
        fields["removed"] = _write_removed(variant, state)
    head = (variant.game.id, str(variant.players), ",".join(variant.options) or NONE)
    return " ".join((*head, *(f"{name}={value}" for name, value in fields.items())))


def read_position(text: str) -> tuple[Variant, State]:
    """Parse the text of a position.

    Raises:
        ParseError: the text is not a position, or no game can reach it.
    """
    variant, state = parse_unchecked(text)
    try:
        variant.check_reachable(state)
    except ParseError as error:
        raise ParseError(f"position: {error}") from None
    return variant, state


def parse_unchecked(text: str) -> tuple[Variant, State]:
    """Parse the text of a position without checking that a game can reach it. Raises `ParseError`.

    Compiled rules rely on the invariants of reachable states. Use this for trusted texts only, as in tests.
    """
    if not isinstance(text, str):
        raise ParseError(f"a position is a line of text, not {abbreviated(text)}")
    if len(text) > MAX_LENGTH:
        raise ParseError(f"the text has {len(text)} characters, a position has at most {MAX_LENGTH}")
    words = text.split()
    if len(words) < 3:
        raise ParseError(
            "a position starts with game, number of players and options, such as 'axio 2 - board=…'"
        )
    name, players, options, *rest = words
    try:
        chosen = dict.fromkeys([] if options == NONE else options.split(","), True)
        variant = find_variant(name, int(players) if re.fullmatch("[0-9]", players) else -1, chosen)
    except AxioError as error:
        raise ParseError(f"position: {error}") from None
    fields = dict(word.partition("=")[::2] for word in rest)
    state = variant.new_state()
    expected = field_names(variant)
    if list(fields) != expected or len(rest) != len(expected):
        raise ParseError(f"position: {name} has the fields {' '.join(expected)}, in this order")
    readers: dict[str, Callable[[Variant, State, str], None]] = {
        "board": lambda v, s, value: v.read_board(s, value),
        "hands": _read_hands,
        "bag": lambda v, s, value: s["bag"].__setitem__(0, _read_counts(v, value)),
        "scores": _read_scores,
        "phase": _read_phase,
        "aside": _read_aside,
        "removed": _read_removed,
    }
    for field, value in fields.items():
        try:
            readers.get(field, _counter_reader(field))(variant, state, value)
        except ParseError as error:
            raise ParseError(f"position, {field}: {error}") from None
    _finish(state, fields.get("removed", NONE))
    return variant, state


def field_names(variant: Variant) -> list[str]:
    """Return the names of the fields of a position of this game, in order."""
    extra = [name for name in ("aside", "removed") if name in variant.opening.dtype.names]
    return ["board", "hands", "bag", "scores", "seat", "phase", "due", *variant.counters, *extra]


def _tiles(tiles: Sequence[str]) -> str:
    return ",".join(tiles) or NONE


def _write_counts(variant: Variant, counts: np.ndarray) -> str:
    return _tiles(
        [f"{tile}{count}" for tile, count in zip(variant.kinds, counts.tolist(), strict=True) if count]
    )


def _read_counts(variant: Variant, text: str) -> list[int]:
    counts = [0] * len(variant.kinds)
    for item in [] if text == NONE else text.split(","):
        found = re.fullmatch(r"([A-Z_]{1,8})([0-9]{1,3})", item)
        kind = variant.kind_of(found[1]) if found else None
        if found is None or kind is None:
            raise ParseError(f"{item!r} is not a tile and its number, such as {variant.kinds[0]}1")
        if counts[kind]:
            raise ParseError(f"{item!r} repeats a tile")
        counts[kind] = int(found[2])
        if counts[kind] > (available := variant.tileset[variant.kinds[kind]]):
            raise ParseError(f"{item!r}: the game has {available} of this tile")
    return counts


def _read_tiles(variant: Variant, text: str, limit: int) -> list[int]:
    tiles = [] if text == NONE else text.split(",")
    if len(tiles) > limit:
        raise ParseError(f"{len(tiles)} tiles, more than the limit of {limit}")
    kinds = [HIDDEN if tile == "?" else variant.kind_of(tile) for tile in tiles]
    for tile, kind in zip(tiles, kinds, strict=True):
        if kind is None:
            raise ParseError(f"there is no tile {tile!r}")
    return sorted(kind for kind in kinds if kind is not None)


def _read_hands(variant: Variant, state: State, text: str) -> None:
    hands = text.split(";")
    if len(hands) != variant.players:
        raise ParseError(f"{len(hands)} hands for {variant.players} players")
    for seat, hand in enumerate(hands):
        kinds = _read_tiles(variant, hand, variant.hand)
        if HIDDEN in kinds and kinds != [HIDDEN] * len(kinds):
            raise ParseError("a hand is known or hidden, not both")
        state["hands"][0, seat, : len(kinds)] = kinds
        state["held"][0, seat] = len(kinds)


def _read_aside(variant: Variant, state: State, text: str) -> None:
    kinds = _read_tiles(variant, text, variant.hand)
    state["aside"][0, : len(kinds)] = kinds[::-1]  # the rules set a hand aside in reverse order
    state["n_aside"] = len(kinds)


def _read_scores(variant: Variant, state: State, text: str) -> None:
    rows = text.split(";")
    if len(rows) != variant.players:
        raise ParseError(f"{len(rows)} rows of scores for {variant.players} players")
    for seat, row in enumerate(rows):
        points = row.split(",")
        limit = variant.cap if variant.cap is not None else np.iinfo(state["scores"].dtype).max
        if len(points) != len(variant.tracks):
            raise ParseError(f"{row!r} should be {len(variant.tracks)} numbers")
        if not all(re.fullmatch("[0-9]{1,5}", n) and int(n) <= limit for n in points):
            raise ParseError(f"{row!r} should be numbers from 0 to {limit}")
        state["scores"][0, seat] = [int(n) for n in points]


def _read_phase(variant: Variant, state: State, text: str) -> None:
    phases = {name: phase for phase, name in PHASE_NAMES.items()}
    if text not in phases:
        raise ParseError(f"{text!r} should be one of {' '.join(phases)}")
    state["phase"] = phases[text]


def _counter_reader(field: str) -> Callable[[Variant, State, str], None]:
    def read(variant: Variant, state: State, text: str) -> None:
        size = np.atleast_1d(state[field][0]).size
        if not re.fullmatch("[0-9]{1,3}(,[0-9]{1,3})*", text) or len(text.split(",")) != size:
            raise ParseError(f"{text!r} should be {size} number{'s' if size > 1 else ''}")
        values = [int(n) for n in text.split(",")]
        limit = variant.players - 1 if field == "seat" else 1 if state.dtype[field] == np.bool_ else 127
        if max(values) > limit:
            raise ParseError(f"{text} is too large: it can be at most {limit}")
        state[field][0] = values if size > 1 else values[0]

    return read


def _write_removed(variant: Variant, state: State) -> str:
    if state["removed"][0].any():
        return _write_counts(variant, state["removed"][0])
    hidden = int(state["unseen"][0] - state["in_bag"][0]) - _hidden(state)
    return f"?{hidden}" if hidden else NONE


def _read_removed(variant: Variant, state: State, text: str) -> None:
    if not re.fullmatch(r"\?[0-9]{1,3}", text):
        state["removed"][0] = _read_counts(variant, text)


def _hidden(state: State) -> int:
    """Return the number of hidden tiles, in hands or set aside."""
    count = int((state["hands"][0] == HIDDEN).sum())
    return count + (int((state["aside"][0] == HIDDEN).sum()) if "aside" in state.dtype.names else 0)


def _finish(state: State, removed: str) -> None:
    """Set the derived fields."""
    unseen = int(state["bag"][0].sum())
    hidden_removed = int(removed[1:]) if removed.startswith("?") else 0
    in_bag = unseen - _hidden(state) - hidden_removed
    if in_bag < 0:
        raise ParseError("position: more tiles are hidden than are unseen")
    state["unseen"], state["in_bag"] = unseen, in_bag
