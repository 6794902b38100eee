"""A whole game between players, from a seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..games import find_variant
from ..model.table import Table
from ..rng import Generator
from .interface import Budget, Player


def play_match(
    game: str,
    players: Sequence[Player],
    seed: int | str,
    *,
    options: Mapping[str, bool] | None = None,
    budget: Budget | None = None,
) -> Table:
    """The table of a game that these players have played to its end.

    The deal and every player have generators of their own, so that thinking never changes the deal.
    """
    table = Table(find_variant(game, len(players), options), seed)
    rng = [Generator(f"{seed}/player {seat}") for seat in range(len(players))]
    budget = budget or Budget()
    while (seat := table.turn) is not None:
        table.play(players[seat].choose(table.view(seat), budget, rng[seat]).move)
    return table
