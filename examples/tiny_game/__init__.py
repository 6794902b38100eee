"""A complete game in about 300 lines: two-colour dominoes on 5×5.

`axiogames.games.register_game("examples.tiny_game")` registers it. Records, views, commands, drawings, bots
and environments then support it like a built-in game.
"""

from axiogames.games.protocol import Game

GAME = Game(
    id="tiny",
    name="Tiny dominoes",
    summary="Dominoes of two colours on 5×5: score for equal neighbours, lift your lower colour.",
    colours="RG",
    tiles=12,
    hand=2,
    cap=None,
    reconstructed=("everything: this game is an example",),
    package=__name__,
)
