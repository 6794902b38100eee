"""Strong play in an environment, compared with a table that has the same moves and draws."""

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


class MirrorTable:
    """A table without a seed that plays the same moves and draws as a game."""

    def __init__(self, game: SingleGame) -> None:
        self.game = game
        self.table = Table(game.variant)
        self._draw()

    def play(self, move: Move) -> dict[str, int]:
        """Play the move that was just played in the game, and return its points."""
        gain = self.table.play(move)
        self._draw()
        return gain

    def _draw(self) -> None:
        table, states = self.table, self.game.states
        while table.draw_due:
            phase, seat = int(table.state["phase"][0]), int(table.state["seat"][0])
            if phase == START:
                # The display of the game is complete: take its tiles.
                tiles = Position(table.variant, copied(states)).content().tiles
                table.draw(next(tile for tile in tiles if self._fits(tile)))
            elif phase == REMOVE:
                missing = states["removed"][0].astype(int) - table.state["removed"][0]
                table.draw(table.variant.kinds[int(np.flatnonzero(missing)[0])])
            else:
                new = Counter(table.variant.hand_of(states, seat)) - Counter(table.hand(seat))
                table.draw(next(new.elements()))

    def _fits(self, tile: PlacedTile) -> bool:
        action = self.table.variant.start_action(self.table.state, tile)
        return action is not None and action in dict(self.table.variant.chances(self.table.state))

    def compare(self, mask: np.ndarray) -> None:
        """Check that turn, points, hands, end and ranks agree, and that the mask has the table's moves."""
        table, game = self.table, self.game
        position = Position(game.variant, copied(game.states))
        assert position.over == table.over
        assert position.turn == table.turn
        assert position.scores == table.scores
        assert position.ranks == table.ranks
        assert position.unseen == table.unseen
        for seat in range(game.players):
            assert position.hand(seat) == table.hand(seat)
        moves = [] if table.over else list(table.legal_moves())
        assert mask.sum() == len(moves)
        assert set(np.unique(mask)) <= {0, 1}
        for action, move in list(zip(np.flatnonzero(mask).tolist(), moves, strict=True))[
            :: 1 + len(moves) // 8
        ]:
            assert game.move_of(action) == move
            assert game.action_of(move) == action


def bot_move(view: View, style: str, rng: Generator) -> Move:
    """Return the move of a bot."""
    return player(style).choose(view, Budget(), rng).move
