"""A game in play: positions, the moves that lead from one to the next, and who deals the tiles."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from typing import Any, Self

from ..drawing.scene import PlacedTile
from ..errors import AxioError, IllegalMove, ParseError, Reason, abbreviated
from ..games import find_variant
from ..games.runtime.loops import step
from ..games.runtime.state import DRAW, REMOVE, START
from ..games.variant import State, Variant, copied
from ..moves import Move
from ..rng import Generator, seed_bytes
from .events import Event, redact_event
from .log import Log
from .position import Position, check_seat, seat_number
from .view import View, last_placed, tiles_laid


class Table(Position):
    """A game with its history.

    A table made with a seed deals by itself: after every move the tiles that are due are drawn. With
    `seed=None` in the constructor nobody deals, and each tile is told by `draw`: that is how records
    are replayed and games on a real table are followed.

    >>> table = new_game("axio", players=2, seed=7)
    >>> table.turn
    0
    >>> move = table.legal_moves()[0]
    >>> gain = table.play(move)
    >>> table.turn
    1
    >>> table.undo() == move
    True
    """

    def __init__(self, variant: Variant, seed: int | str | None = None) -> None:
        super().__init__(variant, variant.new_state())
        if seed is not None:
            seed_bytes(seed)  # raises for a seed that cannot be written
        self.seed = seed
        self.actions: list[int] = []
        self._moves: list[int] = []  # where in `actions` players moved; the rest is chance
        self._log = Log(variant)
        self.deal()

    # ------------------------------------------------------------ playing

    def play(self, move: Move | str, seat: int | None = None, *, deal: bool = True) -> dict[str, int]:
        """Make a move for the seat whose turn it is; what it scored, by colour.

        `seat` says who wants to move, if that is not clear. With `deal=False` the draw that may follow
        waits for `deal()`, so that the move can still be taken back without having seen a tile.
        Raises `IllegalMove` or `ParseError`; the table is then as it was.
        """
        move = Move.of(move)
        if self.over:
            raise IllegalMove(move, Reason.GAME_OVER)
        if seat is not None and seat_number(seat) != int(self.state["seat"][0]):
            raise IllegalMove(move, Reason.NOT_YOUR_TURN)
        if self.draw_due:
            raise IllegalMove(move, Reason.DRAW_DUE)
        action = self.variant.encode(self.state, move)
        why = self.variant.kernels[step](self.variant.constants, self.state, action, True)
        if why:
            raise IllegalMove(move, Reason.of(why))
        self._moves.append(len(self.actions))
        self.actions.append(action)
        placed = action < self.variant.first_other_action
        gain = self._by_track(self.state["gain"][0].tolist()) if placed else {}
        if deal:
            self.deal()
        return gain

    def play_unchecked(self, action: int, *, deal: bool = True) -> None:
        """Carry out the number of a legal move, without any check, and deal as `play` does.

        For programs in a hurry: a number that is not in `legal_moves().actions` breaks the table.
        """
        action = int(action)  # NumPy's numbers would have the loop compiled again for their own type
        self.variant.kernels[step](self.variant.constants, self.state, action, False)
        self._moves.append(len(self.actions))
        self.actions.append(action)
        if deal:
            self.deal()

    def deal(self) -> list[str]:
        """Draw what is due, if this table deals; what was drawn, as `draw` would be told it."""
        drawn: list[str] = []
        if self.seed is None:
            return drawn
        rng: Generator | None = None
        while self.draw_due:
            if rng is None:
                # One number for each draw so far: after an undo the same tiles come again.
                rng = Generator(f"{self.seed}/deal", len(self.actions) - len(self._moves))
            outcomes = self.variant.chances(self.state)
            left = rng.randint(sum(weight for _, weight in outcomes))
            for action, weight in outcomes:
                left -= weight
                if left < 0:
                    drawn.append(self._chance_text(action))
                    self._chance(action)
                    break
        return drawn

    def _chance_text(self, action: int) -> str:
        if self.state["phase"][0] != START:
            return self.variant.kinds[action]
        laid = self.variant.starting(self.state, action)
        return f"{laid.letters} {laid.at[0]}"

    def draw(self, tile: str | PlacedTile) -> None:
        """Tell which tile is drawn next: `RG`, or for an opening display, as it lies, `RGBO 0,1`.

        Raises `IllegalMove`.
        """
        if not isinstance(tile, str | PlacedTile):
            raise ParseError(f"{abbreviated(tile)} is not a tile: give its letters, such as 'RG'")
        phase = int(self.state["phase"][0])
        told = f"draw {tile if isinstance(tile, str) else ' '.join((tile.letters, *tile.at))}"
        if phase < DRAW:
            raise IllegalMove(told, Reason.NO_DRAW_DUE)
        if isinstance(tile, str) and " " in tile:
            letters, _, at = tile.partition(" ")
            tile = PlacedTile(letters, (at,))
        if isinstance(tile, PlacedTile):
            action = self.variant.start_action(self.state, tile) if phase == START else None
        else:
            action = self.variant.kind_of(tile) if phase in (DRAW, REMOVE) else None
        if action is None or action not in dict(self.variant.chances(self.state)):
            raise IllegalMove(told, Reason.NOT_IN_BAG)
        self._chance(action)

    def _chance(self, action: int) -> None:
        self.variant.kernels[step](self.variant.constants, self.state, action, False)
        self.actions.append(action)

    def undo(self) -> Move:
        """Take back the last move and everything drawn after it; the move.

        Raises `AxioError` if no move has been made.
        """
        if not self._moves:
            raise AxioError("there is no move to take back")
        last = self._moves.pop()
        action = self.actions[last]
        del self.actions[last:]
        self.state = self._replayed()
        return self.variant.decode(self.state, action)

    def _replayed(self) -> State:
        state = self.variant.new_state()
        for action in self.actions:
            self.variant.kernels[step](self.variant.constants, state, action, False)
        return state

    def copy(self) -> Self:
        """A table that goes its own way from here (and, from the same seed, draws the same tiles)."""
        other = type(self).__new__(type(self))
        Position.__init__(other, self.variant, self.state.copy())
        other.seed = self.seed
        other.actions = self.actions.copy()
        other._moves = self._moves.copy()
        other._log = self._log.copy()
        return other

    def __copy__(self) -> Self:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()

    def __getstate__(self) -> dict[str, Any]:
        """A pickle holds what has happened; its state and events follow from that."""
        return {name: kept for name, kept in vars(self).items() if name not in ("state", "_log")}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        variant = kept.get("variant")
        if not isinstance(variant, Variant):
            raise ParseError("a pickle of a table has no rules")
        state, moves = _replayed_checked(variant, kept.get("actions"))
        if kept.get("_moves") != moves:
            raise ParseError("a pickle of a table takes draws for moves")
        if kept.get("seed") is not None:
            seed_bytes(kept["seed"])
        vars(self).update(kept)
        self.state, self._log = state, Log(variant)

    def __eq__(self, other: object) -> bool:
        """Whether both are the same game so far: rules, seed, moves and draws."""
        if type(other) is not type(self):
            return NotImplemented
        mine, theirs = (self.variant, self.seed, self.actions), (other.variant, other.seed, other.actions)
        return mine == theirs

    __hash__ = None  # type: ignore[assignment]  # a table changes

    def _lasting(self) -> Position:
        return Position(self.variant, copied(self.state))

    # ------------------------------------------------------------ what has happened

    @property
    def moves(self) -> tuple[Move, ...]:
        """The moves that players have made."""
        state, made = self.variant.new_state(), []
        where = set(self._moves)
        for n, action in enumerate(self.actions):
            if n in where:
                made.append(self.variant.decode(state, action))
            self.variant.kernels[step](self.variant.constants, state, action, False)
        return tuple(made)

    @property
    def plies(self) -> int:
        """How many moves players have made."""
        return len(self._moves)

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything that happened, chance included: hidden information, for the table only."""
        return self._log.upto(self.actions)

    def laid(self) -> tuple[PlacedTile, ...]:
        return tiles_laid(self.events)

    def last_placed(self) -> tuple[str, ...]:
        return last_placed(self.events)

    def view(self, seat: int | None = None, *, since: int = 0) -> View:
        """What a seat may know, or a spectator (`None`); with `since`, without the first so many events.

        Raises `AxioError` for no seat.
        """
        if seat is not None:
            seat = check_seat(seat, self.players)
        public = self.variant.exchange_is_public
        events = [redact_event(event, seat, public) for event in self.events[since:]]
        return View(self.variant, self.variant.redact(self.state, seat), seat, events)

    def follows_from(self, seed: int | str) -> bool:
        """Whether every tile drawn here is the one that this seed deals."""
        dealt = Table(self.variant, seed)
        for at in self._moves:
            if dealt.actions != self.actions[:at]:
                return False
            dealt.play_unchecked(self.actions[at])
        return dealt.actions[: len(self.actions)] == self.actions

    def __repr__(self) -> str:
        if self.seed is None:
            return f"<Table of {self.game} for {self.players}, {self.plies} moves, not dealing>"
        options = f", options={self.options}" if self.options else ""
        moves = [str(move) for move in self.moves]
        played = f", moves={moves}" if moves else ""
        return f"axio.new_game({self.game!r}, players={self.players}, seed={self.seed!r}{options}{played})"


def _replayed_checked(variant: Variant, actions: object) -> tuple[State, list[int]]:
    """Play actions that come from outside; the state they lead to, and where players moved.

    Raises `ParseError` for an action that is not legal, or that chance cannot bring.
    """
    if not isinstance(actions, list) or not all(type(action) is int for action in actions):
        raise ParseError("the actions of a table should be a list of whole numbers")
    state, moves = variant.new_state(), []
    for n, action in enumerate(actions):
        phase = int(state["phase"][0])
        if phase < DRAW and 0 <= action < variant.actions:
            why = variant.kernels[step](variant.constants, state, action, True)
            moves.append(n)
        else:
            why = action not in dict(variant.chances(state)) if phase >= DRAW else True
            if not why:
                variant.kernels[step](variant.constants, state, action, False)
        if why:
            raise ParseError(f"action {n + 1} of {len(actions)} of a table, {action}, is not legal")
    return state, moves


def new_game(
    game: str,
    players: int = 2,
    *,
    seed: int | str | None = None,
    options: Mapping[str, bool] | None = None,
    moves: Iterable[Move | str] = (),
) -> Table:
    """A new table that deals by itself, from `seed` or, without one, from one nobody knows.

    `moves` are played at once. Raises `UnknownGame`, `InvalidPlayers`, `InvalidOption` or, for `moves`,
    `IllegalMove`.
    """
    table = Table(find_variant(game, players, options), secrets.token_hex(16) if seed is None else seed)
    for move in moves:
        table.play(move)
    return table
