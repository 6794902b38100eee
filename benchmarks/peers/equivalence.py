"""Comparison of the games of the C program with ours, move by move.

Both use the same random numbers in the same order, so the program must play the same games as `Batch.sample`.
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
CELL_MARKS = "x^.01234"  # of the cell values -3 to 4


class GameTrace(NamedTuple):
    """A whole game: action ids, final points of all seats, and final board."""

    moves: tuple[int, ...]
    points: tuple[int, ...]
    board: str


def difference(program: Path, games: int) -> str:
    """Describe the first of `games` games that differs from ours; return an empty string if none does."""
    states = seed_states(2, 0, games)
    traces = program_games(program, states)
    for n, (expected, found) in enumerate(zip(our_games(states), traces, strict=True)):
        if expected != found:
            return f"game {n} differs: expected {expected}, found {found}"
    return ""


def program_games(program: Path, states: np.ndarray) -> list[GameTrace]:
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
        running = np.flatnonzero(~batch.over).tolist()
        actions = batch.sample()
        for game in running:
            moves[game].append(int(actions[game]))
        batch.step(actions)
    boards = [
        "".join(CELL_MARKS[cell + 3] for cell in cells[:-1]) for cells in batch.states["cells"].tolist()
    ]
    points = batch.finals.reshape(len(states), -1).tolist()
    return [
        GameTrace(tuple(game_moves), tuple(game_points), board)
        for game_moves, game_points, board in zip(moves, points, boards, strict=True)
    ]
