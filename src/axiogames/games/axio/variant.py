"""The variants of AXIO: the square board by number of players."""

from __future__ import annotations

from ..dominoes.setup import DominoFacts, tile_mix
from ..dominoes.variant import DominoVariant
from ..protocol import Game
from . import drawing

# Reconstruction: no source has the colours of the printed symbols or the composition of the tile set.
PRINTED = {"g7": "P", "g11": "R", "k7": "G", "g3": "B", "c7": "O"}
MIXED, DOUBLE = 8, 4

SIDE = 13
MARGIN = {1: 2, 2: 2, 3: 1, 4: 0}  # squares at each side that are not played on


def make(game: Game, players: int, options: tuple[str, ...]) -> DominoVariant:
    """Return the game for a number of players."""
    inside = range(MARGIN[players], SIDE - MARGIN[players])
    facts = DominoFacts(
        cells={(x, y): f"{chr(ord('a') + x)}{y + 1}" for y in inside for x in inside},
        directions=((1, 0), (0, 1), (-1, 0), (0, -1)),
        printed=PRINTED,
        colours=game.colours,
        tiles=tile_mix(game.colours, MIXED, DOUBLE),
        hand=game.hand,
        cap=game.cap or 0,
        pyramids=20,
        players=players,
    )
    return DominoVariant(game, facts, options, drawing)
