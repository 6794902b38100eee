"""What a player has learned of a game, and the room it works in, as records for compiled code."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from .features import OUTLOOK, width
from .layout import layout
from .network import HIDDEN_UNITS
from .signatures import Argument
from .worth import KNOBS, POINTS

MOST_SEATS = 4  # one layout, and so one compilation, for every number of players
MOST_KEPT = 128  # actions that can be looked at closely

MOST_KINDS = 64  # of tiles


def mind_dtype(tracks: int) -> np.dtype[Any]:
    """Knobs and network for a game with so many tracks."""
    return layout(
        ("cap", np.int64),  # 0 where there is none
        ("knobs", np.float32, KNOBS),
        ("weights", np.float32, (width(MOST_SEATS, tracks), HIDDEN_UNITS)),
        ("offsets", np.float32, HIDDEN_UNITS),
        ("outer", np.float32, HIDDEN_UNITS),
        ("offset", np.float32),
        ("scale", np.float32),  # of points, so that a full track is about 1
    )


def desk_dtype(tracks: int) -> np.dtype[Any]:
    """Room to work in; nothing in it lasts longer than a call."""
    return layout(
        ("rng", np.uint64, 1),
        ("order", np.int64, tracks),
        ("chosen", np.int64, MOST_KEPT),
        ("worth", np.float32, (tracks + 1, POINTS)),
        ("outlook", np.float32, (tracks, OUTLOOK)),
        ("inputs", np.float32, width(MOST_SEATS, tracks)),
        ("beside", np.int64, 2),  # pyramids beside the halves of a tile
        ("halves", np.float32, (2, tracks)),  # what each colour is worth on the halves of a place
        ("most", np.float32, 2),  # and the most of them
        ("hopes", np.float32, MOST_SEATS),
        ("best", np.float32, MOST_KINDS),
        ("kinds", np.int64, MOST_KINDS),
        ("hidden", np.float32, HIDDEN_UNITS),
        ("values", np.float32, MOST_KEPT),
    )


# Arguments of loops: arrays of these records.
Minds = Annotated[Any, Argument(lambda game: np.zeros(1, mind_dtype(game.tracks)))]
Desks = Annotated[Any, Argument(lambda game: np.zeros(1, desk_dtype(game.tracks)))]
