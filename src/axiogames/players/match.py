"""Matches: a whole game between players."""

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
    """Play a game between players to its end.

    The draws and every player have random generators of their own, so no player can change what is drawn.

    Args:
        game: the name of a game, one of `GAMES`.
        players: one player for each seat.
        seed: the seed of the draws and of all players.
        options: options of the game to switch on, by name.
        budget: limits of the computation for each move; by default 1 second.

    Returns:
        The table of the finished game.

    Raises:
        UnknownGame: there is no game of this name.
        InvalidPlayers: the game is not for this number of players.
        InvalidOption: the game has no such option.
        IllegalMove: a player chose a move that breaks a rule.
        EngineError: an external engine failed.

    >>> from axiogames.players import player
    >>> table = play_match("axio", [player("greedy"), player("random")], seed=7)
    >>> table.over, len(table.scores)
    (True, 2)
    """
    table = Table(find_variant(game, len(players), options), seed)
    rng = [Generator(f"{seed}/player {seat}") for seat in range(len(players))]
    budget = budget or Budget()
    while (seat := table.turn) is not None:
        choice = players[seat].choose(table.view(seat), budget, rng[seat])
        if choice.action is None:
            table.play(choice.move)
        else:
            table.play_action(choice.action)
    return table
