"""Positions: the rules of a game and a state, without its history."""

from __future__ import annotations

import copy
import operator
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, overload

import numpy as np

from ..drawing import svg
from ..drawing.scene import Content, Panel, PlacedTile, Scene, Track
from ..drawing.text import render
from ..errors import AxioError, IllegalMove, ParseError, Reason, abbreviated
from ..games.runtime.loops import step
from ..games.runtime.state import DRAW, OFFER, OVER, PLACE
from ..games.runtime.view_loops import rank_seats
from ..games.variant import State, Variant, copied
from ..moves import Action, Cell, Move, Seat
from .events import Result
from .position_text import read_position, write_position


@dataclass(frozen=True, slots=True)
class Preview:
    """The effect of a move.

    Attributes:
        gain: the points scored, by track.
        pyramids: the cells on which the move sets pyramids.
        ends_game: whether the game is over after the move.
    """

    gain: dict[str, int]
    pyramids: tuple[Cell, ...] = ()
    ends_game: bool = False

    def __hash__(self) -> int:
        return hash((frozenset(self.gain.items()), self.pyramids, self.ends_game))


def seat_number(seat: object) -> Seat | None:
    """Return an argument as a seat number, `None` if it is not an integer."""
    if isinstance(seat, bool):
        return None
    try:
        return operator.index(seat)  # type: ignore[arg-type]  # raises for other types
    except TypeError:
        return None


def check_seat(seat: object, players: int) -> Seat:
    """Return an argument as a seat number. Raise `AxioError` if there is no such seat."""
    if type(seat) is int and 0 <= seat < players:
        return seat  # the usual case
    number = seat_number(seat)
    if number is None or not 0 <= number < players:
        raise AxioError(f"there is no seat {abbreviated(seat)}: 0 to {players - 1}")
    return number


class Moves(Sequence[Move]):
    """The legal moves of a position, a sequence in a fixed order. `Move` objects are created on access.

    Attributes:
        actions: the action ids of the moves, ascending.

    >>> from axiogames import new_game
    >>> moves = new_game("axio", players=2, seed=7).legal_moves()
    >>> moves[0] in moves, str(moves[0]) in moves, "pass" in moves
    (True, True, False)
    """

    __slots__ = ("_position", "actions")

    def __init__(self, position: Position, actions: np.ndarray) -> None:
        self._position = position
        self.actions = actions

    def __len__(self) -> int:
        return len(self.actions)

    @overload
    def __getitem__(self, index: int) -> Move: ...
    @overload
    def __getitem__(self, index: slice) -> Moves: ...
    def __getitem__(self, index: int | slice) -> Move | Moves:
        if isinstance(index, slice):
            return Moves(self._position, self.actions[index])
        return self._position.variant.decode(self._position.state, int(self.actions[index]))

    def __iter__(self) -> Iterator[Move]:
        decode, state = self._position.variant.decode, self._position.state
        return (decode(state, action) for action in self.actions.tolist())

    def __contains__(self, move: object) -> bool:
        """Return whether a move is in this sequence.

        Args:
            move: a `Move`, or its text with the cells in any order: `"RG j8-k8" in moves` equals
                `"GR k8-j8" in moves`. For other objects and texts, the result is `False`.
        """
        if not isinstance(move, Move | str):
            return False
        try:
            return self._position.action_of(move) in self.actions
        except (ParseError, IllegalMove):
            return False

    def listed_from(self, position: Position) -> bool:
        """Return whether these are the moves of a position, so that their action ids are valid in it.

        Args:
            position: the position itself, or one with an equal state.
        """
        own = self._position
        if own is position:
            return True
        return own.variant is position.variant and own.state.tobytes() == position.state.tobytes()

    def __eq__(self, other: object) -> bool:
        """Return whether both list the same moves in the same order."""
        if not isinstance(other, Moves):
            return NotImplemented
        return len(self) == len(other) and all(map(operator.eq, self, other))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore_moves, (self._position, self.actions)

    def __copy__(self) -> Moves:
        return Moves(self._position, self.actions.copy())

    def __deepcopy__(self, memo: dict[int, Any]) -> Moves:
        return Moves(copy.deepcopy(self._position, memo), self.actions.copy())

    def __repr__(self) -> str:
        shown = ", ".join(str(move) for move in self[:6])
        return f"<{len(self)} moves: {shown}{', …' if len(self) > 6 else ''}>"


def _restore_moves(position: Position, actions: np.ndarray) -> Moves:
    """Return moves from a pickle. Raise `ParseError` if they are not legal moves of the position."""
    legal = position.legal_moves().actions
    if not isinstance(actions, np.ndarray) or actions.dtype != legal.dtype or actions.ndim != 1:
        raise ParseError("the moves of a pickle are not an array of action ids")
    if not np.isin(actions, legal).all():
        raise ParseError("the moves of a pickle are not legal moves of its position")
    return Moves(position, actions)


class Position:
    """The rules of a game and a state. No method of this class changes the state.

    Positions with the same text are equal and have the same hash. A copy has its own state. Unpickling checks
    the state and raises `ParseError` if no game can reach it.

    Attributes:
        variant: the game, its number of players and its options.
        state: the state that compiled rules work on, an array of one NumPy record. Treat it as read-only.

    >>> from axiogames import new_game
    >>> position = Position.parse(new_game("axio", players=2, seed=7).position)
    >>> position.turn, position.over, len(position.hand(0))
    (0, False, 5)
    """

    def __init__(self, variant: Variant, state: State) -> None:
        self.variant = variant
        self.state = state

    # ------------------------------------------------------------ players, points and tiles

    @property
    def game(self) -> str:
        """The name of the game, one of `GAMES`."""
        return self.variant.game.id

    @property
    def players(self) -> int:
        """The number of players."""
        return self.variant.players

    @property
    def options(self) -> dict[str, bool]:
        """The options that are switched on."""
        return dict.fromkeys(self.variant.options, True)

    @property
    def turn(self) -> Seat | None:
        """The seat to move; `None` while a draw is due and after the end."""
        return int(self.state["seat"][0]) if self.state["phase"][0] in (PLACE, OFFER) else None

    @property
    def draw_due(self) -> int:
        """The number of tiles to be drawn before the next move."""
        return int(self.state["due"][0]) if self.state["phase"][0] >= DRAW else 0

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return bool(self.state["phase"][0] == OVER)

    @property
    def scores(self) -> tuple[dict[str, int], ...]:
        """The points of each seat by track: by colour, or `points` in games with a single track."""
        rows = self.state["scores"][0, : self.players].tolist()
        return tuple(dict(zip(self.variant.tracks, row, strict=True)) for row in rows)

    def hand(self, seat: Seat) -> tuple[str, ...]:
        """Return the tiles in the hand of a seat, hidden ones as `?`.

        Args:
            seat: the seat.

        Raises:
            AxioError: there is no such seat.
        """
        return self.variant.hand_of(self.state, check_seat(seat, self.players))

    @property
    def unseen(self) -> dict[str, int]:
        """The number of unseen tiles of each kind: tiles in the bag and, in a view, in hidden hands."""
        counts = zip(self.variant.kinds, self.state["bag"][0].tolist(), strict=True)
        return {tile: count for tile, count in counts if count}

    @property
    def in_bag(self) -> int:
        """The number of tiles left to draw."""
        return int(self.state["in_bag"][0])

    @property
    def ranks(self) -> tuple[int, ...]:
        """The current rank of each seat, 1 the best. Seats with equal points share a rank."""
        out = np.zeros(self.players, np.int64)
        self.variant.kernels[rank_seats](self.variant.constants, self.state, out)
        return tuple(out.tolist())

    @property
    def result(self) -> Result | None:
        """The result, `None` until the game is over."""
        if not self.over:
            return None
        ranks = self.ranks
        return Result(self.scores, ranks, tuple(seat for seat, rank in enumerate(ranks) if rank == 1))

    # ------------------------------------------------------------ moves

    @property
    def hides_turn(self) -> bool:
        """Whether the hand of the seat to move is hidden, so that its legal moves are unknown."""
        return self.turn is not None and "?" in self.hand(self.turn)

    def legal_moves(self) -> Moves:
        """Return the legal moves of the seat to move, always in the same order.

        Returns:
            The moves. There are none while a draw is due, after the end, or if the hand is hidden.
        """
        if self.hides_turn:
            return Moves(self, np.empty(0, np.int32))
        return Moves(self._snapshot(), self.variant.legal_actions(self.state))

    def _snapshot(self) -> Position:
        """Return an equal position that later moves do not change."""
        return self

    def action_of(self, move: Move | str) -> Action:
        """Return the action id of a legal move.

        Args:
            move: the move, or its text.

        Raises:
            IllegalMove: the move is not legal in this position.
            ParseError: the text is not a move.
        """
        move = Move.of(move)
        if self.draw_due:
            raise IllegalMove(move, Reason.DRAW_DUE)
        if self.over:
            raise IllegalMove(move, Reason.GAME_OVER)
        if self.hides_turn:
            raise IllegalMove(move, Reason.NOT_YOUR_TURN)
        action = self.variant.encode(self.state, move)
        # `step` checks the move and applies it, so it gets a copy of the state.
        reason = self.variant.kernels[step](self.variant.constants, self.state.copy(), action, True)
        if reason:
            raise IllegalMove(move, Reason.of(reason))
        return action

    def preview(self, move: Move | str) -> Preview:
        """Return the effect of a legal move without playing it.

        Args:
            move: the move, or its text.

        Raises:
            IllegalMove: the move is not legal in this position.
            ParseError: the text is not a move.
        """
        action = self.action_of(move)
        after = self.state.copy()
        self.variant.kernels[step](self.variant.constants, after, action, False)
        before = self.variant.pyramids(self.state)
        placed = action < self.variant.placements
        return Preview(
            self._by_track(after["gain"][0].tolist()) if placed else {},
            tuple(cell for cell in self.variant.pyramids(after) if cell not in before),
            bool(after["phase"][0] == OVER),
        )

    def gain(self, move: Move | str) -> dict[str, int]:
        """Return the points of a legal move, by track.

        Args:
            move: the move, or its text.

        Raises:
            IllegalMove: the move is not legal in this position.
            ParseError: the text is not a move.
        """
        return self.preview(move).gain

    def gains(self, moves: Moves) -> np.ndarray:
        """Return the points of many moves at once.

        Args:
            moves: legal moves, from `legal_moves()`.

        Returns:
            An array with a row for each move and a column for each track.

        Raises:
            IllegalMove: `moves` belong to another position, and one of them is not legal in this one.
        """
        actions = moves.actions
        if not moves.listed_from(self):
            actions = np.array([self.action_of(move) for move in moves], actions.dtype)
        return self.variant.gains(self.state, actions)

    def _by_track(self, points: Sequence[int]) -> dict[str, int]:
        return {track: n for track, n in zip(self.variant.tracks, points, strict=True) if n}

    # ------------------------------------------------------------ text

    @property
    def position(self) -> str:
        """The position as one line of text, which `Position.parse` reads."""
        return write_position(self.variant, self.state)

    @classmethod
    def parse(cls, text: str) -> Position:
        """Parse the text of a position.

        Args:
            text: one line, as `position` returns it.

        Raises:
            ParseError: the text is not a position, or no game can reach it.
        """
        return Position(*read_position(text))

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.position == other.position

    def __hash__(self) -> int:
        return hash(self.position)

    def __repr__(self) -> str:
        return f"axio.Position.parse({self.position!r})"

    # ------------------------------------------------------------ copies

    def __copy__(self) -> Self:
        other = type(self).__new__(type(self))
        vars(other).update(vars(self) | {"state": copied(self.state)})
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        other = copy.copy(self)
        vars(other).update(
            copy.deepcopy({name: value for name, value in vars(self).items() if name != "state"}, memo)
        )
        return other

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        variant = attributes.get("variant")
        if not isinstance(variant, Variant):
            raise ParseError("the pickle of a position has no variant")
        variant.check_state(attributes.get("state"))
        vars(self).update(attributes)

    # ------------------------------------------------------------ drawing

    def content(self, names: Sequence[str] | None = None, *, places: bool = False) -> Content:
        """Return the content of a drawing.

        Args:
            names: a name for each seat; by default `seat 0` and so on.
            places: mark the cells where the seat to move can place a tile.

        Raises:
            AxioError: the number of names is not the number of seats.
        """
        if names and len(names) != self.players:
            raise AxioError(f"{len(names)} names for {self.players} seats: give one name per seat")
        content = self.variant.content(self.state, self.laid())
        placements = (move.at for move in self.legal_moves() if move.kind == "place") if places else ()
        return replace(
            content,
            last=self.last_placed(),
            places=tuple(dict.fromkeys(placements)),
            panels=tuple(self._panel(seat, names) for seat in range(self.players)),
            to_draw=self.in_bag,
        )

    def _panel(self, seat: int, names: Sequence[str] | None) -> Panel:
        hand = self.hand(seat)
        return Panel(
            name=names[seat] if names else f"seat {seat}",
            to_move=self.turn == seat,
            tracks=tuple(Track(track, n, self.variant.cap) for track, n in self.scores[seat].items()),
            hand=tuple(tile for tile in hand if tile != "?"),
            hidden=sum(tile == "?" for tile in hand),
            rank=self.ranks[seat] if self.over else None,
        )

    def laid(self) -> tuple[PlacedTile, ...]:
        """Return the tiles placed so far, in order. A position without events returns none."""
        return ()

    def last_placed(self) -> tuple[Cell, ...]:
        """Return the cells of the last placement. A position without events returns none."""
        return ()

    def scene(self, names: Sequence[str] | None = None, *, places: bool = False) -> Scene:
        """Return the drawing as a scene, which `drawing` renders.

        Args:
            names: a name for each seat; by default `seat 0` and so on.
            places: mark the cells where the seat to move can place a tile.
        """
        return self.variant.drawing.scene(self.content(names, places=places))

    def svg(self, names: Sequence[str] | None = None, *, dark: bool = False) -> str:
        """Return a picture of the position.

        Args:
            names: a name for each seat.
            dark: use the colours for dark backgrounds.

        Returns:
            An SVG document.
        """
        return svg.render(self.scene(names), dark=dark)

    def _repr_svg_(self) -> str:
        return self.svg()

    def text(self, *, colour: bool = False, places: bool = False, names: Sequence[str] | None = None) -> str:
        """Return the position as text for a terminal.

        Args:
            colour: use ANSI colours.
            places: mark the cells where the seat to move can place a tile.
            names: a name for each seat.
        """
        return render.render(self.scene(names, places=places), colour=colour)

    def __str__(self) -> str:
        """Return the position as text, in colour if standard output is a terminal."""
        return self.text(colour=sys.stdout.isatty() and "NO_COLOR" not in os.environ)
