"""Positions in the middle of games, for tests of search."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from axiogames import Table, new_game
from axiogames.games import GAMES, find_variant
from axiogames.games.protocol import MAX_PLAYERS
from axiogames.players import Budget, player
from axiogames.rng import Generator

VARIANTS = [(game, players) for game in GAMES for players in range(1, MAX_PLAYERS + 1)]


def has_own_board(game: str, players: int) -> bool:
    """Return whether a board is used by this number of players only, and needs its own compilation."""
    labels = [find_variant(game, other).kernels.label for other in range(1, MAX_PLAYERS + 1)]
    return labels.count(labels[players - 1]) == 1


# The search of these is compiled and tested by `make slow`; the boards for two and four run the same code.
SLOW_VARIANTS = {variant for variant in VARIANTS if variant[1] == 3 and has_own_board(*variant)}
QUICK_VARIANTS = [variant for variant in VARIANTS if variant not in SLOW_VARIANTS]
EACH_VARIANT = [
    pytest.param(*variant, marks=[pytest.mark.slow] if variant in SLOW_VARIANTS else [])
    for variant in VARIANTS
]


def played(game: str, players: int, plies: int, seed: int = 1, by: str = "greedy") -> Table:
    """Return a table after `plies` moves, or before the last move if the game ends sooner."""
    return _played(game, players, plies, seed, by).copy()


@cache
def _played(game: str, players: int, plies: int, seed: int, by: str) -> Table:
    table = new_game(game, players, seed=seed)
    mover, rng = player(by), Generator(seed)
    for _ in range(plies):
        table.play(mover.choose(table.view(table.turn), Budget(), rng).move)
        if table.over:
            table.undo()
            break
    return table


def redealt(table: Table, seat: int, seed: int) -> Table:
    """Return a table that looks the same to a seat, with other tiles in the hidden hands."""
    other = table.copy()
    state = other.state
    rng = Generator(seed)
    bag, hands, held = state["bag"][0], state["hands"][0], state["held"][0]
    for hidden in range(table.players):
        if hidden == seat:
            continue
        for i in range(int(held[hidden])):
            bag[hands[hidden, i]] += 1
    for hidden in range(table.players):
        if hidden == seat:
            continue
        kinds = sorted(_draw(bag, rng) for _ in range(int(held[hidden])))
        hands[hidden, : len(kinds)] = kinds
    return other


def _draw(bag: np.ndarray, rng: Generator) -> int:
    counts = bag.tolist()
    nth = rng.randint(sum(counts))
    for kind, count in enumerate(counts):
        nth -= count
        if nth < 0:
            bag[kind] -= 1
            return kind
    raise AssertionError("the bag is empty")
