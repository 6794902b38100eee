"""Scoring in the domino family: the two halves of a tile, then the pyramids that it makes.

`score` is the only source of points: previews, players and `apply` call it. It reads the state before the
placement and writes only `s.gain`. Numbers in parentheses refer to the rules page of the square game.
"""

from __future__ import annotations

import numpy as np

from ..runtime.compile import rule, rule_noinline
from ..runtime.describing import write_point
from .board import decode, line_points


@rule
def score(c, s, action):
    """Write the points of a placement by colour into `s.gain`; return the number of its pyramids."""
    slot, ca, cb = decode(c, action)
    a, b = c.slots[slot, 0], c.slots[slot, 1]
    count = pyramids_made(c, s, a, b) if c.pyramids > 0 else 0
    if c.solo:
        score_solo(c, s, a, ca, b, cb, count)
    else:
        score_halves(c, s, a, ca, b, cb)
        if count > 0:
            score_pyramids(c, s, a, ca, b, cb, count)
    return count


@rule
def score_halves(c, s, a, ca, b, cb):
    """Score the half on `a`, then the half on `b` (6); return the points lost at the cap."""
    for colour in range(len(s.gain)):
        s.gain[colour] = 0
    lost = add(c, s, ca, line_points(c, s, a, ca))
    return lost + add(c, s, cb, line_points(c, s, b, cb))


@rule_noinline
def score_pyramids(c, s, a, ca, b, cb, count):
    """Score every pyramid that the tile makes (7); with one cap per colour, the order is irrelevant."""
    for n in range(count):
        cell = pyramid_made(c, s, a, b, n)
        for d in range(c.near.shape[1]):
            shows = cell_after(c, s, a, ca, b, cb, c.near[cell, d])
            if shows >= 0:
                add(c, s, np.uint8(shows), 1)


@rule_noinline
def score_solo(c, s, a, ca, b, cb, count):
    """Score halves and pyramids in the best order for the player (17)."""
    lost = score_in_order(c, s, a, ca, b, cb, count, np.int64(0))
    if lost > 0:
        score_in_order(c, s, a, ca, b, cb, count, best_order(c, s, a, ca, b, cb, count))


@rule_noinline
def score_in_order(c, s, a, ca, b, cb, count, order):
    """Score the halves and then the pyramids in the given order; return the points lost.

    The lowest bit of `order` selects the first half; the rest selects the pyramids one after the other.
    """
    if order % 2 == 0:
        lost = score_halves(c, s, a, ca, b, cb)
    else:
        lost = score_halves(c, s, b, cb, a, ca)
    order //= 2
    done = 0
    for left in range(count, 0, -1):
        skip, order = order % left, order // left
        n = 0
        while skip > 0 or (done >> n) & 1:
            if not (done >> n) & 1:
                skip -= 1
            n += 1
        done |= 1 << n
        lost += add_pyramid(c, s, a, ca, b, cb, pyramid_made(c, s, a, b, n))
    return lost


@rule_noinline
def best_order(c, s, a, ca, b, cb, count):
    """Return the order of scorings that is best for a solo player (17), by the sorted scores after it.

    Among orders with equal sorted scores, the one that gives more points to earlier colours is best.
    """
    orders = 2
    for left in range(2, count + 1):
        orders *= left
    best, best_sorted, best_colours = 0, -1, -1
    for order in range(orders):
        score_in_order(c, s, a, ca, b, cb, count, order)
        by_points, by_colour = sorted_value(c, s), colour_value(s)
        if by_points > best_sorted or (by_points == best_sorted and by_colour > best_colours):
            best, best_sorted, best_colours = order, by_points, by_colour
    return best


@rule_noinline
def explain(c, s, action, rows):
    """Write the symbols that score for each half (6) and for each pyramid (7), and return their number."""
    slot, ca, cb = decode(c, action)
    a, b = c.slots[slot, 0], c.slots[slot, 1]
    n = explain_half(c, s, a, ca, rows, np.int64(0))
    n = explain_half(c, s, b, cb, rows, n)
    if c.pyramids > 0:
        for made in range(pyramids_made(c, s, a, b)):
            cell = pyramid_made(c, s, a, b, made)
            for d in range(c.near.shape[1]):
                shows = cell_after(c, s, a, ca, b, cb, c.near[cell, d])
                if shows >= 0:
                    n = write_point(rows, n, c.near[cell, d], cell, shows, 1)
    return n


@rule
def explain_half(c, s, cell, colour, rows, n):
    """Write the symbols in line with a half that score for it, and return the number of rows."""
    for d in range(c.near.shape[1]):
        at = c.near[cell, d]
        while s.cells[at] == colour:
            n = write_point(rows, n, at, cell, colour, 1)
            at = c.near[at, d]
    return n


@rule
def sorted_value(c, s):
    """Return the seat's scores with `s.gain`, sorted ascending, as one integer with the same order."""
    value = 0
    for points in range(2 * c.cap + 1):
        for colour in range(len(s.gain)):
            if s.scores[s.seat, colour] + s.gain[colour] == points:
                value = value * 64 + points
    return value


@rule
def colour_value(s):
    """Return `s.gain` encoded as one integer that compares colour by colour."""
    value = 0
    for colour in range(len(s.gain)):
        value = value * 64 + np.int64(s.gain[colour])
    return value


@rule
def add(c, s, colour, points):
    """Add one scoring up to the cap (9) or, solo, to the track's next stop (17); return the points lost."""
    before = s.scores[s.seat, colour] + s.gain[colour]
    stop = c.cap
    if c.solo and before >= c.cap:
        stop = 2 * c.cap
    counted = min(points, stop - before)
    s.gain[colour] += counted
    return points - counted


@rule_noinline
def add_pyramid(c, s, a, ca, b, cb, cell):
    """Add a pyramid on `cell`, a point per adjacent symbol (7), as one scoring; return the points lost."""
    lost = 0
    for colour in range(len(s.gain)):
        points = 0
        for d in range(c.near.shape[1]):
            if cell_after(c, s, a, ca, b, cb, c.near[cell, d]) == colour:
                points += 1
        lost += add(c, s, np.uint8(colour), points)
    return lost


@rule
def cell_after(c, s, a, ca, b, cb, cell):
    """Return the content of a cell after the tile is placed on `a` and `b`."""
    return np.int64(ca) if cell == a else np.int64(cb) if cell == b else np.int64(s.cells[cell])


@rule
def pyramids_made(c, s, a, b):
    """Return the number of cells that a tile on `a` and `b` shuts in: empty ones with a single open side (7).

    Only boards with pyramids call this. On these no cell is adjacent to both halves of a tile. The halves are
    adjacent to each other, so they are subtracted again.
    """
    count = 0
    for d in range(c.near.shape[1]):
        count += (s.open[c.near[a, d]] == 1) + (s.open[c.near[b, d]] == 1)
    return count - (s.open[a] == 1) - (s.open[b] == 1)


@rule_noinline
def pyramid_made(c, s, a, b, n):
    """Return the n-th cell that a tile on `a` and `b` shuts in."""
    found = a
    for d in range(c.near.shape[1]):
        for cell in (c.near[a, d], c.near[b, d]):
            if s.open[cell] == 1 and cell != a and cell != b:
                if n == 0:
                    found = cell
                n -= 1
    return found
