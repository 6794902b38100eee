"""Who is ahead: sorted-ascending vectors of points, compared from the lowest on."""

from __future__ import annotations

from .compile import entry_point, rule


@rule
def compare_scores(scores, p, q):
    """1 if seat p stands better than seat q, -1 if worse, 0 if equal in everything.

    Steps through the values that occur, from the lowest: the first at which the seats differ
    decides. At the same value, having it in more colours is worse.
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
    """The lowest value above `level` among a seat's colours, and in how many colours it stands."""
    low, count = 1 << 30, 0
    for colour in range(scores.shape[1]):
        points = scores[seat, colour]
        if points > level and points < low:
            low, count = points, 1
        elif points == low:
            count += 1
    return low, count


@entry_point
def write_ranks(scores, out):
    """Write every seat's place, 1 the best; equal seats share it and the next is left out (1, 1, 3)."""
    for p in range(len(scores)):
        out[p] = 1
        for q in range(len(scores)):
            out[p] += compare_scores(scores, q, p) > 0
