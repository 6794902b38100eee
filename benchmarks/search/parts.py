"""Rollouts taken apart: how often they call each of their parts, and each part on its own, over and over.

The loops are like those of `players.evaluation.rollout_loops`. Machine code of inlined rules has no names by
which a profiler could distinguish them. Therefore `trace` plays rollouts as `run_rollouts` does (a test
compares the results), counts calls and keeps some of their positions, and `repeat` calls one part in those
positions.
"""
# Typed by Numba at compilation, as rules are.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from axiogames.games.protocol import progress, sample_chance
from axiogames.games.runtime.signatures import (
    Argument,
    Constants,
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
    DETERMINIZED,
    ROLLOUT,
    ROOT,
    SEARCH_WIDTH,
    RolloutTask,
    apply_action,
    determinize,
    evaluate,
    one_ply_search,
    rollout_policy,
    write_utility,
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


class PartCalls(NamedTuple):
    """Calls of the parts of rollouts: their numbers, and some positions in which they happened."""

    counts: Int64s
    samples: Samples
    actions: Int64Rows
    rng: Rng  # chooses the samples
    seat: Int  # the root player


def note(s, which, action, calls):
    """Count a call of a part, and keep the position in which it happens with the same chance as any other."""
    at = calls.counts[which]
    calls.counts[which] += 1
    if at >= calls.samples.shape[1]:
        at = randint(calls.rng, calls.counts[which])
    if at < calls.samples.shape[1]:
        calls.samples[which, at] = s
        calls.actions[which, at] = action


apart = loop(parts=(*rollout_loops.PARTS, note))


@apart
def trace(
    constants: Constants,
    states: States,
    task: RolloutTask,
    weights: WeightsArray,
    scratch: ScratchArray,
    sums: Float64s,
    calls: PartCalls,
):
    """`run_rollouts` and `rollout` of `rollout_loops`, with every call of a part recorded."""
    c, rng = constants[0], scratch[0].rng
    seat = np.int64(states[ROOT].seat)
    s = states[ROLLOUT]
    for number in range(len(task.seeds)):
        rng[0] = task.seeds[number]
        note(states[ROOT], COPY, BY_LOT, calls)
        states[DETERMINIZED] = states[ROOT]
        note(states[DETERMINIZED], GUESS, BY_LOT, calls)
        determinize(c, states[DETERMINIZED], task.hidden_counts, task.excluded, rng)
        rng_after = rng[0]
        for i in range(len(task.actions)):
            rng[0] = rng_after
            note(states[DETERMINIZED], COPY, BY_LOT, calls)
            states[ROLLOUT] = states[DETERMINIZED]
            note(s, MOVE, np.int64(task.actions[i]), calls)
            apply_action(c, s, np.int64(task.actions[i]))
            left = task.turns
            while left > 0 and s.phase != OVER:
                if s.phase >= DRAW:
                    note(s, MOVE, BY_LOT, calls)
                    apply_action(c, s, sample_chance(c, s, rng))
                    continue
                mover = np.int64(s.seat)
                if progress(c, s) > task.search_after:
                    note(s, LOOK, BY_LOT, calls)
                    action, _ = one_ply_search(c, states, ROLLOUT, SEARCH_WIDTH, weights[0], scratch[0])
                else:
                    note(s, WEIGH, BY_LOT, calls)
                    write_utility(c, s, weights[0], scratch[0])
                    note(s, KEENEST, BY_LOT, calls)
                    action = rollout_policy(c, s, rng, scratch[0])
                note(s, MOVE, np.int64(action), calls)
                apply_action(c, s, action)
                if mover == seat:
                    left -= 1
            note(s, JUDGE, BY_LOT, calls)
            sums[i] += evaluate(c, s, seat, weights[0], scratch[0])


@apart
def repeat(
    constants: Constants,
    states: States,
    which: Int,
    passes: Int,
    task: RolloutTask,
    weights: WeightsArray,
    scratch: ScratchArray,
    calls: PartCalls,
):
    """Call one part in each of its recorded positions, `passes` times, on a copy of the position.

    The keenest move is found after points have been weighed: what that takes has to be taken off.
    """
    c, rng = constants[0], scratch[0].rng
    s = states[ROOT]
    seen = 0
    for _ in range(passes):
        for i in range(min(calls.counts[which], calls.samples.shape[1])):
            states[ROOT] = calls.samples[which, i]
            if which == GUESS:
                determinize(c, s, task.hidden_counts, task.excluded, rng)
            elif which == WEIGH or which == KEENEST:  # noqa: SIM109, compiled code has no tuples of numbers
                write_utility(c, s, weights[0], scratch[0])
                if which == KEENEST:
                    seen += rollout_policy(c, s, rng, scratch[0])
            elif which == MOVE:
                action = calls.actions[which, i]
                if action == BY_LOT:
                    action = np.int64(sample_chance(c, s, rng))
                apply_action(c, s, action)
            elif which == JUDGE:
                evaluate(c, s, np.int64(calls.seat), weights[0], scratch[0])
            elif which == LOOK:
                one_ply_search(c, states, ROOT, SEARCH_WIDTH, weights[0], scratch[0])
            seen += s.phase
    return seen
