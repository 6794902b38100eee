"""Thinking about a position, written once for all games.

Like `loops`, these are templates: the names from `standins` become a game's own rules when they are bound,
and the templates of `PARTS`, bound first, become parts of the loops after them.

A `mind` is what a player has learned (knobs and network), a `desk` is room to work on; both are records.
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


def apply_action(t, s, action):
    """Carry out an action or what chance drew: called, since copies of it would take long to compile."""
    apply(t, s, action)


def featurize(t, s, seat, mind, desk):
    """Write the position in which a seat has just moved into `desk.inputs`; how many numbers that are."""
    desk.outlook[:] = 0
    track_features(t, s, seat, desk.outlook)
    played = progress(t, s)
    for turn in range(t.players):
        fill_utility(s, (seat + turn) % t.players, mind.cap, played, mind.knobs, desk.worth)
        desk.hopes[turn] = expected_gain(t, s, (seat + turn) % t.players, turn == 0, desk)
    again = s.seat == seat and has_extra_turn(t, s)
    return write_features(s, seat, t.players, played, again, mind.scale, desk)


def evaluate(t, s, seat, mind, desk):
    """What a position in which a seat has just moved is worth to it."""
    if s.phase == OVER:
        return result_value(s, seat, t.players, mind, desk)
    return forward(mind, desk, featurize(t, s, seat, mind, desk))


def rollout_policy(t, s, rng, desk):
    """The action of simple play, by the worth of points on the desk; of equal ones, any."""
    kept = top_placements(t, s, randint(rng, STARTS), np.int64(1), desk)
    other = fallback_action(t, s, best_value(kept, desk), desk)
    return other if other >= 0 else np.int64(desk.chosen[0])


def promising_actions(t, s, keep, mind, desk, room):
    """Write the most promising legal actions into `desk.chosen`, the best first; how many.

    What counts is what the points are worth now. Other actions than placements come last, where they deserve
    a look.
    """
    fill_utility(s, np.int64(s.seat), mind.cap, progress(t, s), mind.knobs, desk.worth)
    return non_placements(t, s, top_placements(t, s, np.int64(0), keep, desk), desk, room)


def one_ply_search(t, states, at, trial, keep, mind, desk, room):
    """The action that leads to the best position, of the most promising ones; what it is worth."""
    seat = np.int64(states[at].seat)
    n = promising_actions(t, states[at], keep, mind, desk, room)
    best, best_value = np.int64(desk.chosen[0]), np.float32(-1.0)
    for i in range(n):
        states[trial] = states[at]
        apply_action(t, states[trial], np.int64(desk.chosen[i]))
        value = evaluate(t, states[trial], seat, mind, desk)
        if value > best_value:
            best, best_value = np.int64(desk.chosen[i]), value
    return best, best_value


def determinize(t, s, lots, barred, rng):
    """Fill in what the view does not show: any unseen tiles, each as likely as any other.

    A row of `lots` says how many hidden tiles of a seat are drawn from the same tiles: all that are unseen,
    less those in the same row of `barred`. Rows with more barred come first, so that none is left without.
    """
    in_bag = s.in_bag
    for seat in range(t.players):
        while s.held[seat] > 0 and s.hands[seat, s.held[seat] - 1] == HIDDEN:
            s.held[seat] -= 1
            s.hands[seat, s.held[seat]] = NO_TILE
    for row in range(len(lots)):
        kept_out = 0
        for kind in range(len(s.bag)):
            s.bag[kind] -= barred[row, kind]
            kept_out += barred[row, kind]
        for _ in range(lots[row, 1]):
            draw_to_hand(s, lots[row, 0], sample_tile(s.bag, s.unseen - kept_out, rng))
        for kind in range(len(s.bag)):
            s.bag[kind] += barred[row, kind]
    s.in_bag = in_bag
    while s.unseen > s.in_bag:  # tiles that were set aside before the game
        s.bag[sample_tile(s.bag, s.unseen, rng)] -= 1
        s.unseen -= 1


def rollout(t, states, at, trial, seat, turns, late, rng, mind, desk, room):
    """Let everybody play by what points are worth until `seat` has moved so often; its worth to that seat.

    When more than `late` of the game is gone, everybody looks at what the best moves lead to: close to the
    end a position says more than points do.
    """
    s = states[at]
    while turns > 0 and s.phase != OVER:
        if s.phase >= DRAW:
            apply_action(t, s, sample_chance(t, s, rng))
            continue
        mover = np.int64(s.seat)
        if progress(t, s) > late:
            action, _ = one_ply_search(t, states, at, trial, SEARCHED_MOVES, mind, desk, room)
        else:
            fill_utility(s, mover, mind.cap, progress(t, s), mind.knobs, desk.worth)
            action = rollout_policy(t, s, rng, desk)
        apply_action(t, s, action)
        if mover == seat:
            turns -= 1
    return evaluate(t, s, seat, mind, desk)


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
    tables: Constants, states: States, keep: Int, mind: WeightsArray, desk: ScratchArray, room: Actions
):
    """The best of the most promising actions in `states[0]` by a look at what they lead to."""
    return one_ply_search(tables[0], states, HERE, TRIAL, keep, mind[0], desk[0], room)


@with_parts
def rollout_policy_at(tables: Constants, states: States, rng: Rng, mind: WeightsArray, desk: ScratchArray):
    """The action that everybody would make in `states[0]` while it is played on from there."""
    t, s = tables[0], states[0]
    fill_utility(s, np.int64(s.seat), mind[0].cap, progress(t, s), mind[0].knobs, desk[0].worth)
    return rollout_policy(t, s, rng, desk[0])


@with_parts
def run_rollouts(
    tables: Constants, states: States, actions: Actions, n: Int, seeds: Rng, turns: Int, late: Float32,
    lots: Int64Rows, barred: Int64Rows, mind: WeightsArray, desk: ScratchArray, room: Actions, sums: Float64s,
    squares: Float64s, points: Annotated[Any, array(np.float64, 3)],
):  # fmt: skip
    """Play on after each of `n` actions in the same guesses of what is hidden; add up what comes of it.

    Plays until the seat to move has moved `turns` more times, with one guess for each of `seeds`: the same
    seeds give the same results. `late` is for `rollout`, `lots` and `barred` are for `determinize`. `points`
    are those of all seats where playing on stopped.
    """
    t, rng = tables[0], desk[0].rng
    seat = np.int64(states[0].seat)
    for number in range(len(seeds)):
        rng[0] = seeds[number]
        states[1] = states[0]
        determinize(t, states[1], lots, barred, rng)
        luck = rng[0]
        for i in range(n):
            rng[0] = luck
            states[AFTER] = states[1]
            apply_action(t, states[AFTER], np.int64(actions[i]))
            value = rollout(t, states, AFTER, AFTER_TRIAL, seat, turns, late, rng, mind[0], desk[0], room)
            sums[i] += value
            squares[i] += value * value
            for other in range(t.players):
                for track in range(points.shape[2]):
                    points[i, other, track] += states[AFTER].scores[other, track]


@with_parts
def self_play(
    tables: Constants, openings: States, states: States, keep: Int, noise: Int, rng: Rng, mind: WeightsArray,
    desk: ScratchArray, room: Actions, inputs: Float32Rows, results: Float32s, owners: Int64s, first: Int,
):  # fmt: skip
    """Play a game by glances at `keep` moves, or by what points are worth, and now and then by lot.

    Rows from `first` on: the position after each move in numbers, and what the game was worth to the mover.
    Gives back the row after the last one.
    """
    t = tables[0]
    states[0] = openings[0]
    row = first
    while states[0].phase != OVER:
        if states[0].phase >= DRAW:
            apply_action(t, states[0], sample_chance(t, states[0], rng))
            continue
        seat = np.int64(states[0].seat)
        if randint(rng, 1000) < noise:
            action = sample_legal(t, states[0], rng)
        elif keep == 0:
            fill_utility(states[0], seat, mind[0].cap, progress(t, states[0]), mind[0].knobs, desk[0].worth)
            action = rollout_policy(t, states[0], rng, desk[0])
        else:
            action, _ = one_ply_search(t, states, HERE, TRIAL, keep, mind[0], desk[0], room)
        apply_action(t, states[0], action)
        if states[0].phase != OVER:
            n = featurize(t, states[0], seat, mind[0], desk[0])
            for i in range(n):
                inputs[row, i] = desk[0].inputs[i]
            owners[row] = seat
            row += 1
    for r in range(first, row):
        results[r] = result_value(states[0], owners[r], t.players, mind[0], desk[0])
    return row


@with_parts
def play_matches(
    tables: Constants, openings: States, states: States, keeps: Int64s, games: Int, rng: Rng, minds: WeightsArray,
    desk: ScratchArray, room: Actions, points: Float64s,
):  # fmt: skip
    """Let as many minds as there are seats play each other, changing seats; add up what they get.

    A mind with a `keep` of 0 plays by what points are worth, with more by glances at so many actions.
    """
    t = tables[0]
    for game in range(games):
        states[0] = openings[0]
        while states[0].phase != OVER:
            if states[0].phase >= DRAW:
                apply_action(t, states[0], sample_chance(t, states[0], rng))
                continue
            who = (states[0].seat + game) % t.players
            if keeps[who] == 0:
                fill_utility(
                    states[0],
                    states[0].seat,
                    minds[who].cap,
                    progress(t, states[0]),
                    minds[who].knobs,
                    desk[0].worth,
                )
                action = rollout_policy(t, states[0], rng, desk[0])
            else:
                action, _ = one_ply_search(t, states, HERE, TRIAL, keeps[who], minds[who], desk[0], room)
            apply_action(t, states[0], action)
        for seat in range(t.players):
            points[(seat + game) % t.players] += result_value(states[0], seat, t.players, minds[0], desk[0])


LOOPS = (one_ply_search_at, rollout_policy_at, run_rollouts)  # that playing needs; learning needs the others
