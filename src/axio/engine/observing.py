"""What a seat knows of a position besides the board, as a list of numbers, the same way in every game.

Everything is counted from the seat that looks: seat 0 is itself, seat 1 the next one. `observe` writes a true
position just as its view: what is hidden is counted among the unseen tiles and leaves no other trace.
"""

from __future__ import annotations

from .compile import rule
from .phases import HIDDEN, OFFER, OVER, PLACE
from .standins import add_hidden, show_board, show_counters


@rule
def clear(row):
    """Write zeros."""
    for i in range(len(row)):
        row[i] = 0


def observe(t, s, seat, places, board, out):
    """Write the board as a seat sees it into zeros, and the rest of what it knows into `out`."""
    show_board(t, s, places, board)
    out[0] = s.phase == PLACE
    out[1] = s.phase == OFFER
    out[2] = s.phase == OVER
    out[3] = s.in_bag
    at = 4
    players, tracks, kinds = t.players, s.scores.shape[1], len(s.bag)
    for turn in range(players):
        other = (seat + turn) % players
        out[at] = s.seat == other
        out[at + 1] = s.held[other]
        at += 2
        for track in range(tracks):
            out[at + track] = s.scores[other, track]
        at += tracks
    for kind in range(kinds):
        out[at + kind] = 0
        out[at + kinds + kind] = s.bag[kind]
    for other in range(players):
        # One's own tiles are counted in the first list, those of others among the unseen ones.
        start = at if other == seat else at + kinds
        for i in range(s.held[other]):
            if s.hands[other, i] != HIDDEN:
                out[start + s.hands[other, i]] += 1
    add_hidden(t, s, seat, out, at + kinds)
    show_counters(t, s, seat, out, at + 2 * kinds)
