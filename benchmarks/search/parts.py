"""The parts of rollouts: how often each is called, and each one repeated on its own.

A sampling profiler cannot attribute time to inlined rules, because they have no symbols in the machine code.
Therefore `trace` plays the same rollouts as `run_rollouts` (the profiler compares the results), counts the
calls of each part, and records a sample of the positions in part they happen. `repeat` then calls a single
part in these positions.
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


def record(s, part, action, calls, samples, actions, rng):
    """Count a call of a part, and add its position to the samples of the part (reservoir sampling)."""
    index = calls[part]
    calls[part] += 1
    if index >= samples.shape[1]:
        index = randint(rng, calls[part])
    if index < samples.shape[1]:
        samples[part, index] = s
        actions[part, index] = action


profiled = loop(parts=(*rollout_loops.PARTS, record))


@profiled
def trace(
    constants: Constants,
    states: States,
    candidates: Actions,
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
    sampling_rng: Rng,
):
    """Run the same rollouts as `rollout_loops.run_rollouts`, and record every call of a part."""
    c, rng = constants[0], scratch[0].rng
    seat = np.int64(states[0].seat)
    s = states[AFTER]
    for index in range(len(seeds)):
        rng[0] = seeds[index]
        record(states[0], COPY, CHANCE, calls, samples, actions, sampling_rng)
        states[1] = states[0]
        record(states[1], DETERMINIZE, CHANCE, calls, samples, actions, sampling_rng)
        determinize(c, states[1], hidden_counts, excluded, rng)
        common_seed = rng[0]
        for i in range(n):
            rng[0] = common_seed
            record(states[1], COPY, CHANCE, calls, samples, actions, sampling_rng)
            states[AFTER] = states[1]
            record(s, MOVE, np.int64(candidates[i]), calls, samples, actions, sampling_rng)
            apply_action(c, s, np.int64(candidates[i]))
            turns_left = turns
            while turns_left > 0 and s.phase != OVER:
                if s.phase >= DRAW:
                    record(s, MOVE, CHANCE, calls, samples, actions, sampling_rng)
                    apply_action(c, s, sample_chance(c, s, rng))
                    continue
                mover = np.int64(s.seat)
                if progress(c, s) > search_after:
                    record(s, SEARCH, CHANCE, calls, samples, actions, sampling_rng)
                    action, _ = one_ply_search(
                        c, states, AFTER, AFTER_TRIAL, SEARCHED_MOVES, weights[0], scratch[0], buffer
                    )
                else:
                    record(s, UTILITY, CHANCE, calls, samples, actions, sampling_rng)
                    fill_utility(
                        s,
                        mover,
                        weights[0].cap,
                        progress(c, s),
                        weights[0].utility_params,
                        scratch[0].utility,
                    )
                    record(s, POLICY, CHANCE, calls, samples, actions, sampling_rng)
                    action = rollout_policy(c, s, rng, scratch[0])
                record(s, MOVE, np.int64(action), calls, samples, actions, sampling_rng)
                apply_action(c, s, action)
                if mover == seat:
                    turns_left -= 1
            record(s, EVALUATE, CHANCE, calls, samples, actions, sampling_rng)
            sums[i] += evaluate(c, s, seat, weights[0], scratch[0])


@profiled
def repeat(
    constants: Constants,
    part: Int,
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
    """Call one part in each of its first `n` positions, `passes` times, on a copy of the position.

    The rollout policy needs the utility of points. Its time therefore includes that of `UTILITY`, which has
    to be subtracted.
    """
    c, rng = constants[0], scratch[0].rng
    s = states[HERE]
    checksum = 0  # keeps the compiler from removing calls without effect
    for _ in range(passes):
        for i in range(n):
            states[HERE] = samples[part, i]
            if part == DETERMINIZE:
                determinize(c, s, hidden_counts, excluded, rng)
            elif part == UTILITY or part == POLICY:  # noqa: SIM109, no tuples in compiled code
                fill_utility(
                    s,
                    np.int64(s.seat),
                    weights[0].cap,
                    progress(c, s),
                    weights[0].utility_params,
                    scratch[0].utility,
                )
                if part == POLICY:
                    checksum += rollout_policy(c, s, rng, scratch[0])
            elif part == MOVE:
                action = actions[part, i]
                if action == CHANCE:
                    action = np.int64(sample_chance(c, s, rng))
                apply_action(c, s, action)
            elif part == EVALUATE:
                evaluate(c, s, np.int64(seat), weights[0], scratch[0])
            elif part == SEARCH:
                one_ply_search(c, states, HERE, TRIAL, SEARCHED_MOVES, weights[0], scratch[0], buffer)
            checksum += s.phase
    return checksum
