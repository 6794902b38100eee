"""The variants of axio on hexagons: the hexagonal board by number of players."""

from __future__ import annotations

from ..dominoes.setup import DominoFacts, tile_mix
from ..dominoes.variant import DominoVariant
from ..protocol import Game
from . import drawing

SIDE = {1: 6, 2: 6, 3: 7, 4: 8}
# Reconstruction: the printed corners of the area with side 6, relative to the centre, clockwise from the top
# left.
PRINTED = {(-5, 5): "R", (0, 5): "G", (5, 0): "B", (5, -5): "O", (0, -5): "P", (-5, 0): "Y"}
MIXED, DOUBLE = 6, 5


def make(game: Game, players: int, options: tuple[str, ...]) -> DominoVariant:
    """Return the game for a number of players."""
    side = SIDE[players]
    reach = range(1 - side, side)

    def name(q: int, r: int) -> str:
        return f"{chr(ord('a') + q + side - 1)}{r + side}"

    facts = DominoFacts(
        cells={(q, r): name(q, r) for r in reach for q in reach if abs(q + r) < side},
        directions=((1, 0), (0, 1), (1, -1), (-1, 0), (0, -1), (-1, 1)),
        printed={name(q, r): colour for (q, r), colour in PRINTED.items()},
        colours=game.colours,
        tiles=tile_mix(game.colours, MIXED, DOUBLE),
        hand=game.hand,
        cap=game.cap or 0,
        pyramids=0,
        players=players,
    )
    return DominoVariant(game, facts, options, drawing)
