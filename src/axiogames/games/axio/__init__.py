"""AXIO on squares: dominoes, lines and pyramids."""

from ..protocol import Game

GAME = Game(
    id="axio",
    name="AXIO",
    summary="Dominoes on squares: score along lines, shut in squares for pyramids, lift your lowest colour.",
    colours="RGBOP",
    tiles=100,
    hand=5,
    cap=18,
    reconstructed=(
        "which colour stands on which of the five printed squares",
        "how many there are of each tile: 8 of each mixed pair, 4 of each double",
    ),
)
