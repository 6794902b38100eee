"""What a finished game can be worth to its seats."""

from __future__ import annotations

from ..engine import batches

REWARDS = {
    "none": batches.NOTHING,
    "win": batches.WIN,  # the winners share what the others lose: 1, 0 or -1 with two players
    "place": batches.PLACE_REWARD,  # from 1 for the first place to -1 for the last
    "lowest": batches.LOWEST,  # the points of the lowest track, which decides a game
}
