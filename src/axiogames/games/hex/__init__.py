"""axio on hexagons: dominoes along the three axes of a hexagonal board."""

from ..protocol import Game

GAME = Game(
    id="hex",
    name="axio on hexagons",
    summary="Dominoes on hexagons: six colours, lines in every direction, lift your lowest colour.",
    colours="RGBOPY",
    tiles=120,
    hand=6,
    cap=18,
    reconstructed=(
        "which colour stands on which of the six printed corners",
        "how many there are of each tile: 6 of each mixed pair, 5 of each double",
    ),
)
