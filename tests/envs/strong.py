"""Strong play in an environment, beside a table that is told the same moves and the same tiles."""

from __future__ import annotations

from collections import Counter

import numpy as np

from axiogames.drawing.scene import PlacedTile
from axiogames.envs.single import SingleGame
from axiogames.games.runtime.state import REMOVE, START
from axiogames.games.variant import copied
from axiogames.model.position import Position
from axiogames.model.table import Table
from axiogames.model.view import View
from axiogames.moves import Move
from axiogames.players import Budget, player
from axiogames.rng import Generator


class Beside:
    """A table without a dealer that follows a game: the same moves, and the tiles that were drawn there."""

    def __init__(self, game: SingleGame) -> None:
        self.game = game
        self.table = Table(game.variant)
        self._draw()

    def play(self, move: Move) -> dict[str, int]:
        """Make a move here that has just been made there; what it scored."""
        gain = self.table.play(move)
        self._draw()
        return gain

    def _draw(self) -> None:
        table, there = self.table, self.game.states
        while table.draw_due:
            phase, seat = int(table.state["phase"][0]), int(table.state["seat"][0])
            if phase == START:
                # As they lie there now: the display has just been laid out.
                tiles = Position(table.variant, copied(there)).content().tiles
                table.draw(next(laid for laid in tiles if self._fits(laid)))
            elif phase == REMOVE:
                missing = there["removed"][0].astype(int) - table.state["removed"][0]
                table.draw(table.variant.kinds[int(np.flatnonzero(missing)[0])])
            else:
                new = Counter(table.variant.hand_of(there, seat)) - Counter(table.hand(seat))
                table.draw(next(new.elements()))

    def _fits(self, laid: PlacedTile) -> bool:
        action = self.table.variant.start_action(self.table.state, laid)
        return action is not None and action in dict(self.table.variant.chances(self.table.state))

    def compare(self, mask: np.ndarray) -> None:
        """Both say the same of turn, points, hands, end and places; and the mask marks the table's moves."""
        table, game = self.table, self.game
        there = Position(game.variant, copied(game.states))
        assert there.over == table.over
        assert there.turn == table.turn
        assert there.scores == table.scores
        assert there.ranks == table.ranks
        assert there.unseen == table.unseen
        for seat in range(game.players):
            assert there.hand(seat) == table.hand(seat)
        moves = [] if table.over else list(table.legal_moves())
        assert mask.sum() == len(moves)
        assert set(np.unique(mask)) <= {0, 1}
        for number, move in list(zip(np.flatnonzero(mask).tolist(), moves, strict=True))[
            :: 1 + len(moves) // 8
        ]:
            assert game.move(number) == move
            assert game.number(move) == number


def chosen(view: View, style: str, rng: Generator) -> Move:
    """The move of a player of ours."""
    return player(style).choose(view, Budget(), rng).move
