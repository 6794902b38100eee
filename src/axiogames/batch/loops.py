"""Many games of one kind side by side, written once for all games.

Templates like those of `loops`. What is done to one game of a batch are the parts; the loops that Python
calls do it to a range of games, so that a batch can be shared among threads.

`states` has a game in each entry, `rngs` its generator.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

import numpy as np

from ..games.protocol import (
    apply,
    count_legal,
    greedy_action,
    legal_mask,
    nth_legal,
    refusal,
    sample_legal,
)
from ..games.runtime import loops
from ..games.runtime.loops import greedy_game, random_game, resolve_chance
from ..games.runtime.observation import clear, observe
from ..games.runtime.ranks import compare_scores
from ..games.runtime.signatures import (
    Actions,
    Bool,
    Constants,
    Flags,
    Float32Rows,
    Int,
    Int16Rows,
    Int16s,
    Int64s,
    Rng,
    States,
    array,
    loop,
)
from ..games.runtime.state import OVER
from ..games.variant import Variant
from .thread_pool import SharedLoop, make_shared

# What a finished game is worth to its seats.
NOTHING, WIN, PLACE_REWARD, LOWEST = np.int64(0), np.int64(1), np.int64(2), np.int64(3)


def reset_game(c, openings, states, rngs, i):
    """Start a game anew, up to its first decision."""
    states[i] = openings[0]
    resolve_chance(c, states[i], rngs[i : i + 1])


def write_rewards(c, s, kind, out):
    """Write what a finished game is worth to each seat.

    `WIN`: the winners share what the others lose, 1 at most, and everything adds up to 0. `PLACE_REWARD`:
    from 1 for the first place to -1 for the last, 0 in the middle. `LOWEST`: the points of the lowest track.
    """
    players = c.players
    winners = 0
    for seat in range(players):
        better, worse = 0, 0
        for other in range(players):
            order = compare_scores(s.scores, seat, other)
            better += order < 0
            worse += order > 0
        winners += better == 0
        out[seat] = 0
        if kind == WIN:
            out[seat] = better == 0
        elif kind == PLACE_REWARD and players > 1:
            out[seat] = np.float32(worse - better) / np.float32(players - 1)
        elif kind == LOWEST:
            lowest = s.scores[seat, 0]
            for track in range(1, s.scores.shape[1]):
                lowest = min(lowest, s.scores[seat, track])
            out[seat] = lowest
    if kind == WIN and players > 1:
        for seat in range(players):
            won = np.float32(players - winners) / np.float32(winners)
            out[seat] = (won if out[seat] > 0 else np.float32(-1.0)) / np.float32(players - 1)


def step_game(c, openings, states, rngs, i, action, auto_reset, kind, gains, finals, rewards, ended):
    """Carry out a legal action of one game and what chance does after it; where it ends, start it anew.

    `gains` is what the seat scored by it, `finals` the points at the end of the last game that ended.
    """
    s = states[i]
    seat, tracks = np.int64(s.seat), s.scores.shape[1]
    for track in range(tracks):
        gains[i, track] = 0
    for other in range(c.players):
        rewards[i, other] = 0
    ended[i] = s.phase == OVER
    if s.phase == OVER:
        return
    for track in range(tracks):
        gains[i, track] = -s.scores[seat, track]
    apply(c, s, np.int64(action))
    resolve_chance(c, s, rngs[i : i + 1])
    for track in range(tracks):
        gains[i, track] += s.scores[seat, track]
    if s.phase == OVER:
        ended[i] = True
        write_rewards(c, s, kind, rewards[i])
        for other in range(c.players):
            for track in range(tracks):
                finals[i, other, track] = s.scores[other, track]
        if auto_reset:
            reset_game(c, openings, states, rngs, i)


def write_mask(c, s, mask):
    """Write the mask of one game's legal actions."""
    clear(mask)
    legal_mask(c, s, mask)


def is_legal(c, s, action):
    """Whether an action is legal; none is, where the game is over."""
    return refusal(c, s, np.int64(action)) == 0


def sample_action(c, s, rng):
    """A legal action of one game, uniformly at random; 0 where it is over."""
    return np.int64(0) if s.phase == OVER else np.int64(sample_legal(c, s, rng))


PARTS = (*loops.PARTS, reset_game, write_rewards, observe, step_game, write_mask, is_legal, sample_action)


# ---------------------------------------------------------------- what Python calls, for a range of games


Seats = Annotated[Any, array(np.uint8)]
Masks = Annotated[Any, array(np.uint8, 2)]
Boards = Annotated[Any, array(np.int8, 2)]
Finals = Annotated[Any, array(np.int16, 3)]

over_games = loop(parts=PARTS, counted=False)


@over_games
def reset_all(
    constants: Constants, openings: States, states: States, rngs: Rng, which: Flags, first: Int, last: Int
):
    """Start every game anew that `which` says."""
    for i in range(first, last):
        if which[i]:
            reset_game(constants[0], openings, states, rngs, i)


@over_games
def find_illegal(
    constants: Constants, states: States, numbers: Actions, most: Int, wrong: Flags, first: Int, last: Int
):
    """Write in which games the number is no legal action; finished games take any number."""
    for i in range(first, last):
        number = np.int64(numbers[i])
        known = number >= 0 and number < most
        wrong[i] = states[i].phase != OVER and not (known and is_legal(constants[0], states[i], number))


@over_games
def step_all(
    constants: Constants,
    openings: States,
    states: States,
    rngs: Rng,
    numbers: Actions,
    auto_reset: Bool,
    kind: Int,
    gains: Int16Rows,
    finals: Finals,
    rewards: Float32Rows,
    ended: Flags,
    first: Int,
    last: Int,
):
    """Carry out an action in every game."""
    for i in range(first, last):
        step_game(
            constants[0],
            openings,
            states,
            rngs,
            i,
            numbers[i],
            auto_reset,
            kind,
            gains,
            finals,
            rewards,
            ended,
        )


@over_games
def step_and_observe_all(
    constants: Constants,
    openings: States,
    states: States,
    rngs: Rng,
    numbers: Actions,
    auto_reset: Bool,
    kind: Int,
    gains: Int16Rows,
    finals: Finals,
    rewards: Float32Rows,
    ended: Flags,
    places: Int16s,
    boards: Boards,
    vectors: Int16Rows,
    masks: Masks,
    picking: Bool,
    picked: Actions,
    first: Int,
    last: Int,
):
    """Carry out an action in every game, and write what the seat to move then knows and may do.

    With `picking` also the number of any legal action, each as likely as any other.
    """
    for i in range(first, last):
        step_game(
            constants[0],
            openings,
            states,
            rngs,
            i,
            numbers[i],
            auto_reset,
            kind,
            gains,
            finals,
            rewards,
            ended,
        )
        clear(boards[i])
        observe(constants[0], states[i], np.int64(states[i].seat), places, boards[i], vectors[i])
        write_mask(constants[0], states[i], masks[i])
        if picking:
            picked[i] = sample_action(constants[0], states[i], rngs[i : i + 1])


@over_games
def masks_all(constants: Constants, states: States, masks: Masks, first: Int, last: Int):
    """Write the mask of every game's legal actions."""
    for i in range(first, last):
        write_mask(constants[0], states[i], masks[i])


@over_games
def count_all(constants: Constants, states: States, counts: Actions, first: Int, last: Int):
    """Write how many legal actions every game has."""
    for i in range(first, last):
        counts[i] = count_legal(constants[0], states[i])


@over_games
def nth_all(constants: Constants, states: States, ranks: Int64s, numbers: Actions, first: Int, last: Int):
    """Write the number of the legal action with this rank in every game; ranks go round."""
    c = constants[0]
    for i in range(first, last):
        s = states[i]
        count = count_legal(c, s)
        if count == 0:
            numbers[i] = 0
        else:
            numbers[i] = nth_legal(c, s, np.int64(ranks[i]) % count)


@over_games
def sample_all(constants: Constants, states: States, rngs: Rng, numbers: Actions, first: Int, last: Int):
    """Write the number of any legal action in every game, each as likely as any other."""
    for i in range(first, last):
        numbers[i] = sample_action(constants[0], states[i], rngs[i : i + 1])


@over_games
def greedy_all(constants: Constants, states: States, rngs: Rng, numbers: Actions, first: Int, last: Int):
    """Write the number of an action with the most points now in every game."""
    c = constants[0]
    for i in range(first, last):
        s = states[i]
        if s.phase == OVER:
            numbers[i] = 0
        else:
            action, _ = greedy_action(c, s, rngs[i : i + 1])
            numbers[i] = action


@over_games
def finished_all(constants: Constants, states: States, over: Flags, first: Int, last: Int):
    """Write which games are over."""
    for i in range(first, last):
        over[i] = states[i].phase == OVER


@over_games
def observe_all(
    constants: Constants, states: States, seats: Seats, places: Int16s, boards: Boards, vectors: Int16Rows,
    first: Int, last: Int,
):  # fmt: skip
    """Write what a seat of every game knows."""
    for i in range(first, last):
        clear(boards[i])
        observe(constants[0], states[i], np.int64(seats[i]), places, boards[i], vectors[i])


@over_games
def random_games(
    constants: Constants,
    openings: States,
    states: States,
    rngs: Rng,
    games: Int,
    moves: Int64s,
    rated: Int64s,
    first: Int,
    last: Int,
):
    """Play so many whole games of random moves in every place; the moves made and rated."""
    for i in range(first, last):
        moves[i], rated[i] = 0, 0
        for _ in range(games):
            made, seen = random_game(constants[0], openings, states, i, rngs[i : i + 1])
            moves[i] += made
            rated[i] += seen


@over_games
def greedy_games(
    constants: Constants,
    openings: States,
    states: States,
    rngs: Rng,
    games: Int,
    moves: Int64s,
    rated: Int64s,
    first: Int,
    last: Int,
):
    """Play so many whole games of most points now in every place; the moves made and rated."""
    for i in range(first, last):
        moves[i], rated[i] = 0, 0
        for _ in range(games):
            made, seen = greedy_game(constants[0], openings, states, i, rngs[i : i + 1])
            moves[i] += made
            rated[i] += seen


LOOPS = (
    reset_all,
    find_illegal,
    step_all,
    step_and_observe_all,
    masks_all,
    count_all,
    nth_all,
    sample_all,
    greedy_all,
    finished_all,
    observe_all,
    random_games,
    greedy_games,
)


LOOPS_BY_NAME = {template.__name__.removesuffix("_all"): template for template in LOOPS}


@cache
def shared_loop(variant: Variant, name: str) -> SharedLoop:  # pragma: no cover - compiled only
    """Return a loop of a game for a thread pool, which gives each thread its share of the games."""
    kernels, template = variant.kernels, LOOPS_BY_NAME[name]
    *arguments, _, _ = kernels.examples(template)
    return make_shared(kernels[template], name, tuple(arguments))
