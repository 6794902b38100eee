"""A position: everything that can be asked of a game without knowing how it came about."""

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
from ..games.runtime.ranks import write_ranks
from ..games.runtime.state import DRAW, OFFER, OVER, PLACE
from ..games.variant import State, Variant, copied
from ..moves import Move
from .events import Result
from .position_text import read_position, write_position


@dataclass(frozen=True, slots=True)
class Preview:
    """What a move would do: its points by track, the pyramids it would set, whether the game would end."""

    gain: dict[str, int]
    pyramids: tuple[str, ...] = ()
    ends_game: bool = False

    def __hash__(self) -> int:
        return hash((frozenset(self.gain.items()), self.pyramids, self.ends_game))


def seat_number(seat: object) -> int | None:
    """Return the number of a seat that was given from outside, `None` if it is no whole number."""
    if isinstance(seat, bool):
        return None
    try:
        return operator.index(seat)  # type: ignore[arg-type]  # which is what is found out here
    except TypeError:
        return None


def check_seat(seat: object, players: int) -> int:
    """Return the number of a seat that was given from outside. Raises `AxioError` for no seat."""
    if type(seat) is int and 0 <= seat < players:
        return seat  # as nearly always
    number = seat_number(seat)
    if number is None or not 0 <= number < players:
        raise AxioError(f"there is no seat {abbreviated(seat)}: 0 to {players - 1}")
    return number


class Moves(Sequence[Move]):
    """The legal moves of a position, in a fixed order. A move is made when it is looked at."""

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
        """Whether a move is among these.

        A move may be a `Move` or text, and may be written in any of its ways: `"RG j8-k8" in moves` is the
        same as `"GR k8-j8" in moves`. Text that is no move, `None` or a number is not among these.
        """
        if not isinstance(move, Move | str):
            return False
        try:
            return self._position.action_of(move) in self.actions
        except (ParseError, IllegalMove):
            return False

    def listed_from(self, position: Position) -> bool:
        """Whether these were listed from a position or an equal one, so that their numbers hold there."""
        mine = self._position
        if mine is position:
            return True
        return mine.variant is position.variant and mine.state.tobytes() == position.state.tobytes()

    def __eq__(self, other: object) -> bool:
        """Whether the same moves are listed in the same order."""
        if not isinstance(other, Moves):
            return NotImplemented
        return len(self) == len(other) and all(map(operator.eq, self, other))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored_moves, (self._position, self.actions)

    def __copy__(self) -> Moves:
        return Moves(self._position, self.actions.copy())

    def __deepcopy__(self, memo: dict[int, Any]) -> Moves:
        return Moves(copy.deepcopy(self._position, memo), self.actions.copy())

    def __repr__(self) -> str:
        shown = ", ".join(str(move) for move in self[:6])
        return f"<{len(self)} moves: {shown}{', …' if len(self) > 6 else ''}>"


def _restored_moves(position: Position, actions: np.ndarray) -> Moves:
    """Return moves from a pickle. Raises `ParseError` where they are not legal moves of the position."""
    legal = position.legal_moves().actions
    if not isinstance(actions, np.ndarray) or actions.dtype != legal.dtype or actions.ndim != 1:
        raise ParseError("the moves of a pickle are not an array of action numbers")
    if not np.isin(actions, legal).all():
        raise ParseError("the moves of a pickle are not legal moves of its position")
    return Moves(position, actions)


class Position:
    """A game's rules and a state. Nothing here changes the state.

    Positions with the same text are equal and have the same hash. `state` is an array of one NumPy record. It
    is what the compiled rules work on; treat it as read-only. Copies have a state of their own. A pickle is
    checked like a text when it is loaded: `ParseError` is raised for a state that no game has.
    """

    def __init__(self, variant: Variant, state: State) -> None:
        self.variant = variant
        self.state = state

    # ------------------------------------------------------------ who and what

    @property
    def game(self) -> str:
        """The game's name."""
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
    def turn(self) -> int | None:
        """The seat that has to move; `None` while a draw is due and when the game is over."""
        return int(self.state["seat"][0]) if self.state["phase"][0] in (PLACE, OFFER) else None

    @property
    def draw_due(self) -> int:
        """How many tiles chance still has to bring before a player moves."""
        return int(self.state["due"][0]) if self.state["phase"][0] >= DRAW else 0

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return bool(self.state["phase"][0] == OVER)

    @property
    def scores(self) -> tuple[dict[str, int], ...]:
        """Every seat's points, by colour (or `points` where a game has no colours to count)."""
        rows = self.state["scores"][0, : self.players].tolist()
        return tuple(dict(zip(self.variant.tracks, row, strict=True)) for row in rows)

    def hand(self, seat: int) -> tuple[str, ...]:
        """A seat's tiles, `?` for those that are not known here. Raises `AxioError` for no seat."""
        return self.variant.hand_of(self.state, check_seat(seat, self.players))

    @property
    def unseen(self) -> dict[str, int]:
        """How many of each tile have not been seen: the bag and, in a view, what others hide."""
        counts = zip(self.variant.kinds, self.state["bag"][0].tolist(), strict=True)
        return {tile: count for tile, count in counts if count}

    @property
    def in_bag(self) -> int:
        """How many tiles are left to be drawn."""
        return int(self.state["in_bag"][0])

    @property
    def standing(self) -> tuple[int, ...]:
        """Every seat's place as things are, 1 the best; equal seats share it."""
        scores = np.ascontiguousarray(self.state["scores"][0, : self.players])
        out = np.zeros(self.players, np.int64)
        write_ranks(scores, out)
        return tuple(out.tolist())

    @property
    def result(self) -> Result | None:
        """The result of a game that is over."""
        if not self.over:
            return None
        place = self.standing
        return Result(self.scores, place, tuple(seat for seat, at in enumerate(place) if at == 1))

    # ------------------------------------------------------------ moves

    @property
    def hides_turn(self) -> bool:
        """Whether the tiles of the seat to move are hidden here, so that its moves are not known."""
        return self.turn is not None and "?" in self.hand(self.turn)

    def legal_moves(self) -> Moves:
        """All moves the seat to move may make, always in the same order.

        None where a draw is due, the game is over, or the hand of the seat to move is hidden.
        """
        if self.hides_turn:
            return Moves(self, np.empty(0, np.int32))
        return Moves(self._lasting(), self.variant.legal_actions(self.state))

    def _lasting(self) -> Position:
        """This position as an object that no later move changes."""
        return self

    def action_of(self, move: Move | str) -> int:
        """The number of a legal move. Raises `IllegalMove`, or `ParseError` if the text is no move."""
        move = Move.of(move)
        if self.draw_due:
            raise IllegalMove(move, Reason.DRAW_DUE)
        if self.over:
            raise IllegalMove(move, Reason.GAME_OVER)
        if self.hides_turn:
            raise IllegalMove(move, Reason.NOT_YOUR_TURN)
        action = self.variant.encode(self.state, move)
        # The rules themselves say whether it may be done; they do it on a copy.
        why = self.variant.kernels[step](self.variant.constants, self.state.copy(), action, True)
        if why:
            raise IllegalMove(move, Reason.of(why))
        return action

    def preview(self, move: Move | str) -> Preview:
        """What a legal move would do. Raises `IllegalMove` if it is not legal."""
        action = self.action_of(move)
        after = self.state.copy()
        self.variant.kernels[step](self.variant.constants, after, action, False)
        before = self.variant.pyramids(self.state)
        placed = action < self.variant.first_other_action
        return Preview(
            self._by_track(after["gain"][0].tolist()) if placed else {},
            tuple(cell for cell in self.variant.pyramids(after) if cell not in before),
            bool(after["phase"][0] == OVER),
        )

    def gain(self, move: Move | str) -> dict[str, int]:
        """What a legal move would score, by colour. Raises `IllegalMove` if it is not legal."""
        return self.preview(move).gain

    def gains(self, moves: Moves) -> np.ndarray:
        """What each of these moves would score: a row for each move, a column for each track.

        Raises `IllegalMove` if one that was listed from another position is not legal in this one.
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
        """The position as one line of text, which `Position.parse` reads back."""
        return write_position(self.variant, self.state)

    @classmethod
    def parse(cls, text: str) -> Position:
        """The position that a line of text describes. Raises `ParseError`."""
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
            copy.deepcopy({name: kept for name, kept in vars(self).items() if name != "state"}, memo)
        )
        return other

    def __setstate__(self, kept: dict[str, Any]) -> None:
        variant = kept.get("variant")
        if not isinstance(variant, Variant):
            raise ParseError("a pickle of a position has no rules")
        variant.check_state(kept.get("state"))
        vars(self).update(kept)

    # ------------------------------------------------------------ drawing

    def content(self, names: Sequence[str] | None = None, *, places: bool = False) -> Content:
        """What there is to draw; with `places`, also where the seat to move may place a tile.

        Raises `AxioError` unless there is a name for each seat, or none at all.
        """
        if names and len(names) != self.players:
            raise AxioError(f"{len(names)} names for {self.players} seats")
        laid = self.laid()
        content = self.variant.content(self.state, laid)
        spots = (move.at for move in self.legal_moves() if move.kind == "place") if places else ()
        return replace(
            content,
            last=self.last_placed(),
            places=tuple(dict.fromkeys(spots)),
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
            place=self.standing[seat] if self.over else None,
        )

    def laid(self) -> tuple[PlacedTile, ...]:
        """The tiles that are known to have been placed, in their order (none where only the board is)."""
        return ()

    def last_placed(self) -> tuple[str, ...]:
        """The cells of the last placement, where it is known."""
        return ()

    def scene(self, names: Sequence[str] | None = None, *, places: bool = False) -> Scene:
        """The drawing of this position."""
        return self.variant.drawing.scene(self.content(names, places=places))

    def svg(self, names: Sequence[str] | None = None, *, dark: bool = False) -> str:
        """The position as an SVG picture."""
        return svg.render(self.scene(names), dark=dark)

    def _repr_svg_(self) -> str:
        return self.svg()

    def text(self, *, colour: bool = False, places: bool = False, names: Sequence[str] | None = None) -> str:
        """The position as lines for a terminal."""
        return render.render(self.scene(names, places=places), colour=colour)

    def __str__(self) -> str:
        """The board as lines of text, in colour where that will be seen: printed on a terminal."""
        return self.text(colour=sys.stdout.isatty() and "NO_COLOR" not in os.environ)
