"""Ranking of seats by their points, sorted ascending and compared lexicographically."""

from __future__ import annotations

from .compile import rule


@rule
def compare_scores(scores, p, q):
    """Return 1 if seat `p` ranks above seat `q`, -1 if below, 0 if they tie.

    Compares the values that occur, in ascending order. At the first difference the higher value wins, and of
    equal values the one that occurs on fewer tracks.
    """
    level = -1
    while True:
        low_p, count_p = _next(scores, p, level)
        low_q, count_q = _next(scores, q, level)
        if low_p != low_q:
            return 1 if low_p > low_q else -1
        if count_p != count_q:
            return 1 if count_p < count_q else -1
        if count_p == 0:
            return 0
        level = low_p


@rule
def _next(scores, seat, level):
    """Return a seat's lowest points above `level`, and the number of tracks with these points."""
    low, count = 1 << 30, 0
    for track in range(scores.shape[1]):
        points = scores[seat, track]
        if points > level and points < low:
            low, count = points, 1
        elif points == low:
            count += 1
    return low, count


@rule
def rank_of(scores, players, seat):
    """Return the rank of a seat among the first `players` ones, 1 for the best."""
    rank = 1
    for other in range(players):
        rank += compare_scores(scores, other, seat) > 0
    return rank
