"""Positions to search: early, middle and late positions from games of a fixed player, and their rollouts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from axiogames.analysis.bench.measure import Workload
from axiogames.model.table import Table, new_game
from axiogames.model.view import View
from axiogames.players import Budget, player
from axiogames.players.evaluation.weights import load_weights
from axiogames.players.search.analysis import analyse
from axiogames.players.search.rollouts import FAST, Rollouts, load_config
from axiogames.players.search.search_loops import MIN_ROLLOUTS
from axiogames.rng import Generator

STAGES = {"early": 1 / 6, "middle": 1 / 2, "late": 5 / 6}  # of a game's moves
PLAYER = "balanced"
SEEDS = (1, 2, 3, 4)  # of the games
SEED = 1  # of the determinizations


def views_by_stage(game: str, players: int) -> dict[str, tuple[View, ...]]:
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


# ---------------------------------------------------------------- rollouts


class SearchPosition:
    """A position with its candidate moves and its rollout configuration."""

    def __init__(self, view: View, pace: str = FAST) -> None:
        self.view = view
        self.variant = view.variant
        self.weights = load_weights(view.variant)
        config = load_config(view.variant, pace)
        self.turns, self.search_after = config.turns, config.search_after
        lines = analyse(view, seed=SEED, rollouts=config.width * MIN_ROLLOUTS).lines
        self.actions = np.sort(np.array([line.action for line in lines], np.int32))

    def rollouts(self, threads: int = 1) -> Rollouts:
        """Return the rollouts of this position, on a number of threads."""
        return Rollouts(self.view, self.weights, SEED, threads, self.search_after)

    def play(self, rollouts: Rollouts, samples: int) -> int:
        """Run rollouts of every candidate on `samples` determinizations and return their number."""
        return sum(stats.rollouts for stats in rollouts.run(self.actions, 0, samples, self.turns))


def rollouts_work(positions: Sequence[SearchPosition], samples: int) -> Workload:
    """Return a workload of rollouts on `samples` determinizations of each position, on one thread."""
    ready = [(position, position.rollouts()) for position in positions]
    return lambda: (sum(position.play(rollouts, samples) for position, rollouts in ready),)
