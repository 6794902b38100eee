"""The choices of the simple bots and of the levels 1 to 5, in compiled code.

The functions are templates like those in `games.runtime.loops`. They read only what the seat to move can see,
so they make the same choice in a view as in the complete state.

A choice takes one random 64-bit word of the bot's generator. `RANDOM` scales it to the number of legal moves,
`GREEDY` and `BALANCED` to the number of equally good ones; for sampled moves it seeds a generator of rule
code.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...games.protocol import (
    best_placements,
    count_legal,
    nth_legal,
    refusal,
    score,
    tiles_exchanged,
)
from ...games.runtime.evaluation import MAX_POINTS, gain_key
from ...games.runtime.ranks import compare_scores
from ...games.runtime.signatures import Actions, Constants, Int, Int64Rows, Rng, States, loop
from ...games.runtime.xorshift import randint, scale, seed_from_word
from ...games.variant import Variant
from ..evaluation.rollout_loops import apply_action, evaluate, featurize
from ..evaluation.weights import MAX_SHORTLIST, ScratchArray, WeightsArray

# Policies, which choose by points.
RANDOM = 0  # uniformly at random
GREEDY = 1  # the most points
BALANCED = 2  # the highest points of all tracks after the move, sorted ascending
SAMPLED = 3  # the most points among a number of random moves

KEY_BITS = 62  # of a sum of keys


class ChoiceBuffers(NamedTuple):
    """Working memory of a choice. Its contents are undefined between calls."""

    actions: Actions  # as many as there can be legal ones
    gain_keys: Int64Rows  # see `games.runtime.evaluation`
    points: Int64Rows  # two rows of points by track, to compare
    rng: Rng


def choice_buffers(variant: Variant) -> ChoiceBuffers:
    """Return buffers for the choices in games of a variant."""
    tracks = len(variant.tracks)
    return ChoiceBuffers(
        np.zeros(variant.max_legal_actions, np.int32),
        np.zeros((tracks, MAX_POINTS), np.int64),
        np.zeros((2, tracks), np.int64),
        np.ones(1, np.uint64),
    )


# ---------------------------------------------------------------- parts
#
# The first three are rules that several parts call. As parts, they are compiled once.


def count_actions(c, s):
    """Return the number of legal actions."""
    return np.int64(count_legal(c, s))


def nth_action(c, s, n):
    """Return the n-th legal action in ascending order, counted from 0."""
    return np.int64(nth_legal(c, s, n))


def score_action(c, s, action):
    """Write the points of a legal action by track into `s.gain` and return the tiles that it exchanges."""
    if action < c.placements:
        score(c, s, action)
        return np.int64(0)
    for track in range(len(s.gain)):
        s.gain[track] = 0
    return np.int64(tiles_exchanged(c, s, action))


def random_action(c, s, word):
    """Return the legal action that a random word selects."""
    return nth_action(c, s, scale(word, count_actions(c, s)))


def fill_gain_keys(s, policy, gain_keys):
    """Fill the keys of points for the seat to move.

    For `BALANCED`, a sum of keys has a digit for each number of points from the lowest track on, the highest
    digit first. It counts the tracks that leave this number. Numbers beyond the last digit have none.
    """
    tracks = s.scores.shape[1]
    lowest = np.int64(s.scores[s.seat, 0])
    bits = 1
    while 1 << bits <= tracks:
        bits += 1
    for track in range(1, tracks):
        lowest = min(lowest, np.int64(s.scores[s.seat, track]))
    for track in range(tracks):
        top = KEY_BITS - bits * (1 + np.int64(s.scores[s.seat, track]) - lowest)
        before = np.int64(1) << top if top >= 0 else np.int64(0)
        for points in range(MAX_POINTS):
            if policy == GREEDY:
                gain_keys[track, points] = points
            else:
                digit = top - bits * points
                gain_keys[track, points] = before - (np.int64(1) << digit if digit >= 0 else np.int64(0))


def compare_gains(s, policy, points):
    """Return 1 if the second row of points is better than the first, -1 if it is worse, else 0."""
    if policy == BALANCED:
        return compare_scores(points, 1, 0)
    total = np.int64(0)
    for track in range(points.shape[1]):
        total += points[1, track] - points[0, track]
    return 1 if total > 0 else -1 if total < 0 else 0


def keep_best(c, s, policy, n, buffers):
    """Keep the best of the first `n` actions, in their order, and return their number.

    Among actions with equal points, those that exchange the most tiles are the best.
    """
    actions, points = buffers.actions, buffers.points
    kept, most = 0, np.int64(0)
    for i in range(n):
        action = np.int64(actions[i])
        exchanged = score_action(c, s, action)
        for track in range(points.shape[1]):
            points[1, track] = np.int64(s.scores[s.seat, track]) + s.gain[track]
        order = compare_gains(s, policy, points) if kept > 0 else 1
        if order == 0 and exchanged != most:
            order = 1 if exchanged > most else -1
        if order > 0:
            kept, most = 0, exchanged
            for track in range(points.shape[1]):
                points[0, track] = points[1, track]
        if order >= 0:
            actions[kept] = action
            kept += 1
    return kept


def best_by_points(c, s, policy, buffers):
    """Write the best actions by their points, ascending, and return their number.

    Keys select few placements quickly. They do not tell gains apart that are beyond the last digit or exceed
    `MAX_POINTS`, so the selected ones are compared again.
    """
    fill_gain_keys(s, policy, buffers.gain_keys)
    n = np.int64(best_placements(c, s, buffers.gain_keys, buffers.actions))
    best = np.int64(0)
    if n > 0:
        score_action(c, s, np.int64(buffers.actions[0]))
        best = gain_key(s, buffers.gain_keys)
    if best == 0:
        for action in range(np.int64(c.placements), np.int64(c.actions)):
            if refusal(c, s, action) == 0:
                buffers.actions[n] = action
                n += 1
    return keep_best(c, s, policy, n, buffers) if n > 1 else n


def best_sample(c, s, samples, word, buffers):
    """Return the action with the most points among random ones, which are drawn with replacement.

    Of equal actions it is the one that exchanges the most tiles, then the one that was drawn first.
    """
    seed_from_word(buffers.rng, word)
    legal = count_actions(c, s)
    chosen, most, most_exchanged = np.int64(-1), np.int64(-1), np.int64(0)
    for _ in range(samples):
        action = nth_action(c, s, randint(buffers.rng, legal))
        exchanged = score_action(c, s, action)
        points = np.int64(0)
        for track in range(len(s.gain)):
            points += s.gain[track]
        if points > most or (points == most and exchanged > most_exchanged):
            chosen, most, most_exchanged = action, points, exchanged
    return chosen


def policy_action(c, s, policy, samples, word, buffers):
    """Return the action that a policy chooses. `s.gain` is overwritten."""
    if policy == RANDOM:
        return random_action(c, s, word)
    if policy == SAMPLED:
        return best_sample(c, s, samples, word, buffers)
    return np.int64(buffers.actions[scale(word, best_by_points(c, s, policy, buffers))])


def best_sample_by_value(c, states, samples, word, weights, scratch):
    """Return the action with the highest one-ply value among random ones, and that value.

    The state is `states[0]`; `states[1]` is overwritten. A repeated action is evaluated once.
    """
    seat = np.int64(states[0].seat)
    seed_from_word(scratch.rng, word)
    legal = count_actions(c, states[0])
    chosen, highest, most_exchanged = np.int64(-1), np.float32(-1.0), np.int64(0)
    tried = 0
    for _ in range(samples):
        action = nth_action(c, states[0], randint(scratch.rng, legal))
        repeated = False
        for i in range(tried):
            repeated |= scratch.actions[i] == action
        if repeated:
            continue
        if tried < MAX_SHORTLIST:
            scratch.actions[tried] = action
            tried += 1
        exchanged = np.int64(0)
        if action >= c.placements:
            exchanged = np.int64(tiles_exchanged(c, states[0], action))
        states[1] = states[0]
        apply_action(c, states[1], action)
        value = evaluate(c, states[1], seat, weights, scratch)
        if value > highest or (value == highest and exchanged > most_exchanged):
            chosen, highest, most_exchanged = action, value, exchanged
    return chosen, highest


POLICY_PARTS = (
    count_actions,
    nth_action,
    score_action,
    random_action,
    fill_gain_keys,
    compare_gains,
    keep_best,
    best_by_points,
    best_sample,
    policy_action,
)
VALUE_PARTS = (apply_action, featurize, evaluate, count_actions, nth_action, best_sample_by_value)


# ---------------------------------------------------------------- loops that Python calls


@loop(parts=POLICY_PARTS)
def choose_by_points(
    constants: Constants, states: States, policy: Int, samples: Int, words: Rng, buffers: ChoiceBuffers
):
    """Return the action in `states[0]` of a policy; `samples` is for `SAMPLED` only."""
    return policy_action(constants[0], states[0], policy, samples, words[0], buffers)


@loop(parts=VALUE_PARTS)
def choose_by_value(
    constants: Constants,
    states: States,
    samples: Int,
    words: Rng,
    weights: WeightsArray,
    scratch: ScratchArray,
):
    """Return the best action of `samples` random ones in `states[0]` by one-ply value, and that value."""
    return best_sample_by_value(constants[0], states, samples, words[0], weights[0], scratch[0])


LOOPS = (choose_by_points, choose_by_value)
