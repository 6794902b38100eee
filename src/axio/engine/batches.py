"""Many games of one kind side by side, written once for all games.

Templates like those of `loops`. What is done to one game of a batch are the parts; the loops that Python
calls do it to a range of games, so that a batch can be shared among threads.

`states` has a game in each entry, `rngs` its generator. Numbers of actions are those of a batch, see
`action_for`.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from . import loops
from .loops import greedy_game, random_game, settle
from .observing import clear, observe
from .phases import OVER
from .signatures import (
    Actions,
    Bool,
    Flags,
    Float32Rows,
    Int,
    Int16Rows,
    Int16s,
    Int64s,
    Rng,
    States,
    Tables,
    array,
    loop,
)
from .standing import ahead
from .standins import (
    action_for,
    apply,
    count_legal,
    greediest,
    mark_legal,
    nth_legal,
    number_for,
    pick,
    refusal,
)

# What a finished game is worth to its seats.
NOTHING, WIN, PLACE_REWARD, LOWEST = np.int64(0), np.int64(1), np.int64(2), np.int64(3)


def begin(t, openings, states, rngs, i):
    """Start a game anew, up to its first decision."""
    states[i] = openings[0]
    settle(t, states[i], rngs[i : i + 1])


def pay(t, s, kind, out):
    """Write what a finished game is worth to each seat.

    `WIN`: the winners share what the others lose, 1 at most, and everything adds up to 0. `PLACE_REWARD`:
    from 1 for the first place to -1 for the last, 0 in the middle. `LOWEST`: the points of the lowest track.
    """
    players = t.players
    winners = 0
    for seat in range(players):
        better, worse = 0, 0
        for other in range(players):
            order = ahead(s.scores, seat, other)
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


def advance(t, openings, states, rngs, i, number, renew, kind, gains, finals, rewards, ended):
    """Carry out a legal action of one game and what chance does after it; where it ends, start it anew.

    `gains` is what the seat scored by it, `finals` the points at the end of the last game that ended.
    """
    s = states[i]
    seat, tracks = np.int64(s.seat), s.scores.shape[1]
    for track in range(tracks):
        gains[i, track] = 0
    for other in range(t.players):
        rewards[i, other] = 0
    ended[i] = s.phase == OVER
    if s.phase == OVER:
        return
    for track in range(tracks):
        gains[i, track] = -s.scores[seat, track]
    apply(t, s, action_for(t, s, np.int64(number)))
    settle(t, s, rngs[i : i + 1])
    for track in range(tracks):
        gains[i, track] += s.scores[seat, track]
    if s.phase == OVER:
        ended[i] = True
        pay(t, s, kind, rewards[i])
        for other in range(t.players):
            for track in range(tracks):
                finals[i, other, track] = s.scores[other, track]
        if renew:
            begin(t, openings, states, rngs, i)


def mark(t, s, mask):
    """Write the mask of one game's legal actions."""
    clear(mask)
    mark_legal(t, s, mask)


def allowed(t, s, number):
    """Whether this is the number of a legal action; none is, where the game is over."""
    action = action_for(t, s, np.int64(number))
    return action >= 0 and refusal(t, s, action) == 0


def any_number(t, s, rng):
    """The number of any legal action of one game, each as likely as any other; 0 where it is over."""
    return 0 if s.phase == OVER else number_for(t, s, pick(t, s, rng))


PARTS = (*loops.PARTS, begin, pay, observe, advance, mark, allowed, any_number)


# ---------------------------------------------------------------- what Python calls, for a range of games


Seats = Annotated[Any, array(np.uint8)]
Masks = Annotated[Any, array(np.uint8, 2)]
Boards = Annotated[Any, array(np.int8, 2)]
Finals = Annotated[Any, array(np.int16, 3)]

over_games = loop(parts=PARTS, counted=False)


@over_games
def begin_all(
    tables: Tables, openings: States, states: States, rngs: Rng, which: Flags, first: Int, last: Int
):
    """Start every game anew that `which` says."""
    for i in range(first, last):
        if which[i]:
            begin(tables[0], openings, states, rngs, i)


@over_games
def find_wrong(
    tables: Tables, states: States, numbers: Actions, most: Int, wrong: Flags, first: Int, last: Int
):
    """Write in which games the number is no legal action; finished games take any number."""
    for i in range(first, last):
        number = np.int64(numbers[i])
        known = number >= 0 and number < most
        wrong[i] = states[i].phase != OVER and not (known and allowed(tables[0], states[i], number))


@over_games
def advance_all(
    tables: Tables, openings: States, states: States, rngs: Rng, numbers: Actions, renew: Bool, kind: Int,
    gains: Int16Rows, finals: Finals, rewards: Float32Rows, ended: Flags, first: Int, last: Int,
):  # fmt: skip
    """Carry out an action in every game."""
    for i in range(first, last):
        advance(tables[0], openings, states, rngs, i, numbers[i], renew, kind, gains, finals, rewards, ended)


@over_games
def advance_and_look_all(
    tables: Tables, openings: States, states: States, rngs: Rng, numbers: Actions, renew: Bool, kind: Int,
    gains: Int16Rows, finals: Finals, rewards: Float32Rows, ended: Flags, places: Int16s, boards: Boards,
    vectors: Int16Rows, masks: Masks, picking: Bool, picked: Actions, first: Int, last: Int,
):  # fmt: skip
    """Carry out an action in every game, and write what the seat to move then knows and may do.

    With `picking` also the number of any legal action, each as likely as any other.
    """
    for i in range(first, last):
        advance(tables[0], openings, states, rngs, i, numbers[i], renew, kind, gains, finals, rewards, ended)
        clear(boards[i])
        observe(tables[0], states[i], np.int64(states[i].seat), places, boards[i], vectors[i])
        mark(tables[0], states[i], masks[i])
        if picking:
            picked[i] = any_number(tables[0], states[i], rngs[i : i + 1])


@over_games
def mark_all(tables: Tables, states: States, masks: Masks, first: Int, last: Int):
    """Write the mask of every game's legal actions."""
    for i in range(first, last):
        mark(tables[0], states[i], masks[i])


@over_games
def count_all(tables: Tables, states: States, counts: Actions, first: Int, last: Int):
    """Write how many legal actions every game has."""
    for i in range(first, last):
        counts[i] = count_legal(tables[0], states[i])


@over_games
def nth_all(tables: Tables, states: States, ranks: Int64s, numbers: Actions, first: Int, last: Int):
    """Write the number of the legal action with this rank in every game; ranks go round."""
    t = tables[0]
    for i in range(first, last):
        s = states[i]
        count = count_legal(t, s)
        if count == 0:
            numbers[i] = 0
        else:
            numbers[i] = number_for(t, s, nth_legal(t, s, np.int64(ranks[i]) % count))


@over_games
def pick_all(tables: Tables, states: States, rngs: Rng, numbers: Actions, first: Int, last: Int):
    """Write the number of any legal action in every game, each as likely as any other."""
    for i in range(first, last):
        numbers[i] = any_number(tables[0], states[i], rngs[i : i + 1])


@over_games
def choose_all(tables: Tables, states: States, rngs: Rng, numbers: Actions, first: Int, last: Int):
    """Write the number of an action with the most points now in every game."""
    t = tables[0]
    for i in range(first, last):
        s = states[i]
        if s.phase == OVER:
            numbers[i] = 0
        else:
            action, _ = greediest(t, s, rngs[i : i + 1])
            numbers[i] = number_for(t, s, action)


@over_games
def over_all(tables: Tables, states: States, over: Flags, first: Int, last: Int):
    """Write which games are over."""
    for i in range(first, last):
        over[i] = states[i].phase == OVER


@over_games
def observe_all(
    tables: Tables, states: States, seats: Seats, places: Int16s, boards: Boards, vectors: Int16Rows,
    first: Int, last: Int,
):  # fmt: skip
    """Write what a seat of every game knows."""
    for i in range(first, last):
        clear(boards[i])
        observe(tables[0], states[i], np.int64(seats[i]), places, boards[i], vectors[i])


@over_games
def random_games(
    tables: Tables, openings: States, states: States, rngs: Rng, games: Int, moves: Int64s, rated: Int64s,
    first: Int, last: Int,
):  # fmt: skip
    """Play so many whole games of random moves in every place; the moves made and rated."""
    for i in range(first, last):
        moves[i], rated[i] = 0, 0
        for _ in range(games):
            made, seen = random_game(tables[0], openings, states, i, rngs[i : i + 1])
            moves[i] += made
            rated[i] += seen


@over_games
def greedy_games(
    tables: Tables, openings: States, states: States, rngs: Rng, games: Int, moves: Int64s, rated: Int64s,
    first: Int, last: Int,
):  # fmt: skip
    """Play so many whole games of most points now in every place; the moves made and rated."""
    for i in range(first, last):
        moves[i], rated[i] = 0, 0
        for _ in range(games):
            made, seen = greedy_game(tables[0], openings, states, i, rngs[i : i + 1])
            moves[i] += made
            rated[i] += seen


LOOPS = (
    begin_all,
    find_wrong,
    advance_all,
    advance_and_look_all,
    mark_all,
    count_all,
    nth_all,
    pick_all,
    choose_all,
    over_all,
    observe_all,
    random_games,
    greedy_games,
)
