"""The variant: rules, cells and tiles for a number of players."""

from __future__ import annotations

from axiogames.games.boards import FixedBoard
from axiogames.games.protocol import Game, Rules
from axiogames.games.runtime.kernels import Kernels

from . import drawing, rules
from .setup import CELLS, HAND, SLOTS, constants, empty_state, tile_set

RULES = Rules.of(
    "tiny",
    apply=rules.apply,
    refusal=rules.refusal,
    score=rules.score,
    observe_board=rules.observe_board,
)


def make(game: Game, players: int, options: tuple[str, ...]) -> TinyVariant:
    """Return the game for a number of players."""
    return TinyVariant(game, players, options)


class TinyVariant(FixedBoard):
    """The game for a number of players."""

    hand = HAND
    drawing = drawing
    counters = ("dealing",)

    def __init__(self, game: Game, players: int, options: tuple[str, ...]) -> None:
        super().__init__(game, players, options, cells=CELLS, slots=SLOTS, printed={})
        self.tileset = tile_set(game.colours)
        self.kinds = tuple(self.tileset)
        self.constants = constants(game.colours, players)
        self.empty = empty_state(game.colours, players)
        self.kernels = Kernels(game.id, RULES, self.constants, self.empty.dtype)
