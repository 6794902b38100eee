"""What a view tells about hidden tiles: its event log, and the groups that compiled code infers from it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import AxioError, abbreviated
from ...games.runtime.state import HIDDEN, allocate
from ...model.events import Draw, Exchange, Place
from ...model.view import View
from ..evaluation.hidden_tiles import (
    DRAWN,
    EXCHANGED,
    LOG_COLUMNS,
    PLACED,
    hidden_tiles_dtype,
    infer_hidden_tiles,
)


def hidden_tiles(view: View) -> Any:
    """Return which tiles the hidden ones can be, as the record that `determinize` reads.

    Raises:
        AxioError: an event names a seat that the game does not have.
    """
    variant, log = view.variant, event_log(view)
    hidden = allocate(hidden_tiles_dtype(view.state.dtype))
    viewer = -1 if view.seat is None else view.seat
    variant.kernels[infer_hidden_tiles](
        variant.constants, view.state, log, viewer, np.zeros(len(log), np.int64), hidden
    )
    return hidden


def event_log(view: View) -> np.ndarray:
    """Return the event log of a view; `evaluation.hidden_tiles` describes the format.

    Raises:
        AxioError: an event names a seat that the game does not have.
    """
    rows = []
    for event in view.events:
        match event:
            case Draw(seat, tiles):
                action = DRAWN
            case Place(seat, tile):
                action, tiles = PLACED, (tile,)
            case Exchange(seat, tiles):
                action = EXCHANGED
            case _:
                continue
        if not 0 <= seat < view.players:
            raise AxioError(f"an event names seat {abbreviated(seat)}: 0 to {view.players - 1}")
        for tile in tiles:
            kind = view.variant.kind_of(tile)
            rows.append((action, seat, HIDDEN if kind is None else kind))
    return np.array(rows, np.int16).reshape(-1, LOG_COLUMNS)
