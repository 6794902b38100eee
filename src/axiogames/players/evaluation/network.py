"""The value network: its input features, and its forward pass.

Features describe a position from the perspective of one seat, without hidden information. The tracks of
that seat are sorted from the lowest to the highest, so that the network treats all colours alike. The tracks
of the other seats follow in turn order, sorted likewise. Features are written for positions in which the seat
has just moved: the tiles that it draws afterwards are still unknown.
"""

from __future__ import annotations

import numpy as np

from ...games.runtime.compile import rule
from ...games.runtime.powers import exp

TRACK_FEATURES = 4  # features of a track that the game defines, see the hook `track_features`
OWN = 1 + TRACK_FEATURES  # features of an own track: points and those above
OTHER = 2  # features of another seat's track: points and the first of the game's features
GLOBAL = 4  # features of the position as a whole


def feature_count(players: int, tracks: int) -> int:
    """Return the number of features of a position."""
    return tracks * (OWN + OTHER * (players - 1)) + GLOBAL + players


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
def write_features(s, seat, players, progress, moves_again, scale, scratch):
    """Write the network's input into `scratch.inputs` and return its length.

    `progress` is the share of the game that has been played; `moves_again` says whether the seat moves again
    before the others do; `scale` is the factor of points.
    """
    tracks = s.scores.shape[1]
    n = 0
    for turn in range(players):
        other = (seat + turn) % players
        sort_tracks(s, other, scratch.order)
        from_game = TRACK_FEATURES if turn == 0 else OTHER - 1
        for i in range(tracks):
            track = scratch.order[i]
            scratch.inputs[n] = s.scores[other, track] * scale
            for k in range(from_game):
                scratch.inputs[n + 1 + k] = scratch.track_features[track, k]
            n += 1 + from_game
    scratch.inputs[n] = progress
    scratch.inputs[n + 1] = progress * progress
    scratch.inputs[n + 2] = np.float32(1.0) if moves_again else np.float32(0.0)
    scratch.inputs[n + 3] = np.float32(s.held[seat]) / np.float32(s.hands.shape[1])
    for turn in range(players):
        scratch.inputs[n + GLOBAL + turn] = scratch.expected_gains[turn] * np.float32(0.1)
    return n + GLOBAL + players


HIDDEN_UNITS = 32


@rule
def forward(weights, scratch, n):
    """Return the value of the first `n` features in `scratch.inputs`, in [0, 1]."""
    for unit in range(HIDDEN_UNITS):
        scratch.hidden[unit] = weights.hidden_biases[unit]
    for i in range(n):
        x = scratch.inputs[i]
        for unit in range(HIDDEN_UNITS):
            scratch.hidden[unit] += x * weights.hidden_weights[i, unit]
    total = weights.output_bias
    for unit in range(HIDDEN_UNITS):
        total += max(scratch.hidden[unit], np.float32(0.0)) * weights.output_weights[unit]
    return np.float32(1.0) / (np.float32(1.0) + exp(-total))
