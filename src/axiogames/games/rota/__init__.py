"""AXIO rota: square tiles with four corners around shared circles."""

from ..protocol import Game

GAME = Game(
    id="rota",
    name="AXIO rota",
    summary="Square tiles, a symbol in each corner: match around the circles, lift your lowest colour.",
    colours="RGBOP",
    tiles=60,
    hand=1,
    cap=12,
    reconstructed=("which 60 tiles there are: all 30 with four colours, 30 of the 60 with an empty corner",),
)
