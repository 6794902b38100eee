"""Observation and action spaces. Their bounds can be used to scale observations."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..games.variant import Variant
from ..optional_deps import require

MAX_COUNTER = 255  # above every counter of all games


def board_bounds(variant: Variant) -> tuple[int, int]:
    """Return the bounds of board values: 0 and 1 for planes, wider where lists of tiles have coordinates."""
    return (0, 1) if variant.observation.board.named == 0 else (-1, 127)


def vector_bounds(variant: Variant) -> np.ndarray:
    """Return the upper bound of each entry of the vector. The lower bound is 0."""
    tiles, limit = variant.tileset, np.iinfo(np.int16).max
    points = limit if variant.cap is None else variant.cap
    exact = {"bag": sum(tiles.values())}
    exact |= {f"hand.{tile}": min(count, variant.hand) for tile, count in tiles.items()}
    exact |= {f"unseen.{tile}": count for tile, count in tiles.items()}
    for seat in range(variant.players):
        exact |= {f"seat{seat}.moves": 1, f"seat{seat}.tiles": variant.hand}
        exact |= {f"seat{seat}.points.{track}": points for track in variant.tracks}
    values = [
        1 if name.startswith("phase.") else exact.get(name, MAX_COUNTER) for name in variant.observation.names
    ]
    return np.array(values, np.int16)


def observation_space_of(variant: Variant) -> Any:
    """Return the space of observations: a board and a vector."""
    spaces = require("gymnasium.spaces", "rl")
    low, high = board_bounds(variant)
    top = vector_bounds(variant)
    return spaces.Dict(
        {
            "board": spaces.Box(low, high, variant.observation.board.shape, np.int8),
            "vector": spaces.Box(np.zeros_like(top), top, dtype=np.int16),
        }
    )


def masked_space_of(variant: Variant) -> Any:
    """Return the space of observations together with an action mask."""
    spaces = require("gymnasium.spaces", "rl")
    mask = spaces.Box(0, 1, (variant.actions,), np.int8)
    return spaces.Dict({"observation": observation_space_of(variant), "action_mask": mask})


def action_space_of(variant: Variant) -> Any:
    """Return the space of actions."""
    return require("gymnasium.spaces", "rl").Discrete(variant.actions)
