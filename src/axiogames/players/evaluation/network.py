"""A position in numbers for the network, from one seat's side: nothing in it that the seat cannot see.

Tracks are listed from the seat's lowest to its highest, so that colours are all the same to the network; so
are the tracks of every other seat, in the order of turns. It is made for positions in which the seat has just
moved: what its draw will bring is as unknown as everything else.
"""

from __future__ import annotations

import numpy as np

from ...games.runtime.compile import rule

TRACK_FEATURES = (
    4  # numbers that a game tells of each track: best and second place on the board, reach, tiles
)
OWN = 1 + TRACK_FEATURES  # numbers of an own track: points and outlook
OTHER = 2  # of another seat's: points and the best place on the board
WHOLE = 4  # of the position as a whole


def feature_count(players: int, tracks: int) -> int:
    """How many numbers describe a position."""
    return tracks * (OWN + OTHER * (players - 1)) + WHOLE + players


@rule
def sort_tracks(s, seat, order):
    """Write a seat's tracks into `order`, the lowest first."""
    for track in range(s.scores.shape[1]):
        at = track
        while at > 0 and s.scores[seat, order[at - 1]] > s.scores[seat, track]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = track


@rule
def write_features(s, seat, players, gone, again, scale, scratch):
    """Write the network's input into `scratch.inputs` and return its length.

    `again` says whether the seat moves again before the others do.
    """
    tracks = s.scores.shape[1]
    n = 0
    for turn in range(players):
        other = (seat + turn) % players
        sort_tracks(s, other, scratch.order)
        told = TRACK_FEATURES if turn == 0 else OTHER - 1
        for i in range(tracks):
            track = scratch.order[i]
            scratch.inputs[n] = s.scores[other, track] * scale
            for k in range(told):
                scratch.inputs[n + 1 + k] = scratch.track_features[track, k]
            n += 1 + told
    scratch.inputs[n] = gone
    scratch.inputs[n + 1] = gone * gone
    scratch.inputs[n + 2] = np.float32(1.0) if again else np.float32(0.0)
    scratch.inputs[n + 3] = np.float32(s.held[seat]) / np.float32(s.hands.shape[1])
    for turn in range(players):
        scratch.inputs[n + WHOLE + turn] = scratch.expected_gains[turn] * np.float32(0.1)
    return n + WHOLE + players


HIDDEN_UNITS = 32


@rule
def forward(weights, scratch, n):
    """What the first `n` of `scratch.inputs` are worth."""
    for unit in range(HIDDEN_UNITS):
        scratch.hidden[unit] = weights.offsets[unit]
    for i in range(n):
        x = scratch.inputs[i]
        for unit in range(HIDDEN_UNITS):
            scratch.hidden[unit] += x * weights.weights[i, unit]
    total = weights.offset
    for unit in range(HIDDEN_UNITS):
        total += max(scratch.hidden[unit], np.float32(0.0)) * weights.outer[unit]
    return np.float32(1.0) / (np.float32(1.0) + np.exp(-total))
