"""trio: straight tiles of three squares whose edges match what lies around them."""

from ..protocol import Game, Option

GAME = Game(
    id="trio",
    name="trio",
    summary="Tiles of three squares: match as many edges as you can, over stars for double.",
    colours="RGBY",
    tiles=80,
    hand=3,
    cap=None,
    options=(
        Option("children", "only one edge has to match, mismatches are allowed"),
        Option("short", "40 random tiles are removed unseen before the deal"),
    ),
    reconstructed=(
        "the board: where its starter squares, black squares and stars are",
        "which 80 tiles there are: two of each of the 40 arrangements",
    ),
)
