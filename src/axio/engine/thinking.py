"""Thinking about a position, written once for all games.

Like `loops`, these are templates: the names from `standins` become a game's own rules when they are bound,
and the templates of `PARTS`, bound first, become parts of the loops after them.

A `mind` is what a player has learned (knobs and network), a `desk` is room to work on; both are records.
"""

from __future__ import annotations

import numpy as np

from .features import describe
from .hands import take
from .lots import below, drawn
from .network import forward
from .phases import DRAW, HIDDEN, NO_TILE, OVER
from .result import outcome
from .standins import apply, goes_on, gone, hope, keenest, legal, lot, outlook, pick, rate, scored
from .worth import sum_up, weigh


def take_in(t, s, seat, mind, desk):
    """Write the position in which a seat has just moved into `desk.inputs`; how many numbers that are."""
    outlook(t, s, seat, desk.outlook)
    played = gone(t, s)
    for turn in range(t.players):
        weigh(s, (seat + turn) % t.players, mind.cap, played, mind.knobs, desk.worth)
        desk.hopes[turn] = hope(t, s, (seat + turn) % t.players, turn == 0, desk)
    again = s.seat == seat and goes_on(t, s)
    return describe(s, seat, t.players, played, again, mind.scale, desk)


def size_up(t, s, seat, mind, desk):
    """What a position in which a seat has just moved is worth to it."""
    if s.phase == OVER:
        return outcome(s, seat, t.players, mind, desk)
    return forward(mind, desk, take_in(t, s, seat, mind, desk))


def list_best(t, s, keep, mind, desk, room):
    """Write the most promising legal actions into `desk.chosen`, the best first; how many.

    What counts is what the points are worth now. Actions that are no placements are always among them, last.
    """
    n = legal(t, s, room)
    weigh(s, s.seat, mind.cap, gone(t, s), mind.knobs, desk.worth)
    kept = 0
    first_other = n
    while first_other > 0 and not scored(t, np.int64(room[first_other - 1])):
        first_other -= 1
    keep = max(1, keep - (n - first_other))
    for i in range(first_other):
        action = np.int64(room[i])
        rate(t, s, action)
        value = sum_up(s, desk.worth)
        if kept == keep and value <= desk.values[keep - 1]:
            continue
        at = min(kept, keep - 1)
        while at > 0 and desk.values[at - 1] < value:
            desk.values[at] = desk.values[at - 1]
            desk.chosen[at] = desk.chosen[at - 1]
            at -= 1
        desk.values[at] = value
        desk.chosen[at] = action
        kept = min(kept + 1, keep)
    for i in range(first_other, n):
        desk.chosen[kept] = np.int64(room[i])
        kept += 1
    return kept


def glance(t, states, at, trial, keep, mind, desk, room):
    """The action that leads to the best position, of the most promising ones; what it is worth."""
    seat = states[at].seat
    n = list_best(t, states[at], keep, mind, desk, room)
    best, best_value = np.int64(desk.chosen[0]), np.float32(-1.0)
    for i in range(n):
        states[trial] = states[at]
        apply(t, states[trial], np.int64(desk.chosen[i]))
        value = size_up(t, states[trial], seat, mind, desk)
        if value > best_value:
            best, best_value = np.int64(desk.chosen[i]), value
    return best, best_value


def guess_hidden(t, s, rng):
    """Fill in what the view does not show: any unseen tiles, each as likely as any other."""
    for seat in range(t.players):
        hidden = 0
        while s.held[seat] > 0 and s.hands[seat, s.held[seat] - 1] == HIDDEN:
            s.held[seat] -= 1
            s.hands[seat, s.held[seat]] = NO_TILE
            hidden += 1
        in_bag = s.in_bag
        for _ in range(hidden):
            take(s, seat, drawn(s.bag, s.unseen, rng))
        s.in_bag = in_bag
    while s.unseen > s.in_bag:  # tiles that were set aside before the game
        s.bag[drawn(s.bag, s.unseen, rng)] -= 1
        s.unseen -= 1


def play_on(t, states, at, seat, turns, rng, mind, desk):
    """Let everybody play by what points are worth until `seat` has moved so often; its worth to that seat."""
    s = states[at]
    while turns > 0 and s.phase != OVER:
        if s.phase >= DRAW:
            apply(t, s, lot(t, s, rng))
            continue
        mover = s.seat
        weigh(s, mover, mind.cap, gone(t, s), mind.knobs, desk.worth)
        apply(t, s, keenest(t, s, rng, desk))
        if mover == seat:
            turns -= 1
    return size_up(t, s, seat, mind, desk)


PARTS = (take_in, size_up, list_best, glance, guess_hidden, play_on)


# ---------------------------------------------------------------- what Python calls


def glance_at(tables, states, keep, mind, desk, room):
    """The best of the most promising actions in `states[0]` by a look at what they lead to."""
    return glance(tables[0], states, 0, 1, keep, mind[0], desk[0], room)


def keenest_at(tables, states, rng, mind, desk):
    """The action that everybody would make in `states[0]` while it is played on from there."""
    t, s = tables[0], states[0]
    weigh(s, s.seat, mind[0].cap, gone(t, s), mind[0].knobs, desk[0].worth)
    return keenest(t, s, rng, desk[0])


def roll_out(tables, states, actions, n, seeds, turns, mind, desk, sums, squares, points):
    """Play on after each of `n` actions in the same guesses of what is hidden; add up what comes of it.

    Plays until the seat to move has moved `turns` more times, with one guess for each of `seeds`: the same
    seeds give the same results. `points` are those of all seats where playing on stopped.
    """
    t, rng = tables[0], desk[0].rng
    seat = states[0].seat
    for number in range(len(seeds)):
        rng[0] = seeds[number]
        states[1] = states[0]
        guess_hidden(t, states[1], rng)
        luck = rng[0]
        for i in range(n):
            rng[0] = luck
            states[2] = states[1]
            apply(t, states[2], np.int64(actions[i]))
            value = play_on(t, states, 2, seat, turns, rng, mind[0], desk[0])
            sums[i] += value
            squares[i] += value * value
            for other in range(t.players):
                for track in range(points.shape[2]):
                    points[i, other, track] += states[2].scores[other, track]


def self_play(tables, openings, states, keep, noise, rng, mind, desk, room, inputs, results, owners, first):
    """Play a game by glances at `keep` moves, or by what points are worth, and now and then by lot.

    Rows from `first` on: the position after each move in numbers, and what the game was worth to the mover.
    Gives back the row after the last one.
    """
    t = tables[0]
    states[0] = openings[0]
    row = first
    while states[0].phase != OVER:
        if states[0].phase >= DRAW:
            apply(t, states[0], lot(t, states[0], rng))
            continue
        seat = states[0].seat
        if below(rng, 1000) < noise:
            action = pick(t, states[0], rng)
        elif keep == 0:
            weigh(states[0], seat, mind[0].cap, gone(t, states[0]), mind[0].knobs, desk[0].worth)
            action = keenest(t, states[0], rng, desk[0])
        else:
            action, _ = glance(t, states, 0, 1, keep, mind[0], desk[0], room)
        apply(t, states[0], action)
        if states[0].phase != OVER:
            n = take_in(t, states[0], seat, mind[0], desk[0])
            for i in range(n):
                inputs[row, i] = desk[0].inputs[i]
            owners[row] = seat
            row += 1
    for r in range(first, row):
        results[r] = outcome(states[0], owners[r], t.players, mind[0], desk[0])
    return row


def contest(tables, openings, states, keeps, games, rng, minds, desk, room, points):
    """Let as many minds as there are seats play each other, changing seats; add up what they get.

    A mind with a `keep` of 0 plays by what points are worth, with more by glances at so many actions.
    """
    t = tables[0]
    for game in range(games):
        states[0] = openings[0]
        while states[0].phase != OVER:
            if states[0].phase >= DRAW:
                apply(t, states[0], lot(t, states[0], rng))
                continue
            who = (states[0].seat + game) % t.players
            if keeps[who] == 0:
                weigh(
                    states[0],
                    states[0].seat,
                    minds[who].cap,
                    gone(t, states[0]),
                    minds[who].knobs,
                    desk[0].worth,
                )
                action = keenest(t, states[0], rng, desk[0])
            else:
                action, _ = glance(t, states, 0, 1, keeps[who], minds[who], desk[0], room)
            apply(t, states[0], action)
        for seat in range(t.players):
            points[(seat + game) % t.players] += outcome(states[0], seat, t.players, minds[0], desk[0])
