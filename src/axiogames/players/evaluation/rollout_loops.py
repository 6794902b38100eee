"""Rollouts, one-ply search and self-play, shared by all games.

The functions are templates like those in `games.runtime.loops`. `PARTS` are bound first and become parts of
the loops after them. Each takes:

    c, s: the constants of the game and a state.
    states, at: an array of states and an index into it.
    weights: learned parameters (utility parameters and value network), see `weights_dtype`.
    scratch: preallocated working memory, see `scratch_dtype`.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from ...games.protocol import (
    apply,
    expected_gain,
    fallback_action,
    has_extra_turn,
    non_placements,
    progress,
    sample_chance,
    sample_legal,
    top_placements,
    track_features,
)
from ...games.runtime.evaluation import best_value, fill_utility
from ...games.runtime.signatures import (
    Actions,
    Constants,
    Float32,
    Float32Rows,
    Float32s,
    Float64s,
    GameArrays,
    Int,
    Int64s,
    Rng,
    States,
    array,
    loop,
)
from ...games.runtime.state import DRAW, OVER
from ...games.runtime.xorshift import nth_seed_state, randint
from .hidden_tiles import HiddenTiles, determinize, infer_hidden_tiles
from .network import forward, write_features
from .utility import result_value
from .weights import ScratchArray, WeightsArray

SCAN_STARTS = 1 << 16  # range of the random start of a scan of placements, so that ties break at random
SEARCH_WIDTH = np.int64(8)  # actions that one-ply search evaluates in rollouts
# Constants that are passed to parts have NumPy types: Numba would compile a part again for Python's integers.
# One-ply search tries actions in the state after the one that it searches.
ROOT, DETERMINIZED, ROLLOUT = np.int64(0), np.int64(1), np.int64(2)  # indices into `states`
ROLLOUT_STATES = 4  # length of `states` in `run_rollouts`
SEARCH_STATES = 2  # length of `states` in the other loops


class RolloutTask(NamedTuple):
    """The rollouts to run from a position."""

    actions: Actions  # legal actions to compare
    seed: Rng  # one word, the seed of all determinizations
    first: Int  # index of the first determinization
    samples: Int  # number of determinizations
    hidden: HiddenTiles
    turns: Int  # further moves of the root player
    search_after: Float32  # progress of the game from which on one-ply search replaces the policy


class RolloutSums(NamedTuple):
    """Sums over rollouts, by action, to which `run_rollouts` adds."""

    values: Float64s
    squares: Float64s  # of the values
    points: Annotated[Any, array(np.float64, 3)]  # by seat and track, where rollouts ended


class PositionArrays(NamedTuple):
    """Positions of a game for training, each after a move."""

    inputs: Float32Rows  # features
    results: Float32s  # value of the finished game
    seats: Int64s  # the seat that has just moved


def apply_action(c, s, action):
    """Apply an action or a chance outcome. Not inlined, since copies would take long to compile."""
    apply(c, s, action)


def featurize(c, s, seat, weights, scratch):
    """Write the features of `s` for `seat`, which has just moved, and return their number."""
    scratch.track_features[:] = 0
    track_features(c, s, seat, scratch.track_features)
    played = progress(c, s)
    for turn in range(c.players):
        fill_utility(
            s, (seat + turn) % c.players, weights.cap, played, weights.utility_params, scratch.utility
        )
        scratch.expected_gains[turn] = expected_gain(c, s, (seat + turn) % c.players, turn == 0, scratch)
    moves_again = s.seat == seat and has_extra_turn(c, s)
    return write_features(s, seat, c.players, played, moves_again, weights.scale, scratch)


def evaluate(c, s, seat, weights, scratch):
    """Return the value of `s` for `seat`, which has just moved, in [0, 1]."""
    if s.phase == OVER:
        return result_value(s, seat, c.players, weights, scratch)
    return forward(weights, scratch, featurize(c, s, seat, weights, scratch))


def write_utility(c, s, weights, scratch):
    """Write the utility of points for the seat to move into `scratch.utility`."""
    fill_utility(s, np.int64(s.seat), weights.cap, progress(c, s), weights.utility_params, scratch.utility)


def rollout_policy(c, s, rng, scratch):
    """Return the action with the highest utility by `scratch.utility`; ties break at random."""
    kept = top_placements(c, s, randint(rng, SCAN_STARTS), np.int64(1), scratch)
    fallback = fallback_action(c, s, best_value(kept, scratch), scratch)
    return fallback if fallback >= 0 else np.int64(scratch.actions[0])


def promising_actions(c, s, keep, weights, scratch):
    """Write the most promising legal actions into `scratch.actions`, the best first, and return their number.

    Placements are ranked by the utility of their points. Other actions follow where they may be better.
    """
    write_utility(c, s, weights, scratch)
    return non_placements(c, s, top_placements(c, s, np.int64(0), keep, scratch), scratch)


def one_ply_search(c, states, at, keep, weights, scratch):
    """Return the best action by the value of the position after it, and that value.

    Of the placements, the `keep` most promising ones are evaluated. `states[at + 1]` is overwritten.
    """
    seat = np.int64(states[at].seat)
    n = promising_actions(c, states[at], keep, weights, scratch)
    best, best_value = np.int64(scratch.actions[0]), np.float32(-1.0)
    for i in range(n):
        states[at + 1] = states[at]
        apply_action(c, states[at + 1], np.int64(scratch.actions[i]))
        value = evaluate(c, states[at + 1], seat, weights, scratch)
        if value > best_value:
            best, best_value = np.int64(scratch.actions[i]), value
    return best, best_value


def rollout(c, states, at, seat, turns, search_after, weights, scratch):
    """Play until `seat` has moved `turns` times or the game ends, and return the value for `seat`.

    All seats follow the rollout policy. Once `progress` exceeds `search_after`, they use one-ply search
    instead: near the end, the position predicts the result better than the points of a single move.
    `states[at + 1]` is overwritten.
    """
    s, rng = states[at], scratch.rng
    while turns > 0 and s.phase != OVER:
        if s.phase >= DRAW:
            apply_action(c, s, sample_chance(c, s, rng))
            continue
        mover = np.int64(s.seat)
        if progress(c, s) > search_after:
            action, _ = one_ply_search(c, states, at, SEARCH_WIDTH, weights, scratch)
        else:
            write_utility(c, s, weights, scratch)
            action = rollout_policy(c, s, rng, scratch)
        apply_action(c, s, action)
        if mover == seat:
            turns -= 1
    return evaluate(c, s, seat, weights, scratch)


PARTS = (
    apply_action,
    featurize,
    evaluate,
    write_utility,
    rollout_policy,
    promising_actions,
    one_ply_search,
    determinize,
    rollout,
)


# ---------------------------------------------------------------- loops that Python calls


with_parts = loop(parts=PARTS)


@with_parts
def one_ply_search_at(
    constants: Constants, states: States, keep: Int, weights: WeightsArray, scratch: ScratchArray
):
    """Return the best action in `states[0]` by one-ply search, and its value."""
    return one_ply_search(constants[0], states, ROOT, keep, weights[0], scratch[0])


@with_parts
def rollout_policy_at(
    constants: Constants, states: States, rng: Rng, weights: WeightsArray, scratch: ScratchArray
):
    """Return the action of the rollout policy in `states[0]`."""
    write_utility(constants[0], states[0], weights[0], scratch[0])
    return rollout_policy(constants[0], states[0], rng, scratch[0])


@with_parts
def run_rollouts(
    constants: Constants,
    states: States,
    task: RolloutTask,
    weights: WeightsArray,
    scratch: ScratchArray,
    sums: RolloutSums,
):
    """Run a rollout after each action in the same determinizations, and add up the results.

    The position is `states[0]`. Equal seeds and indices give equal results.
    """
    c, rng = constants[0], scratch[0].rng
    seat = np.int64(states[ROOT].seat)
    for sample in range(task.samples):
        rng[0] = nth_seed_state(task.seed[0], task.first + sample)
        states[DETERMINIZED] = states[ROOT]
        determinize(c, states[DETERMINIZED], task.hidden[0], rng)
        rng_after = rng[0]
        for i in range(len(task.actions)):
            rng[0] = rng_after
            states[ROLLOUT] = states[DETERMINIZED]
            apply_action(c, states[ROLLOUT], np.int64(task.actions[i]))
            value = rollout(c, states, ROLLOUT, seat, task.turns, task.search_after, weights[0], scratch[0])
            sums.values[i] += value
            sums.squares[i] += value * value
            for other in range(c.players):
                for track in range(sums.points.shape[2]):
                    sums.points[i, other, track] += states[ROLLOUT].scores[other, track]


@with_parts
def self_play(
    constants: Constants,
    games: GameArrays,
    keep: Int,
    noise: Int,
    weights: WeightsArray,
    scratch: ScratchArray,
    positions: PositionArrays,
):
    """Play a game, write its positions and return their number.

    Moves are chosen by one-ply search among `keep` placements, or with a `keep` of 0 by the rollout policy,
    and with probability `noise` / 1000 uniformly at random.
    """
    c, states, rng = constants[0], games.states, games.rngs
    states[ROOT] = games.openings[0]
    row = 0
    while states[ROOT].phase != OVER:
        if states[ROOT].phase >= DRAW:
            apply_action(c, states[ROOT], sample_chance(c, states[ROOT], rng))
            continue
        seat = np.int64(states[ROOT].seat)
        if randint(rng, 1000) < noise:
            action = sample_legal(c, states[ROOT], rng)
        elif keep == 0:
            write_utility(c, states[ROOT], weights[0], scratch[0])
            action = rollout_policy(c, states[ROOT], rng, scratch[0])
        else:
            action, _ = one_ply_search(c, states, ROOT, keep, weights[0], scratch[0])
        apply_action(c, states[ROOT], action)
        if states[ROOT].phase != OVER:
            n = featurize(c, states[ROOT], seat, weights[0], scratch[0])
            for i in range(n):
                positions.inputs[row, i] = scratch[0].inputs[i]
            positions.seats[row] = seat
            row += 1
    for r in range(row):
        positions.results[r] = result_value(
            states[ROOT], positions.seats[r], c.players, weights[0], scratch[0]
        )
    return row


@with_parts
def play_matches(
    constants: Constants,
    games: GameArrays,
    keeps: Int64s,
    count: Int,
    contestants: WeightsArray,
    scratch: ScratchArray,
    points: Float64s,
):
    """Play `count` games between contestants with rotating seats, and add up the result of each.

    A contestant chooses its moves by one-ply search among `keeps` placements, or with 0 by the rollout
    policy.
    """
    c, states, rng = constants[0], games.states, games.rngs
    for game in range(count):
        states[ROOT] = games.openings[0]
        while states[ROOT].phase != OVER:
            if states[ROOT].phase >= DRAW:
                apply_action(c, states[ROOT], sample_chance(c, states[ROOT], rng))
                continue
            mover = (states[ROOT].seat + game) % c.players
            if keeps[mover] == 0:
                write_utility(c, states[ROOT], contestants[mover], scratch[0])
                action = rollout_policy(c, states[ROOT], rng, scratch[0])
            else:
                action, _ = one_ply_search(c, states, ROOT, keeps[mover], contestants[mover], scratch[0])
            apply_action(c, states[ROOT], action)
        for seat in range(c.players):
            points[(seat + game) % c.players] += result_value(
                states[ROOT], seat, c.players, contestants[0], scratch[0]
            )


# The loops for play; others are for training.
LOOPS = (one_ply_search_at, rollout_policy_at, infer_hidden_tiles, run_rollouts)
