"""Play thousands of games at once and measure how random moves lower the result of greedy play.

Usage: python examples/batch_rollouts.py hex --games 2000
"""

import argparse
import time

import numpy as np

from axiogames.batch import Batch
from axiogames.games import GAMES


def play(game: str, games: int, epsilon: float, seed: int) -> tuple[float, int]:
    """Play whole games for two and return the mean of the lowest tracks and the number of moves.

    Args:
        game: id of the game.
        games: number of parallel games.
        epsilon: probability of a random move; all other moves take the most points.
        seed: seed of the deals and of the moves.
    """
    batch = Batch(game, players=2, games=games, seed=seed, auto_reset=False)
    rng = np.random.default_rng(seed)
    moves = 0
    while not batch.over.all():
        moves += int(games - batch.over.sum())
        explore = rng.random(games) < epsilon
        batch.step(np.where(explore, batch.sample(), batch.greedy()))
    return float(batch.finals.min(axis=-1).mean()), moves


def main() -> None:
    """Print the mean result for each probability of a random move."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("game", nargs="?", default="axio", choices=GAMES)
    options.add_argument("--games", type=int, default=1000, help="parallel games")
    options.add_argument("--seed", type=int, default=1)
    arguments = options.parse_args()
    play(arguments.game, 1, 0.0, 0)  # compiles the rules
    for epsilon in (0.0, 0.1, 0.5, 1.0):
        start = time.perf_counter()
        lowest, moves = play(arguments.game, arguments.games, epsilon, arguments.seed)
        seconds = time.perf_counter() - start
        print(f"{epsilon:4.0%} random: lowest track {lowest:5.2f} ({moves / seconds:,.0f} moves/s)")


if __name__ == "__main__":
    main()
