"""Positions to search: early, middle and late positions from games of a fixed player."""

from __future__ import annotations

from axiogames.model.table import Table, new_game
from axiogames.model.view import View
from axiogames.players import Budget, player
from axiogames.rng import Generator

STAGES = {"early": 1 / 6, "middle": 1 / 2, "late": 5 / 6}  # of a game's moves
PLAYER = "balanced"
SEEDS = (1, 2, 3, 4)


def positions(game: str, players: int) -> dict[str, tuple[View, ...]]:
    """Return one view per game for each stage of the game. The result is deterministic."""
    tables = [_played(game, players, seed) for seed in SEEDS]
    return {stage: tuple(_view_at(table, share) for table in tables) for stage, share in STAGES.items()}


def _played(game: str, players: int, seed: int) -> Table:
    table, rng = new_game(game, players, seed=seed), Generator(f"{seed}/bench")
    while (seat := table.turn) is not None:
        table.play(player(PLAYER).choose(table.view(seat), Budget(), rng).move)
    return table


def _view_at(played: Table, share: float) -> View:
    """Return the first view after this share of the game that has several legal moves."""
    moves = played.moves
    table = Table(played.variant, played.seed)
    for ply, move in enumerate(moves):
        if ply >= share * len(moves) and len(table.legal_moves()) > 1:
            break
        table.play(move)
    assert table.turn is not None, "late positions have several legal moves"
    return table.view(table.turn)
