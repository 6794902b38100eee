"""The spaces of observations and actions, with bounds by which numbers can be scaled."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..games.variant import Variant
from ..optional_deps import require

COUNTERS = 255  # more than any counter of a game ever shows


def board_bounds(variant: Variant) -> tuple[int, int]:
    """The lowest and highest number on the board: planes show 0 and 1, lists also where a place lies."""
    return (0, 1) if variant.observation.board.named == 0 else (-1, 127)


def highest(variant: Variant) -> np.ndarray:
    """The highest value of each number of the vector; the lowest is 0."""
    tiles, most = variant.tileset, np.iinfo(np.int16).max
    points = most if variant.cap is None else variant.cap
    exact = {"bag": sum(tiles.values())}
    exact |= {f"hand.{tile}": min(count, variant.hand) for tile, count in tiles.items()}
    exact |= {f"unseen.{tile}": count for tile, count in tiles.items()}
    for seat in range(variant.players):
        exact |= {f"seat{seat}.moves": 1, f"seat{seat}.tiles": variant.hand}
        exact |= {f"seat{seat}.points.{track}": points for track in variant.tracks}
    values = [
        1 if name.startswith("phase.") else exact.get(name, COUNTERS) for name in variant.observation.names
    ]
    return np.array(values, np.int16)


def seen_space(variant: Variant) -> Any:
    """The space of what a seat knows: a board and a vector."""
    spaces = require("gymnasium.spaces", "rl")
    low, high = board_bounds(variant)
    top = highest(variant)
    return spaces.Dict(
        {
            "board": spaces.Box(low, high, variant.observation.board.shape, np.int8),
            "vector": spaces.Box(np.zeros_like(top), top, dtype=np.int16),
        }
    )


def masked_space(variant: Variant) -> Any:
    """The space of what a seat knows, and of the mask beside it."""
    spaces = require("gymnasium.spaces", "rl")
    mask = spaces.Box(0, 1, (variant.actions,), np.int8)
    return spaces.Dict({"observation": seen_space(variant), "action_mask": mask})


def action_space(variant: Variant) -> Any:
    """The space of the numbers that stand for moves."""
    return require("gymnasium.spaces", "rl").Discrete(variant.actions)
