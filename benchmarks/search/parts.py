"""The parts of rollouts: how often each is called, and each one repeated on its own.

A sampling profiler cannot attribute time to inlined rules, because they have no symbols in the machine code.
Therefore `trace` plays the same rollouts as `run_rollouts` (the profiler compares the results), counts the
calls of each part, and records a sample of the positions in which they happen. `repeat` then calls a single
part in these positions.
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
from axiogames.games.runtime.xorshift import nth_seed_state, randint
from axiogames.players.evaluation import rollout_loops
from axiogames.players.evaluation.hidden_tiles import determinize
from axiogames.players.evaluation.rollout_loops import (
    DETERMINIZED,
    ROLLOUT,
    ROOT,
    SEARCH_WIDTH,
    RolloutTask,
    apply_action,
    evaluate,
    one_ply_search,
    rollout_policy,
    write_utility,
)
from axiogames.players.evaluation.weights import ScratchArray, WeightsArray

PARTS = (
    "copying states",
    "determinization",
    "utility of points",
    "rollout policy",
    "moves and draws",
    "evaluation",
    "one-ply search",
)
COPY, DETERMINIZE, UTILITY, POLICY, MOVE, EVALUATE, SEARCH = (np.int64(part) for part in range(len(PARTS)))
CHANCE = np.int64(-1)  # in place of an action: a draw, whose tile is sampled later

Samples = Annotated[Any, Argument(lambda game: np.zeros((1, 1), game.state_type))]


class PartCalls(NamedTuple):
    """Calls of the parts of rollouts: their numbers, and a sample of the positions in which they happened."""

    counts: Int64s
    samples: Samples
    actions: Int64Rows
    rng: Rng  # chooses the samples
    seat: Int  # the root player


def record(s, part, action, calls):
    """Count a call of a part, and add its position to the samples of the part (reservoir sampling)."""
    index = calls.counts[part]
    calls.counts[part] += 1
    if index >= calls.samples.shape[1]:
        index = randint(calls.rng, calls.counts[part])
    if index < calls.samples.shape[1]:
        calls.samples[part, index] = s
        calls.actions[part, index] = action


profiled = loop(parts=(*rollout_loops.PARTS, record))


@profiled
def trace(
    constants: Constants,
    states: States,
    task: RolloutTask,
    weights: WeightsArray,
    scratch: ScratchArray,
    sums: Float64s,
    calls: PartCalls,
):
    """Run the same rollouts as `rollout_loops.run_rollouts`, and record every call of a part."""
    c, rng = constants[0], scratch[0].rng
    seat = np.int64(states[ROOT].seat)
    s = states[ROLLOUT]
    for index in range(task.samples):
        rng[0] = nth_seed_state(task.seed, task.first + index)
        record(states[ROOT], COPY, CHANCE, calls)
        states[DETERMINIZED] = states[ROOT]
        record(states[DETERMINIZED], DETERMINIZE, CHANCE, calls)
        determinize(c, states[DETERMINIZED], task.hidden[0], rng)
        common_seed = rng[0]
        for i in range(len(task.actions)):
            rng[0] = common_seed
            record(states[DETERMINIZED], COPY, CHANCE, calls)
            states[ROLLOUT] = states[DETERMINIZED]
            record(s, MOVE, np.int64(task.actions[i]), calls)
            apply_action(c, s, np.int64(task.actions[i]))
            turns_left = task.turns
            while turns_left > 0 and s.phase != OVER:
                if s.phase >= DRAW:
                    record(s, MOVE, CHANCE, calls)
                    apply_action(c, s, sample_chance(c, s, rng))
                    continue
                mover = np.int64(s.seat)
                if progress(c, s) > task.search_after:
                    record(s, SEARCH, CHANCE, calls)
                    action, _ = one_ply_search(c, states, ROLLOUT, SEARCH_WIDTH, weights[0], scratch[0])
                else:
                    record(s, UTILITY, CHANCE, calls)
                    write_utility(c, s, weights[0], scratch[0])
                    record(s, POLICY, CHANCE, calls)
                    action = rollout_policy(c, s, rng, scratch[0])
                record(s, MOVE, np.int64(action), calls)
                apply_action(c, s, action)
                if mover == seat:
                    turns_left -= 1
            record(s, EVALUATE, CHANCE, calls)
            sums[i] += evaluate(c, s, seat, weights[0], scratch[0])


@profiled
def repeat(
    constants: Constants,
    states: States,
    part: Int,
    passes: Int,
    task: RolloutTask,
    weights: WeightsArray,
    scratch: ScratchArray,
    calls: PartCalls,
):
    """Call one part in each of its recorded positions, `passes` times, on a copy of the position.

    The rollout policy needs the utility of points. Its time therefore includes that of `UTILITY`, part has
    to be subtracted.
    """
    c, rng = constants[0], scratch[0].rng
    s = states[ROOT]
    checksum = 0  # keeps the compiler from removing calls without effect
    for _ in range(passes):
        for i in range(min(calls.counts[part], calls.samples.shape[1])):
            states[ROOT] = calls.samples[part, i]
            if part == DETERMINIZE:
                determinize(c, s, task.hidden[0], rng)
            elif part == UTILITY or part == POLICY:  # noqa: SIM109, no tuples in compiled code
                write_utility(c, s, weights[0], scratch[0])
                if part == POLICY:
                    checksum += rollout_policy(c, s, rng, scratch[0])
            elif part == MOVE:
                action = calls.actions[part, i]
                if action == CHANCE:
                    action = np.int64(sample_chance(c, s, rng))
                apply_action(c, s, action)
            elif part == EVALUATE:
                evaluate(c, s, np.int64(calls.seat), weights[0], scratch[0])
            elif part == SEARCH:
                one_ply_search(c, states, ROOT, SEARCH_WIDTH, weights[0], scratch[0])
            checksum += s.phase
    return checksum
