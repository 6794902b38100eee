"""Thinking about a position, written once for all games.

Like `loops`, these are templates: the names from `standins` become a game's own rules when they are bound,
and the templates of `PARTS`, bound first, become parts of the loops after them.

A `weights` is what a player has learned (knobs and network), a `scratch` is room to work on; both are
records.
"""

from __future__ import annotations

from typing import Annotated, Any

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
from ...games.runtime.hands import draw_to_hand
from ...games.runtime.signatures import (
    Actions,
    Constants,
    Float32,
    Float32Rows,
    Float32s,
    Float64s,
    Int,
    Int64Rows,
    Int64s,
    Rng,
    States,
    array,
    loop,
)
from ...games.runtime.state import DRAW, HIDDEN, NO_TILE, OVER
from ...games.runtime.xorshift import randint, sample_tile
from .network import forward, write_features
from .utility import result_value
from .weights import ScratchArray, WeightsArray

STARTS = 1 << 16  # places to start looking at, so that of equal moves none is preferred
SEARCHED_MOVES = np.int64(8)  # moves that are looked at close to the end
# Numbers that parts are called with are NumPy's: for each plain one a part would be compiled once more.
HERE, TRIAL = np.int64(0), np.int64(1)  # places in an array of states: a position, room to try a move in,
AFTER, AFTER_TRIAL = np.int64(2), np.int64(3)  # and the same for a position that is played on


def apply_action(c, s, action):
    """Carry out an action or what chance drew: called, since copies of it would take long to compile."""
    apply(c, s, action)


def featurize(c, s, seat, weights, scratch):
    """Write the position in which a seat has just moved into `scratch.inputs`; how many numbers that are."""
    scratch.track_features[:] = 0
    track_features(c, s, seat, scratch.track_features)
    played = progress(c, s)
    for turn in range(c.players):
        fill_utility(
            s, (seat + turn) % c.players, weights.cap, played, weights.utility_params, scratch.utility
        )
        scratch.expected_gains[turn] = expected_gain(c, s, (seat + turn) % c.players, turn == 0, scratch)
    again = s.seat == seat and has_extra_turn(c, s)
    return write_features(s, seat, c.players, played, again, weights.scale, scratch)


def evaluate(c, s, seat, weights, scratch):
    """What a position in which a seat has just moved is worth to it."""
    if s.phase == OVER:
        return result_value(s, seat, c.players, weights, scratch)
    return forward(weights, scratch, featurize(c, s, seat, weights, scratch))


def rollout_policy(c, s, rng, scratch):
    """The action of simple play, by the worth of points on the desk; of equal ones, any."""
    kept = top_placements(c, s, randint(rng, STARTS), np.int64(1), scratch)
    other = fallback_action(c, s, best_value(kept, scratch), scratch)
    return other if other >= 0 else np.int64(scratch.actions[0])


def promising_actions(c, s, keep, weights, scratch, buffer):
    """Write the most promising legal actions into `scratch.actions`, the best first; how many.

    What counts is what the points are worth now. Other actions than placements come last, where they deserve
    a look.
    """
    fill_utility(s, np.int64(s.seat), weights.cap, progress(c, s), weights.utility_params, scratch.utility)
    return non_placements(c, s, top_placements(c, s, np.int64(0), keep, scratch), scratch)


def one_ply_search(c, states, at, trial, keep, weights, scratch, buffer):
    """The action that leads to the best position, of the most promising ones; what it is worth."""
    seat = np.int64(states[at].seat)
    n = promising_actions(c, states[at], keep, weights, scratch, buffer)
    best, best_value = np.int64(scratch.actions[0]), np.float32(-1.0)
    for i in range(n):
        states[trial] = states[at]
        apply_action(c, states[trial], np.int64(scratch.actions[i]))
        value = evaluate(c, states[trial], seat, weights, scratch)
        if value > best_value:
            best, best_value = np.int64(scratch.actions[i]), value
    return best, best_value


def determinize(c, s, hidden_counts, excluded, rng):
    """Fill in what the view does not show: any unseen tiles, each as likely as any other.

    A row of `hidden_counts` says how many hidden tiles of a seat are drawn from the same tiles: all that are
    unseen, less those in the same row of `excluded`. Rows with more barred come first, so that none is left
    without.
    """
    in_bag = s.in_bag
    for seat in range(c.players):
        while s.held[seat] > 0 and s.hands[seat, s.held[seat] - 1] == HIDDEN:
            s.held[seat] -= 1
            s.hands[seat, s.held[seat]] = NO_TILE
    for row in range(len(hidden_counts)):
        kept_out = 0
        for kind in range(len(s.bag)):
            s.bag[kind] -= excluded[row, kind]
            kept_out += excluded[row, kind]
        for _ in range(hidden_counts[row, 1]):
            draw_to_hand(s, hidden_counts[row, 0], sample_tile(s.bag, s.unseen - kept_out, rng))
        for kind in range(len(s.bag)):
            s.bag[kind] += excluded[row, kind]
    s.in_bag = in_bag
    while s.unseen > s.in_bag:  # tiles that were set aside before the game
        s.bag[sample_tile(s.bag, s.unseen, rng)] -= 1
        s.unseen -= 1


def rollout(c, states, at, trial, seat, turns, search_after, rng, weights, scratch, buffer):
    """Let everybody play by what points are worth until `seat` has moved so often; its worth to that seat.

    When more than `search_after` of the game is gone, everybody looks at what the best moves lead to: close
    to the end a position says more than points do.
    """
    s = states[at]
    while turns > 0 and s.phase != OVER:
        if s.phase >= DRAW:
            apply_action(c, s, sample_chance(c, s, rng))
            continue
        mover = np.int64(s.seat)
        if progress(c, s) > search_after:
            action, _ = one_ply_search(c, states, at, trial, SEARCHED_MOVES, weights, scratch, buffer)
        else:
            fill_utility(s, mover, weights.cap, progress(c, s), weights.utility_params, scratch.utility)
            action = rollout_policy(c, s, rng, scratch)
        apply_action(c, s, action)
        if mover == seat:
            turns -= 1
    return evaluate(c, s, seat, weights, scratch)


PARTS = (
    apply_action,
    featurize,
    evaluate,
    rollout_policy,
    promising_actions,
    one_ply_search,
    determinize,
    rollout,
)


# ---------------------------------------------------------------- what Python calls


with_parts = loop(parts=PARTS)


@with_parts
def one_ply_search_at(
    constants: Constants,
    states: States,
    keep: Int,
    weights: WeightsArray,
    scratch: ScratchArray,
    buffer: Actions,
):
    """The best of the most promising actions in `states[0]` by a look at what they lead to."""
    return one_ply_search(constants[0], states, HERE, TRIAL, keep, weights[0], scratch[0], buffer)


@with_parts
def rollout_policy_at(
    constants: Constants, states: States, rng: Rng, weights: WeightsArray, scratch: ScratchArray
):
    """The action that everybody would make in `states[0]` while it is played on from there."""
    c, s = constants[0], states[0]
    fill_utility(
        s, np.int64(s.seat), weights[0].cap, progress(c, s), weights[0].utility_params, scratch[0].utility
    )
    return rollout_policy(c, s, rng, scratch[0])


@with_parts
def run_rollouts(
    constants: Constants,
    states: States,
    actions: Actions,
    n: Int,
    seeds: Rng,
    turns: Int,
    search_after: Float32,
    hidden_counts: Int64Rows,
    excluded: Int64Rows,
    weights: WeightsArray,
    scratch: ScratchArray,
    buffer: Actions,
    sums: Float64s,
    squares: Float64s,
    points: Annotated[Any, array(np.float64, 3)],
):
    """Play on after each of `n` actions in the same guesses of what is hidden; add up what comes of it.

    Plays until the seat to move has moved `turns` more times, with one guess for each of `seeds`: the same
    seeds give the same results. `search_after` is for `rollout`, `hidden_counts` and `excluded` are for
    `determinize`. `points` are those of all seats where playing on stopped.
    """
    c, rng = constants[0], scratch[0].rng
    seat = np.int64(states[0].seat)
    for number in range(len(seeds)):
        rng[0] = seeds[number]
        states[1] = states[0]
        determinize(c, states[1], hidden_counts, excluded, rng)
        luck = rng[0]
        for i in range(n):
            rng[0] = luck
            states[AFTER] = states[1]
            apply_action(c, states[AFTER], np.int64(actions[i]))
            value = rollout(
                c, states, AFTER, AFTER_TRIAL, seat, turns, search_after, rng, weights[0], scratch[0], buffer
            )
            sums[i] += value
            squares[i] += value * value
            for other in range(c.players):
                for track in range(points.shape[2]):
                    points[i, other, track] += states[AFTER].scores[other, track]


@with_parts
def self_play(
    constants: Constants,
    openings: States,
    states: States,
    keep: Int,
    noise: Int,
    rng: Rng,
    weights: WeightsArray,
    scratch: ScratchArray,
    buffer: Actions,
    inputs: Float32Rows,
    results: Float32s,
    owners: Int64s,
    first: Int,
):
    """Play a game by glances at `keep` moves, or by what points are worth, and now and then by lot.

    Rows from `first` on: the position after each move in numbers, and what the game was worth to the mover.
    Gives back the row after the last one.
    """
    c = constants[0]
    states[0] = openings[0]
    row = first
    while states[0].phase != OVER:
        if states[0].phase >= DRAW:
            apply_action(c, states[0], sample_chance(c, states[0], rng))
            continue
        seat = np.int64(states[0].seat)
        if randint(rng, 1000) < noise:
            action = sample_legal(c, states[0], rng)
        elif keep == 0:
            fill_utility(
                states[0],
                seat,
                weights[0].cap,
                progress(c, states[0]),
                weights[0].utility_params,
                scratch[0].utility,
            )
            action = rollout_policy(c, states[0], rng, scratch[0])
        else:
            action, _ = one_ply_search(c, states, HERE, TRIAL, keep, weights[0], scratch[0], buffer)
        apply_action(c, states[0], action)
        if states[0].phase != OVER:
            n = featurize(c, states[0], seat, weights[0], scratch[0])
            for i in range(n):
                inputs[row, i] = scratch[0].inputs[i]
            owners[row] = seat
            row += 1
    for r in range(first, row):
        results[r] = result_value(states[0], owners[r], c.players, weights[0], scratch[0])
    return row


@with_parts
def play_matches(
    constants: Constants,
    openings: States,
    states: States,
    keeps: Int64s,
    games: Int,
    rng: Rng,
    contestants: WeightsArray,
    scratch: ScratchArray,
    buffer: Actions,
    points: Float64s,
):
    """Let as many minds as there are seats play each other, changing seats; add up what they get.

    A mind with a `keep` of 0 plays by what points are worth, with more by glances at so many actions.
    """
    c = constants[0]
    for game in range(games):
        states[0] = openings[0]
        while states[0].phase != OVER:
            if states[0].phase >= DRAW:
                apply_action(c, states[0], sample_chance(c, states[0], rng))
                continue
            who = (states[0].seat + game) % c.players
            if keeps[who] == 0:
                fill_utility(
                    states[0],
                    states[0].seat,
                    contestants[who].cap,
                    progress(c, states[0]),
                    contestants[who].utility_params,
                    scratch[0].utility,
                )
                action = rollout_policy(c, states[0], rng, scratch[0])
            else:
                action, _ = one_ply_search(
                    c, states, HERE, TRIAL, keeps[who], contestants[who], scratch[0], buffer
                )
            apply_action(c, states[0], action)
        for seat in range(c.players):
            points[(seat + game) % c.players] += result_value(
                states[0], seat, c.players, contestants[0], scratch[0]
            )


LOOPS = (one_ply_search_at, rollout_policy_at, run_rollouts)  # that playing needs; learning needs the others
