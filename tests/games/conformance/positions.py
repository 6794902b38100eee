"""Tables for the conformance suite, from games of every variant.

Random play rarely reaches a cap, an extra turn or an empty bag. Tables therefore also come from greedy and
balanced play, and from twisted openings, in which every seat starts a few points below the cap, and in some
the bag is nearly empty.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import pytest

from axiogames.games import GAMES, find_variant, game
from axiogames.games.protocol import MAX_PLAYERS
from axiogames.games.runtime.compile import INTERPRETED
from axiogames.games.runtime.state import REMOVE
from axiogames.games.variant import Variant
from axiogames.model.table import Table
from axiogames.players import Budget, player
from axiogames.rng import Generator


@dataclass(frozen=True)
class Case:
    """A variant under test; its string is the test id."""

    game: str
    players: int
    options: tuple[str, ...] = ()

    def variant(self) -> Variant:
        return find_variant(self.game, self.players, dict.fromkeys(self.options, True))

    def __str__(self) -> str:
        return "-".join((self.game, str(self.players), *self.options))


def cases() -> list[Case]:
    """Return every game for every number of players, with every set of its options."""
    return [
        Case(name, players, options)
        for name in GAMES
        for players in range(1, MAX_PLAYERS + 1)
        for size in range(len(game(name).options) + 1)
        for options in combinations(sorted(option.name for option in game(name).options), size)
    ]


def is_representative(case: Case) -> bool:
    """Return whether a case is part of the suite.

    No rule depends on an option and the number of players at once. Each set of options is therefore tested
    for two players, and only no options and all options for other numbers.
    """
    return case.players == 2 or len(case.options) in (0, len(game(case.game).options))


# Interpreted rules are two thousand times slower, and the larger boards run the same lines.
CASES = [
    case
    for case in cases()
    if is_representative(case) and case.players <= (2 if INTERPRETED else MAX_PLAYERS)
]
# Three players run no code that two and four do not.
EACH, EACH_FOR_SEVERAL = (
    [
        pytest.param(case, marks=[pytest.mark.slow] if case.players == 3 else [])
        for case in CASES
        if case.players >= fewest
    ]
    for fewest in (1, 2)
)
STYLES = ("random", "greedy", "balanced")  # fast players
TWISTS = ("plain", "near the cap", "short of tiles")
FEW = 1 if INTERPRETED else 3


@cache
def twisted(case: Case, twist: str) -> Variant:
    """Return the variant of a case with a twisted opening."""
    variant = case.variant()
    if twist == "plain":
        return variant
    other: Variant = object.__new__(type(variant))  # copying a variant returns the same object
    vars(other).update(vars(variant))
    other.opening = variant.opening.copy()
    if variant.cap is not None:
        other.opening["scores"][0, : case.players] = variant.cap - 4
    if twist == "short of tiles":
        keep_few_tiles(other)
    return other


def keep_few_tiles(variant: Variant) -> None:
    """Leave enough tiles for the deal and a few more, spread evenly over the kinds."""
    opening, fields = variant.opening, variant.opening.dtype.names
    needed, spare = variant.players * variant.hand, 8
    if opening["phase"][0] == REMOVE:
        needed += int(opening["due"][0])
    if "stack" in fields:
        needed = int(opening["due"][0] + opening["stack"][0].sum())
        opening["supply"] = spare = 2
    needed += spare
    all_tiles = [
        kind
        for n in range(max(variant.tileset.values()))
        for kind in variant.kinds
        if variant.tileset[kind] > n
    ]
    kept = Counter(all_tiles[i * len(all_tiles) // needed] for i in range(needed))
    variant.tileset = dict(kept)
    opening["bag"][0] = [kept[kind] for kind in variant.kinds]
    opening["in_bag"] = opening["unseen"] = kept.total()


def play(variant: Variant, styles: Sequence[str], seed: str) -> Iterator[Table]:
    """Yield a table after the deal and after every move of a game between these players."""
    table = Table(variant, seed)
    seats = [player(styles[seat % len(styles)]) for seat in range(variant.players)]
    rng = [Generator(f"{seed}/{seat}") for seat in range(variant.players)]
    yield table
    while (seat := table.turn) is not None:
        table.play(seats[seat].choose(table.view(seat), Budget(), rng[seat]).move)
        yield table


def tables(case: Case, *, twists: Sequence[str] = TWISTS, games: int = FEW) -> Iterator[Table]:
    """Yield tables of a case after every move, from all styles of play."""
    for twist in twists:
        for n in range(games):
            styles = (STYLES[n % len(STYLES)],) if n else STYLES[::-1]
            yield from play(twisted(case, twist), styles, f"{case} {twist} {n}")
