"""Read a dataset: how often does each bot take the most points, and how often does it win?

Usage:
    axio dataset axio --bots greedy,balanced --games 20 --seed 1 --out games.parquet
    python examples/read_dataset.py games.parquet

Needs `pip install ".[data]"`, run in the source folder.
"""

import argparse

import numpy as np

from axiogames.analysis import dataset
from axiogames.model.view import View


def took_most_points(variant, state, seat: int, action: int) -> bool:
    """Return whether no legal move of a position scores more points than the recorded one."""
    view = View(variant, state, seat, ())
    moves = view.legal_moves()
    points = view.gains(moves).sum(axis=1)
    return bool(points[moves.actions.tolist().index(action)] == points.max())


def main() -> None:
    """Print the statistics of each bot."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("file", help="a dataset, as a Parquet file")
    options.add_argument("--positions", type=int, default=500, help="number of positions to read")
    arguments = options.parse_args()
    table = dataset.read(arguments.file).slice(0, arguments.positions)
    variant = dataset.metadata(table).settings.variant
    states = dataset.states(table)
    seats, actions = table["seat"].to_pylist(), table["action"].to_pylist()
    took_most = np.array(
        [
            took_most_points(variant, states[n : n + 1], seat, action)
            for n, (seat, action) in enumerate(zip(seats, actions, strict=True))
        ]
    )
    bots, won = np.array(table["bot"].to_pylist()), np.array(table["won"].to_pylist(), float)
    for bot in sorted(set(bots)):
        rows = bots == bot
        print(
            f"{bot:10} {rows.sum():4} positions, {took_most[rows].mean():4.0%} with the most points, "
            f"{won[rows].mean():4.0%} in games it won"
        )


if __name__ == "__main__":
    main()
