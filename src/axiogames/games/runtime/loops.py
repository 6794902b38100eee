"""Loops over rules that Python calls, written once for all games.

The functions imported from `protocol` are stand-ins, which `compile.bind` replaces by a game's rules. `@loop`
marks the functions that Python calls; their annotations are the types that they are compiled for. Every loop
takes arrays of records, because Numba converts those from Python four times as fast as single records.
"""

from __future__ import annotations

import numpy as np

from ..protocol import (
    apply,
    greedy_action,
    legal_actions,
    refusal,
    sample_chance,
    sample_legal,
    score,
)
from .signatures import Actions, Bool, Constants, Int, Int16Rows, Rng, States, loop
from .state import DRAW, OVER


def resolve_chance(c, s, rng):
    """Apply random chance outcomes up to the next decision or the end of the game."""
    while s.phase >= DRAW:
        apply(c, s, sample_chance(c, s, rng))


def random_game(c, openings, states, at, rng):
    """Play a game of random legal moves in `states[at]`; return the number of moves, and 0 scored actions."""
    states[at] = openings[0]
    s = states[at]
    moves = 0
    while s.phase != OVER:
        while s.phase >= DRAW:
            apply(c, s, sample_chance(c, s, rng))
        if s.phase != OVER:
            apply(c, s, sample_legal(c, s, rng))
            moves += 1
    return moves, 0


def greedy_game(c, openings, states, at, rng):
    """Play a game of greedy moves in `states[at]`; return the numbers of moves and of scored actions."""
    states[at] = openings[0]
    s = states[at]
    moves = 0
    scored = 0
    while s.phase != OVER:
        while s.phase >= DRAW:
            apply(c, s, sample_chance(c, s, rng))
        if s.phase != OVER:
            action, n = greedy_action(c, s, rng)
            apply(c, s, action)
            moves += 1
            scored += n
    return moves, scored


PARTS = (resolve_chance, random_game, greedy_game)


# ---------------------------------------------------------------- loops that Python calls


@loop
def step(constants: Constants, states: States, action: Int, checked: Bool):
    """Apply an action and return 0. With `checked`, return the reason instead if it is illegal."""
    reason = refusal(constants[0], states[0], action) if checked else 0
    if reason == 0:
        apply(constants[0], states[0], action)
    return reason


@loop
def list_legal(constants: Constants, states: States, out: Actions):
    """Write the legal actions into `out`, ascending, and return their number."""
    return legal_actions(constants[0], states[0], out)


@loop
def score_all(constants: Constants, states: States, actions: Actions, n: Int, gains: Int16Rows):
    """Write the points by track of the first `n` placements of `actions` into the rows of `gains`."""
    c, s = constants[0], states[0]
    for i in range(n):
        score(c, s, np.int64(actions[i]))
        for track in range(len(s.gain)):
            gains[i, track] = s.gain[track]


@loop
def sample_draw(constants: Constants, states: States, rng: Rng):
    """Return a random chance outcome. A draw must be due."""
    return sample_chance(constants[0], states[0], rng)


@loop(parts=PARTS)
def random_playouts(constants: Constants, openings: States, states: States, rng: Rng, games: Int):
    """Play games of random legal moves and return the number of moves; draws do not count."""
    moves = 0
    for _ in range(games):
        played, _ = random_game(constants[0], openings, states, 0, rng)
        moves += played
    return moves


@loop(parts=PARTS)
def greedy_playouts(constants: Constants, openings: States, states: States, rng: Rng, games: Int):
    """Play games of greedy moves and return the numbers of moves and of scored actions."""
    moves = 0
    scored = 0
    for _ in range(games):
        played, n = greedy_game(constants[0], openings, states, 0, rng)
        moves += played
        scored += n
    return moves, scored


LOOPS = (step, list_legal, score_all)  # needed for playing; tests and benchmarks use the others
