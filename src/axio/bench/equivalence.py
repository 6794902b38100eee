"""Whether the C program plays by our rules: its games beside ours, move by move.

Both take the same random numbers in the same order. One build of the program keeps the free places in a list
as our rules do, and has to play the very games that `Batch.sample` plays. The other counts them in ascending
order, so its games are compared with games in which that is done here; the rules are ours in both.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..batch import Batch
from ..engine.lots import seeds
from ..engine.phases import OFFER
from ..games import GAMES

SQUARES = GAMES[0]
MARKS = "x^.01234"  # of cells from -3 on
Choose = Callable[[Batch], np.ndarray]


class Played(NamedTuple):
    """A whole game: the numbers of its moves, the points of its seats, its board at the end."""

    moves: tuple[int, ...]
    points: tuple[int, ...]
    board: str


def difference(program: Path, choose: Choose, games: int) -> str:
    """Where the first of so many games of a program differs from ours, in words; nothing, if none does."""
    states = seeds(2, 0, games)
    theirs = shown(program, states)
    for n, (own, other) in enumerate(zip(our_games(states, choose), theirs, strict=True)):
        if own != other:
            return f"game {n} is another one: {own} here, {other} there"
    return ""


def shown(program: Path, states: np.ndarray) -> list[Played]:
    """A game of the C program from each state of the generator."""
    command = [str(program), "show", *map(str, states.tolist())]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    found = []
    for line in lines:
        moves, points, board = line.split(" | ")
        found.append(Played(tuple(map(int, moves.split())), tuple(map(int, points.split())), board))
    return found


def our_games(states: np.ndarray, choose: Choose) -> list[Played]:
    """A game of our own from each state of the generator."""
    batch = Batch(SQUARES, 2, len(states), renew=False)
    batch.rngs[:] = states
    batch.reset()
    moves: list[list[int]] = [[] for _ in states]
    while not batch.over.all():
        live = np.flatnonzero(~batch.over).tolist()
        numbers = choose(batch)
        for game in live:
            moves[game].append(int(numbers[game]))
        batch.step(numbers)
    boards = ["".join(MARKS[cell + 3] for cell in cells[:-1]) for cells in batch.states["cells"].tolist()]
    points = batch.finals.reshape(len(states), -1).tolist()
    return [
        Played(tuple(made), tuple(scored), board)
        for made, scored, board in zip(moves, points, boards, strict=True)
    ]


def by_the_list(batch: Batch) -> np.ndarray:
    """A move in each game as our rules pick it."""
    numbers: np.ndarray = batch.sample()
    return numbers


def in_ascending_order(batch: Batch) -> np.ndarray:
    """A move in each game, the free places counted in ascending order; otherwise as our rules pick it."""
    numbers = np.zeros(batch.games, np.int32)
    masks = batch.masks()
    for game in np.flatnonzero(~batch.over).tolist():
        rng = batch.rngs[game : game + 1]
        state, legal = batch.states[game], np.flatnonzero(masks[game])
        if state["phase"] == OFFER:
            numbers[game] = legal[_below(rng, 2)]
            continue
        colours = len(batch.variant.colours)
        places = np.unique(legal // colours**2)
        place = int(places[_below(rng, len(places))])
        numbers[game] = place * colours**2 + _way(batch, state, rng)
    return numbers


def _way(batch: Batch, state: np.void, rng: np.ndarray) -> int:
    """One of the ways to lay a tile of the hand, each as likely as any other."""
    seat = state["seat"]
    hand = state["hands"][seat][: state["held"][seat]].tolist()
    pairs, colours = batch.variant.tables["pairs"][0].tolist(), len(batch.variant.colours)
    while True:
        i, turned = divmod(_below(rng, 2 * len(hand)), 2)
        one, other = pairs[hand[i]]
        if (i == 0 or hand[i - 1] != hand[i]) and not (turned and one == other):
            return int(other * colours + one if turned else one * colours + other)


def _below(rng: np.ndarray, n: int) -> int:
    """`engine.lots.below`, which only compiled code can call."""
    mask = (1 << 64) - 1
    x = int(rng[0])
    x ^= x << 13 & mask
    x ^= x >> 7
    x ^= x << 17 & mask
    rng[0] = x
    return (x >> 32) * n >> 32
