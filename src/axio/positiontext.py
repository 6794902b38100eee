"""A position as one line of text, and back.

    axio 2 - board=9/9/… hands=BB,GO;?,? bag=RR4,RG7 scores=0,0,1,0,0;… seat=0 phase=place due=0 …

First the game, the number of players and the options (`-` for none), then fields in a fixed order.
Hidden tiles are `?`: the bag then counts every tile that is not seen, wherever it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from .engine.phases import DRAW, HIDDEN, OFFER, OVER, PLACE, REMOVE, START
from .errors import AxioError, BadText
from .games import find_variant
from .games.variant import State, Variant

PHASES = {"over": OVER, "place": PLACE, "offer": OFFER, "draw": DRAW, "start": START, "remove": REMOVE}
NONE = "-"


def write_position(variant: Variant, state: State) -> str:
    """A state as one line."""
    phases = {number: name for name, number in PHASES.items()}
    fields = {
        "board": variant.write_board(state),
        "hands": ";".join(_tiles(variant.hand_of(state, seat)) for seat in range(variant.players)),
        "bag": _write_counts(variant, state["bag"][0]),
        "scores": ";".join(",".join(map(str, row)) for row in state["scores"][0, : variant.players].tolist()),
        "seat": str(state["seat"][0]),
        "phase": phases[int(state["phase"][0])],
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
    """The game and the state that a line describes. Raises `BadText` saying what is wrong with it."""
    words = text.split()
    if len(words) < 3:
        raise BadText(
            "a position starts with game, number of players and options, such as 'axio 2 - board=…'"
        )
    name, players, options, *rest = words
    try:
        chosen = dict.fromkeys([] if options == NONE else options.split(","), True)
        variant = find_variant(name, int(players) if players.isdigit() else -1, chosen)
    except AxioError as error:
        raise BadText(f"position: {error}") from None
    fields = dict(word.partition("=")[::2] for word in rest)
    state = variant.new_state()
    expected = field_names(variant)
    if list(fields) != expected or len(rest) != len(expected):
        raise BadText(f"a position of {name} has the fields {' '.join(expected)}, in this order")
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
        except BadText as error:
            raise BadText(f"position, {field}: {error}") from None
    _finish(variant, state, fields.get("removed", NONE))
    return variant, state


def field_names(variant: Variant) -> list[str]:
    """The names of the fields of a position of this game, in their order."""
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
        found = re.fullmatch(r"([A-Z_]+)(\d+)", item)
        kind = variant.kind_of(found[1]) if found else None
        if found is None or kind is None:
            raise BadText(f"{item!r} should be a tile and a number, such as {variant.kinds[0]}1")
        counts[kind] += int(found[2])
        if counts[kind] > variant.tileset[variant.kinds[kind]]:
            raise BadText(f"{item!r} is more than there are of that tile")
    return counts


def _read_tiles(variant: Variant, text: str, most: int) -> list[int]:
    tiles = [] if text == NONE else text.split(",")
    if len(tiles) > most:
        raise BadText(f"{len(tiles)} tiles, there can be {most}")
    kinds = [HIDDEN if tile == "?" else variant.kind_of(tile) for tile in tiles]
    for tile, kind in zip(tiles, kinds, strict=True):
        if kind is None:
            raise BadText(f"there is no tile {tile!r}")
    return sorted(kind for kind in kinds if kind is not None)


def _read_hands(variant: Variant, state: State, text: str) -> None:
    hands = text.split(";")
    if len(hands) != variant.players:
        raise BadText(f"{len(hands)} hands for {variant.players} players")
    for seat, hand in enumerate(hands):
        kinds = _read_tiles(variant, hand, variant.hand)
        if HIDDEN in kinds and kinds != [HIDDEN] * len(kinds):
            raise BadText("a hand is known or hidden, not both")
        state["hands"][0, seat, : len(kinds)] = kinds
        state["held"][0, seat] = len(kinds)


def _read_aside(variant: Variant, state: State, text: str) -> None:
    kinds = _read_tiles(variant, text, variant.hand)
    state["aside"][0, : len(kinds)] = kinds[::-1]  # the rules lay a hand aside from its end
    state["n_aside"] = len(kinds)


def _read_scores(variant: Variant, state: State, text: str) -> None:
    rows = text.split(";")
    if len(rows) != variant.players:
        raise BadText(f"{len(rows)} rows of scores for {variant.players} players")
    for seat, row in enumerate(rows):
        points = row.split(",")
        most = variant.cap if variant.cap is not None else np.iinfo(state["scores"].dtype).max
        if len(points) != len(variant.tracks):
            raise BadText(f"{row!r} should be {len(variant.tracks)} numbers")
        if not all(re.fullmatch(r"\d{1,5}", n) and int(n) <= most for n in points):
            raise BadText(f"{row!r} should be numbers from 0 to {most}")
        state["scores"][0, seat] = [int(n) for n in points]


def _read_phase(variant: Variant, state: State, text: str) -> None:
    if text not in PHASES:
        raise BadText(f"{text!r} should be one of {' '.join(PHASES)}")
    state["phase"] = PHASES[text]


def _counter_reader(field: str) -> Callable[[Variant, State, str], None]:
    def read(variant: Variant, state: State, text: str) -> None:
        size = np.atleast_1d(state[field][0]).size
        if not re.fullmatch(r"\d{1,3}(,\d{1,3})*", text) or len(text.split(",")) != size:
            raise BadText(f"{text!r} should be {size} number{'s' if size > 1 else ''}")
        values = [int(n) for n in text.split(",")]
        if max(values) > 127 or (field == "seat" and values[0] >= variant.players):
            raise BadText(f"{text} is too large")
        state[field][0] = values if size > 1 else values[0]

    return read


def _write_removed(variant: Variant, state: State) -> str:
    if state["removed"][0].any():
        return _write_counts(variant, state["removed"][0])
    hidden = int(state["unseen"][0] - state["in_bag"][0]) - _hidden(state)
    return f"?{hidden}" if hidden else NONE


def _read_removed(variant: Variant, state: State, text: str) -> None:
    if not re.fullmatch(r"\?\d{1,3}", text):
        state["removed"][0] = _read_counts(variant, text)


def _hidden(state: State) -> int:
    """How many tiles in hands, or laid aside, are not known."""
    count = int((state["hands"][0] == HIDDEN).sum())
    return count + (int((state["aside"][0] == HIDDEN).sum()) if "aside" in state.dtype.names else 0)


def _finish(variant: Variant, state: State, removed: str) -> None:
    """Fill in what follows from the rest, and check that it adds up."""
    unseen = int(state["bag"][0].sum())
    hidden_away = int(removed[1:]) if removed.startswith("?") else 0
    in_bag = unseen - _hidden(state) - hidden_away
    if in_bag < 0:
        raise BadText("position: more tiles are hidden than have not been seen")
    state["unseen"], state["in_bag"] = unseen, in_bag
    known: Counter[int] = Counter(dict(enumerate(state["bag"][0].tolist())))
    for field in ("hands", "aside"):
        if field in state.dtype.names:
            known.update(kind for kind in state[field][0].flat if kind < HIDDEN)
    if "removed" in state.dtype.names:
        known.update(dict(enumerate(state["removed"][0].tolist())))
    for kind, tile in enumerate(variant.kinds):
        if known[kind] > variant.tileset[tile]:
            raise BadText(f"position: {known[kind]} tiles {tile}, there are {variant.tileset[tile]}")
    there, total = known.total() + variant.tiles_laid(state), sum(variant.tileset.values())
    if there > total or (there < total and not variant.tiles_leave):
        raise BadText(f"position: {there} tiles in all, there are {total}")
    if contradiction := variant.contradiction(state):
        raise BadText(f"position: {contradiction}")
    waits_for_chance = state["phase"][0] >= DRAW
    if waits_for_chance != (state["due"][0] > 0) or (waits_for_chance and in_bag < state["due"][0]):
        raise BadText("position: `due` must be above 0, and in the bag, exactly when a draw is due")
    if state["phase"][0] in (PLACE, OFFER):
        hidden = "?" in variant.hand_of(state, int(state["seat"][0]))
        if not hidden and not len(variant.legal_actions(state)):
            raise BadText("position: the seat to move has no move, so the game should be over")
