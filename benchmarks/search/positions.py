"""Positions to think about: early, in the middle and late in games that a fixed player has played."""

from __future__ import annotations

from axiogames.model.table import Table, new_game
from axiogames.model.view import View
from axiogames.players import Budget, player
from axiogames.rng import Generator

STAGES = {"early": 1 / 6, "middle": 1 / 2, "late": 5 / 6}  # of a game's moves
PLAYER = "balanced"
SEEDS = (1, 2, 3, 4)


def positions(game: str, players: int) -> dict[str, tuple[View, ...]]:
    """For each stage the views of whoever has to move, one from each game: always the same ones."""
    tables = [_played(game, players, seed) for seed in SEEDS]
    return {stage: tuple(_view_at(table, share) for table in tables) for stage, share in STAGES.items()}


def _played(game: str, players: int, seed: int) -> Table:
    table, rng = new_game(game, players, seed=seed), Generator(f"{seed}/bench")
    while (seat := table.turn) is not None:
        table.play(player(PLAYER).choose(table.view(seat), Budget(), rng).move)
    return table


def _view_at(played: Table, share: float) -> View:
    """The view after so much of a game, or the first one after it in which there is something to choose."""
    moves = played.moves
    table = Table(played.variant, played.seed)
    for number, move in enumerate(moves):
        if number >= share * len(moves) and len(table.legal_moves()) > 1:
            break
        table.play(move)
    assert table.turn is not None, "a game ends with a choice"
    return table.view(table.turn)
