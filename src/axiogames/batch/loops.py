"""Loops over the games of a batch, shared by all games.

The functions are templates like those in `games.runtime.loops`. `PARTS` work on one game. The loops, which
Python calls, apply them to the games from `start` to `stop` - 1, so that threads can share a batch.

Arguments that belong together are records. Python passes them as plain tuples: Numba recognizes one in
0.1 µs, but a named tuple in 0.5 µs, and a step of a small batch takes 3 µs in all.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, NamedTuple

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
    GameArrays,
    Int,
    Int16Rows,
    Int16s,
    Int64s,
    Rng,
    States,
    array,
    loop,
    record_argument,
)
from ..games.runtime.state import OVER
from ..games.variant import Variant
from .thread_pool import SharedLoop, make_shared

# Rewards of a finished game.
NO_REWARD, WIN, PLACE_REWARD, LOWEST = np.int64(0), np.int64(1), np.int64(2), np.int64(3)

Seats = Annotated[Any, array(np.uint8)]
Masks = Annotated[Any, array(np.uint8, 2)]
Boards = Annotated[Any, array(np.int8, 2)]
Finals = Annotated[Any, array(np.int16, 3)]


class StepConfig(NamedTuple):
    """Settings of a step."""

    auto_reset: Bool  # whether a game that ends is restarted
    reward: Int  # `NO_REWARD` to `LOWEST`
    sample: Bool  # whether `step_and_observe_all` also samples an action


class StepOutput(NamedTuple):
    """The outcome of a step, a row for each game."""

    gains: Int16Rows  # by track: points that the seat scored
    finals: Finals  # by seat and track: points at the end of the last game that ended
    rewards: Float32Rows  # by seat, 0 unless the game has ended
    ended: Flags


class TurnArrays(NamedTuple):
    """Arrays for the observation and the choices of the seat to move, a row for each game."""

    cells: Int16s  # input: the index of each cell in a plane of the board
    boards: Boards
    vectors: Int16Rows
    masks: Masks
    sampled: Actions  # a legal action, uniformly at random


Games = Annotated[Any, record_argument(GameArrays, plain=True)]
Config = Annotated[Any, record_argument(StepConfig, plain=True)]
Output = Annotated[Any, record_argument(StepOutput, plain=True)]
Turn = Annotated[Any, record_argument(TurnArrays, plain=True)]


def reset_game(c, games, i):
    """Restart game `i` and advance it to its first decision."""
    games.states[i] = games.openings[0]
    resolve_chance(c, games.states[i], games.rngs[i : i + 1])


def write_rewards(c, s, reward, out):
    """Write the reward of a finished game for each seat.

    `WIN`: the winners share what the others lose, at most 1, and the sum is 0. `PLACE_REWARD`: from 1 for the
    first place to -1 for the last, in equal steps. `LOWEST`: the points of the lowest track. In a solo game,
    `WIN` is 1 and `PLACE_REWARD` is 0.
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
        if reward == WIN:
            out[seat] = better == 0
        elif reward == PLACE_REWARD and players > 1:
            out[seat] = np.float32(worse - better) / np.float32(players - 1)
        elif reward == LOWEST:
            lowest = s.scores[seat, 0]
            for track in range(1, s.scores.shape[1]):
                lowest = min(lowest, s.scores[seat, track])
            out[seat] = lowest
    if reward == WIN and players > 1:
        for seat in range(players):
            won = np.float32(players - winners) / np.float32(winners)
            out[seat] = (won if out[seat] > 0 else np.float32(-1.0)) / np.float32(players - 1)


def step_game(c, games, i, action, config, output):
    """Apply a legal action to game `i` and resolve chance. A game that is over does not change.

    With `config.auto_reset`, a game that ends is restarted.
    """
    s = games.states[i]
    seat, tracks = np.int64(s.seat), s.scores.shape[1]
    for track in range(tracks):
        output.gains[i, track] = 0
    for other in range(c.players):
        output.rewards[i, other] = 0
    output.ended[i] = s.phase == OVER
    if s.phase == OVER:
        return
    for track in range(tracks):
        output.gains[i, track] = -s.scores[seat, track]
    apply(c, s, np.int64(action))
    resolve_chance(c, s, games.rngs[i : i + 1])
    for track in range(tracks):
        output.gains[i, track] += s.scores[seat, track]
    if s.phase == OVER:
        output.ended[i] = True
        write_rewards(c, s, config.reward, output.rewards[i])
        for other in range(c.players):
            for track in range(tracks):
                output.finals[i, other, track] = s.scores[other, track]
        if config.auto_reset:
            reset_game(c, games, i)


def write_mask(c, s, mask):
    """Write the mask of legal actions."""
    clear(mask)
    legal_mask(c, s, mask)


def is_legal(c, s, action):
    """Return whether an action is legal. No action is legal in a finished game."""
    return refusal(c, s, np.int64(action)) == 0


def sample_action(c, s, rng):
    """Return a legal action, uniformly at random, or 0 if the game is over."""
    return np.int64(0) if s.phase == OVER else np.int64(sample_legal(c, s, rng))


PARTS = (*loops.PARTS, reset_game, write_rewards, observe, step_game, write_mask, is_legal, sample_action)


# ---------------------------------------------------------------- loops over a range of games


over_games = loop(parts=PARTS, counted=False)


@over_games
def reset_all(constants: Constants, games: Games, which: Flags, start: Int, stop: Int):
    """Restart the games where `which` is true."""
    games = GameArrays(*games)
    for i in range(start, stop):
        if which[i]:
            reset_game(constants[0], games, i)


@over_games
def find_illegal(
    constants: Constants, states: States, actions: Actions, illegal: Flags, start: Int, stop: Int
):
    """Write for each game whether its action is illegal. Finished games accept any action."""
    c = constants[0]
    for i in range(start, stop):
        action = np.int64(actions[i])
        in_range = action >= 0 and action < c.actions
        illegal[i] = states[i].phase != OVER and not (in_range and is_legal(c, states[i], action))


@over_games
def step_all(
    constants: Constants,
    games: Games,
    actions: Actions,
    config: Config,
    output: Output,
    start: Int,
    stop: Int,
):
    """Apply an action to every game."""
    games, config, output = GameArrays(*games), StepConfig(*config), StepOutput(*output)
    for i in range(start, stop):
        step_game(constants[0], games, i, actions[i], config, output)


@over_games
def step_and_observe_all(
    constants: Constants,
    games: Games,
    actions: Actions,
    config: Config,
    output: Output,
    turn: Turn,
    start: Int,
    stop: Int,
):
    """Apply an action to every game, then write the observation and the choices of the seat to move."""
    c, games, config = constants[0], GameArrays(*games), StepConfig(*config)
    output, turn = StepOutput(*output), TurnArrays(*turn)
    for i in range(start, stop):
        step_game(c, games, i, actions[i], config, output)
        s = games.states[i]
        clear(turn.boards[i])
        observe(c, s, np.int64(s.seat), turn.cells, turn.boards[i], turn.vectors[i])
        write_mask(c, s, turn.masks[i])
        if config.sample:
            turn.sampled[i] = sample_action(c, s, games.rngs[i : i + 1])


@over_games
def masks_all(constants: Constants, states: States, masks: Masks, start: Int, stop: Int):
    """Write the mask of legal actions of every game."""
    for i in range(start, stop):
        write_mask(constants[0], states[i], masks[i])


@over_games
def count_all(constants: Constants, states: States, counts: Actions, start: Int, stop: Int):
    """Write the number of legal actions of every game."""
    for i in range(start, stop):
        counts[i] = count_legal(constants[0], states[i])


@over_games
def nth_all(constants: Constants, states: States, indices: Int64s, actions: Actions, start: Int, stop: Int):
    """Write the legal action with the given index for every game. Indices wrap around."""
    c = constants[0]
    for i in range(start, stop):
        s = states[i]
        count = count_legal(c, s)
        if count == 0:
            actions[i] = 0
        else:
            actions[i] = nth_legal(c, s, np.int64(indices[i]) % count)


@over_games
def sample_all(constants: Constants, states: States, rngs: Rng, actions: Actions, start: Int, stop: Int):
    """Write a legal action of every game, uniformly at random."""
    for i in range(start, stop):
        actions[i] = sample_action(constants[0], states[i], rngs[i : i + 1])


@over_games
def greedy_all(constants: Constants, states: States, rngs: Rng, actions: Actions, start: Int, stop: Int):
    """Write a legal action that scores the most points for every game."""
    c = constants[0]
    for i in range(start, stop):
        s = states[i]
        if s.phase == OVER:
            actions[i] = 0
        else:
            action, _ = greedy_action(c, s, rngs[i : i + 1])
            actions[i] = action


@over_games
def finished_all(constants: Constants, states: States, over: Flags, start: Int, stop: Int):
    """Write for each game whether it is over."""
    for i in range(start, stop):
        over[i] = states[i].phase == OVER


@over_games
def observe_all(
    constants: Constants,
    states: States,
    seats: Seats,
    cells: Int16s,
    boards: Boards,
    vectors: Int16Rows,
    start: Int,
    stop: Int,
):
    """Write the observation of a seat of every game."""
    for i in range(start, stop):
        clear(boards[i])
        observe(constants[0], states[i], np.int64(seats[i]), cells, boards[i], vectors[i])


@over_games
def random_games(
    constants: Constants,
    games: Games,
    count: Int,
    moves: Int64s,
    scored: Int64s,
    start: Int,
    stop: Int,
):
    """Play `count` random games at every index; write the number of moves, and 0 for scored placements."""
    games = GameArrays(*games)
    for i in range(start, stop):
        moves[i], scored[i] = 0, 0
        for _ in range(count):
            game_moves, game_scored = random_game(
                constants[0], games.openings, games.states, i, games.rngs[i : i + 1]
            )
            moves[i] += game_moves
            scored[i] += game_scored


@over_games
def greedy_games(
    constants: Constants,
    games: Games,
    count: Int,
    moves: Int64s,
    scored: Int64s,
    start: Int,
    stop: Int,
):
    """Play `count` greedy games at every index; write the number of moves and of scored placements."""
    games = GameArrays(*games)
    for i in range(start, stop):
        moves[i], scored[i] = 0, 0
        for _ in range(count):
            game_moves, game_scored = greedy_game(
                constants[0], games.openings, games.states, i, games.rngs[i : i + 1]
            )
            moves[i] += game_moves
            scored[i] += game_scored


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
    """Return a loop of a game for a thread pool, which chooses the range of games of each call."""
    kernels, template = variant.kernels, LOOPS_BY_NAME[name]
    *arguments, _, _ = kernels.examples(template)
    return make_shared(kernels[template], name, tuple(arguments))
