"""Compare the games of the C program with ours, move by move.

Both take the same random numbers in the same order, so it has to play the games that
`Batch.sample` plays.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

import numpy as np

from axiogames.batch import Batch
from axiogames.games import GAMES
from axiogames.games.runtime.xorshift import seed_states

SQUARES = GAMES[0]
MARKS = "x^.01234"  # of cells from -3 on


class GameTrace(NamedTuple):
    """A whole game: action ids, final points of all seats, final board."""

    moves: tuple[int, ...]
    points: tuple[int, ...]
    board: str


def difference(program: Path, games: int) -> str:
    """Describe the first of `games` games of a program that differs from ours; empty if none does."""
    states = seed_states(2, 0, games)
    theirs = shown(program, states)
    for n, (own, other) in enumerate(zip(our_games(states), theirs, strict=True)):
        if own != other:
            return f"game {n} is another one: {own} here, {other} there"
    return ""


def shown(program: Path, states: np.ndarray) -> list[GameTrace]:
    """Return the C program's game for each generator state."""
    command = [str(program), "show", *map(str, states.tolist())]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    found = []
    for line in lines:
        moves, points, board = line.split(" | ")
        found.append(GameTrace(tuple(map(int, moves.split())), tuple(map(int, points.split())), board))
    return found


def our_games(states: np.ndarray) -> list[GameTrace]:
    """Return our game for each generator state."""
    batch = Batch(SQUARES, 2, len(states), auto_reset=False)
    batch.rngs[:] = states
    batch.reset()
    moves: list[list[int]] = [[] for _ in states]
    while not batch.over.all():
        live = np.flatnonzero(~batch.over).tolist()
        numbers = batch.sample()
        for game in live:
            moves[game].append(int(numbers[game]))
        batch.step(numbers)
    boards = ["".join(MARKS[cell + 3] for cell in cells[:-1]) for cells in batch.states["cells"].tolist()]
    points = batch.finals.reshape(len(states), -1).tolist()
    return [
        GameTrace(tuple(made), tuple(scored), board)
        for made, scored, board in zip(moves, points, boards, strict=True)
    ]
