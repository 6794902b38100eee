"""Loops over rules that Python calls, written once for all games.

The functions imported from `standins` are only names here: `compile.bind` puts a game's own rules in
their place. `@loop` marks what Python calls; annotations say what it is compiled for. Every loop takes arrays
of records, because Numba takes those from Python four times as fast as single records.
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
    set_cell,
)
from .signatures import Actions, Bool, Constants, Int, Int16Rows, Int64s, Rng, States, loop
from .state import DRAW, OVER


def resolve_chance(c, s, rng):
    """Let chance do what is due, up to the next decision or the end."""
    while s.phase >= DRAW:
        apply(c, s, sample_chance(c, s, rng))


def random_game(c, openings, states, at, rng):
    """Play a whole game of random legal moves in one place; the moves made, and those rated: none."""
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
    """Play a whole game of most points now in one place; the moves made, and those rated to choose them."""
    states[at] = openings[0]
    s = states[at]
    moves = 0
    rated = 0
    while s.phase != OVER:
        while s.phase >= DRAW:
            apply(c, s, sample_chance(c, s, rng))
        if s.phase != OVER:
            action, n = greedy_action(c, s, rng)
            apply(c, s, action)
            moves += 1
            rated += n
    return moves, rated


PARTS = (resolve_chance, random_game, greedy_game)


# ---------------------------------------------------------------- what Python calls


@loop
def step(constants: Constants, states: States, action: Int, checked: Bool):
    """Carry out an action; with `checked` only if it is legal, otherwise change nothing and say why."""
    why = refusal(constants[0], states[0], action) if checked else 0
    if why == 0:
        apply(constants[0], states[0], action)
    return why


@loop
def list_legal(constants: Constants, states: States, out: Actions):
    """Write the legal actions into `out`, ascending; how many there are."""
    return legal_actions(constants[0], states[0], out)


@loop
def score_all(constants: Constants, states: States, actions: Actions, n: Int, gains: Int16Rows):
    """Write what each of the first `n` placements of `actions` would score into the rows of `gains`."""
    c, s = constants[0], states[0]
    for i in range(n):
        score(c, s, np.int64(actions[i]))
        for colour in range(len(s.gain)):
            gains[i, colour] = s.gain[colour]


@loop(parts=PARTS)
def random_playouts(constants: Constants, openings: States, states: States, rng: Rng, games: Int):
    """Play whole games of random legal moves; how many moves players made (draws not counted)."""
    moves = 0
    for _ in range(games):
        made, _ = random_game(constants[0], openings, states, 0, rng)
        moves += made
    return moves


@loop(parts=PARTS)
def greedy_playouts(constants: Constants, openings: States, states: States, rng: Rng, games: Int):
    """Play whole games of most points now; the moves made and the moves rated to choose them."""
    moves = 0
    rated = 0
    for _ in range(games):
        made, seen = greedy_game(constants[0], openings, states, 0, rng)
        moves += made
        rated += seen
    return moves, rated


@loop
def set_cells(constants: Constants, states: States, places: Int64s, what: Int64s, n: Int):
    """Lay the first `n` of `what` on the first `n` of `places`: how a position is set up."""
    for i in range(n):
        set_cell(constants[0], states[0], places[i], what[i])


LOOPS = (step, list_legal, score_all, set_cells)  # that playing needs; the others are for tests and measuring
