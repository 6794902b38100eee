"""Matches: complete games between players."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..games import find_variant
from ..model.table import Table
from ..rng import Generator
from .interface import Budget, Choice, Player


def play_match(
    game: str,
    players: Sequence[Player],
    seed: int | str,
    *,
    options: Mapping[str, bool] | None = None,
    budget: Budget | None = None,
) -> Table:
    """Play a complete game between players.

    The draws and each player have separate random generators, so no player affects the draws.

    Args:
        game: the name of a game, one of `GAMES`.
        players: one player for each seat.
        seed: the seed of the draws and of all players.
        options: options of the game to switch on, by name.
        budget: limits of the search for each move; by default 1 second.

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
        play_choice(table, players[seat].choose(table.view(seat), budget, rng[seat]))
    return table


def play_choice(table: Table, choice: Choice) -> None:
    """Play the move that a player chose. If its action id is known, the move is not encoded.

    Raises:
        IllegalMove: the move breaks a rule. The table is unchanged.
    """
    if choice.action is None:
        table.play(choice.move)
    else:
        table.play_action(choice.action)
