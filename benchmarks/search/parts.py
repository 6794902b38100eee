"""Rollouts taken apart: how often they call each of their parts, and each part on its own, over and over.

Loops like those of `engine.thinking`. Machine code of inlined rules has no names that a profiler could tell
them apart by; so `trace` plays rollouts as `run_rollouts` does (a test compares what comes of them), counts
calls and keeps some positions in which they happened, and `repeat` does nothing but call one part in those
positions.
"""
# Typed by Numba at compilation, as rules are.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from axiogames.games.protocol import progress, sample_chance
from axiogames.games.runtime.evaluation import fill_utility
from axiogames.games.runtime.signatures import (
    Actions,
    Argument,
    Constants,
    Float32,
    Float64s,
    Int,
    Int64Rows,
    Int64s,
    Rng,
    States,
    loop,
)
from axiogames.games.runtime.state import DRAW, OVER
from axiogames.games.runtime.xorshift import randint
from axiogames.players.evaluation import rollout_loops
from axiogames.players.evaluation.rollout_loops import (
    AFTER,
    AFTER_TRIAL,
    HERE,
    SEARCHED_MOVES,
    TRIAL,
    apply_action,
    determinize,
    evaluate,
    one_ply_search,
    rollout_policy,
)
from axiogames.players.evaluation.weights import ScratchArray, WeightsArray

PARTS = (
    "copying positions",
    "guessing what is hidden",
    "weighing points",
    "finding the keenest move",
    "moves and draws",
    "judging the position",
    "looks close to the end",
)
COPY, GUESS, WEIGH, KEENEST, MOVE, JUDGE, LOOK = (np.int64(number) for number in range(len(PARTS)))
BY_LOT = np.int64(-1)  # the action of a draw: which tile comes is not decided yet

Samples = Annotated[Any, Argument(lambda game: np.zeros((1, 1), game.state_type))]


def note(s, which, action, calls, samples, actions, hidden_counts):
    """Count a call of a part, and keep the position in which it happens with the same chance as any other."""
    at = calls[which]
    calls[which] += 1
    if at >= samples.shape[1]:
        at = randint(hidden_counts, calls[which])
    if at < samples.shape[1]:
        samples[which, at] = s
        actions[which, at] = action


apart = loop(parts=(*rollout_loops.PARTS, note))


@apart
def trace(
    constants: Constants,
    states: States,
    tried: Actions,
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
    calls: Int64s,
    samples: Samples,
    actions: Int64Rows,
    kept_by: Rng,
):
    """`run_rollouts` and `rollout` of `rollout_loops`, with every call of a part recorded."""
    c, rng = constants[0], scratch[0].rng
    seat = np.int64(states[0].seat)
    s = states[AFTER]
    for number in range(len(seeds)):
        rng[0] = seeds[number]
        note(states[0], COPY, BY_LOT, calls, samples, actions, kept_by)
        states[1] = states[0]
        note(states[1], GUESS, BY_LOT, calls, samples, actions, kept_by)
        determinize(c, states[1], hidden_counts, excluded, rng)
        luck = rng[0]
        for i in range(n):
            rng[0] = luck
            note(states[1], COPY, BY_LOT, calls, samples, actions, kept_by)
            states[AFTER] = states[1]
            note(s, MOVE, np.int64(tried[i]), calls, samples, actions, kept_by)
            apply_action(c, s, np.int64(tried[i]))
            left = turns
            while left > 0 and s.phase != OVER:
                if s.phase >= DRAW:
                    note(s, MOVE, BY_LOT, calls, samples, actions, kept_by)
                    apply_action(c, s, sample_chance(c, s, rng))
                    continue
                mover = np.int64(s.seat)
                if progress(c, s) > search_after:
                    note(s, LOOK, BY_LOT, calls, samples, actions, kept_by)
                    action, _ = one_ply_search(
                        c, states, AFTER, AFTER_TRIAL, SEARCHED_MOVES, weights[0], scratch[0], buffer
                    )
                else:
                    note(s, WEIGH, BY_LOT, calls, samples, actions, kept_by)
                    fill_utility(
                        s,
                        mover,
                        weights[0].cap,
                        progress(c, s),
                        weights[0].utility_params,
                        scratch[0].utility,
                    )
                    note(s, KEENEST, BY_LOT, calls, samples, actions, kept_by)
                    action = rollout_policy(c, s, rng, scratch[0])
                note(s, MOVE, np.int64(action), calls, samples, actions, kept_by)
                apply_action(c, s, action)
                if mover == seat:
                    left -= 1
            note(s, JUDGE, BY_LOT, calls, samples, actions, kept_by)
            sums[i] += evaluate(c, s, seat, weights[0], scratch[0])


@apart
def repeat(
    constants: Constants,
    which: Int,
    passes: Int,
    seat: Int,
    states: States,
    hidden_counts: Int64Rows,
    excluded: Int64Rows,
    weights: WeightsArray,
    scratch: ScratchArray,
    buffer: Actions,
    samples: Samples,
    actions: Int64Rows,
    n: Int,
):
    """Call one part in each of its first `n` positions, so often; each is copied to where it may change.

    The keenest move is found after points have been weighed: what that takes has to be taken off.
    """
    c, rng = constants[0], scratch[0].rng
    s = states[HERE]
    seen = 0
    for _ in range(passes):
        for i in range(n):
            states[HERE] = samples[which, i]
            if which == GUESS:
                determinize(c, s, hidden_counts, excluded, rng)
            elif which == WEIGH or which == KEENEST:  # noqa: SIM109, compiled code has no tuples of numbers
                fill_utility(
                    s,
                    np.int64(s.seat),
                    weights[0].cap,
                    progress(c, s),
                    weights[0].utility_params,
                    scratch[0].utility,
                )
                if which == KEENEST:
                    seen += rollout_policy(c, s, rng, scratch[0])
            elif which == MOVE:
                action = actions[which, i]
                if action == BY_LOT:
                    action = np.int64(sample_chance(c, s, rng))
                apply_action(c, s, action)
            elif which == JUDGE:
                evaluate(c, s, np.int64(seat), weights[0], scratch[0])
            elif which == LOOK:
                one_ply_search(c, states, HERE, TRIAL, SEARCHED_MOVES, weights[0], scratch[0], buffer)
            seen += s.phase
    return seen
