"""A game for a number of players and options: what everything that is not a rule asks a game.

Below the line come the hooks that a game must provide; above it is what follows from them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np

from ..drawing.scene import Content, PlacedTile, Scene, Tile
from ..errors import IllegalMove, ParseError, Reason
from ..moves import Move
from . import invariants
from .protocol import Game
from .runtime.compile import INTERPRETED
from .runtime.kernels import Kernels
from .runtime.loops import list_legal, score_all
from .runtime.observation import BoardLayout, Observation, feature_names
from .runtime.state import DRAW, HIDDEN, OVER, PLACE, REMOVE

State = Any  # an array of one NumPy record; its layout is the game's own


def copied(state: State) -> State:
    """A copy of a state. NumPy copies records field by field; as bytes that takes a tenth of the time."""
    if INTERPRETED:
        return state.copy()
    return np.frombuffer(bytearray(state.tobytes()), state.dtype)


def is_array_of(array: object, dtype: np.dtype[Any], shape: tuple[int, ...]) -> bool:
    """Whether something is an array as compiled code expects it: of this type and shape, without gaps."""
    return (
        isinstance(array, np.ndarray) and array.dtype == dtype and array.shape == shape and array.flags.carray
    )


def _variant(name: str, players: int, options: tuple[str, ...], compact: bool) -> Variant:
    from . import find_variant

    found = find_variant(name, players, dict.fromkeys(options, True))
    return found.compact if compact else found


class BoardDrawing(Protocol):
    """How a game is drawn, such as its module `drawing`."""

    def scene(self, content: Content) -> Scene:
        """Return the drawing of a board."""
        ...

    def on_board(self, laid: PlacedTile) -> Tile:
        """Return the drawing of a tile on the board."""
        ...

    def tile(self, letters: str) -> Scene:
        """Return the drawing of a tile in hand."""
        ...


class Variant(ABC):
    """The rules in force at a table, and the names of things in them.

    There is one object for each game, number of players and set of options; copies and pickles lead back
    to it.
    """

    # Whether everybody sees the tiles that a seat exchanges.
    exchange_is_public = True
    # Whether tiles can leave the game without having been placed.
    tiles_leave = False
    # Whether the board grows with the tiles on it.
    grows = False
    # The positions of an opening display, in the order in which chance lays its tiles.
    start_places: tuple[str, ...] = ()
    # Fields of the state that a position text carries besides the board, hands, bag and scores.
    counters: tuple[str, ...] = ()

    def __init__(self, game: Game, players: int, options: tuple[str, ...]) -> None:
        self.game = game
        self.players = players
        self.options = options

    def __reduce__(self) -> tuple[Any, ...]:
        plain = _variant(self.game.id, self.players, self.options, False)
        return _variant, (self.game.id, self.players, self.options, self is not plain)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __repr__(self) -> str:
        options = ", ".join(self.options) or "no options"
        return f"<{type(self).__name__} {self.game.id}, {self.players} players, {options}>"

    @property
    def compact(self) -> Variant:
        """The same game with the smallest state there is for it, for which some things take longer."""
        return self

    @property
    def colours(self) -> str:
        """The letters of the colours, in the order of their numbers."""
        return self.game.colours

    @property
    def tracks(self) -> tuple[str, ...]:
        """What points are counted in, in the order of `scores`: the colours, unless a game says otherwise."""
        return tuple(self.game.colours)

    @property
    def cap(self) -> int | None:
        """The most points a track can show."""
        return self.game.cap

    @cached_property
    def most_actions(self) -> int:
        """An upper bound for the number of legal moves in any position."""
        return self.hand * self.turns * self.places + self.other_actions

    def new_state(self) -> State:
        """A state before anything has happened."""
        return copied(self.opening)

    def legal_actions(self, state: State) -> np.ndarray:
        """The numbers of all legal moves, ascending."""
        out = np.empty(self.most_actions, np.int32)
        return out[: self.kernels[list_legal](self.constants, state, out)]

    def gains(self, state: State, actions: np.ndarray) -> np.ndarray:
        """What each move would score on the track: a row for each, a column for each colour."""
        out = np.zeros((len(actions), state["gain"].shape[1]), np.int16)
        if len(actions) and actions.max() >= self.first_other_action:
            actions = actions[actions < self.first_other_action]
        # Rating writes into the state's scratch fields, so it works on a copy.
        self.kernels[score_all](self.constants, copied(state), actions, len(actions), out)
        return out

    def chances(self, state: State) -> list[tuple[int, int]]:
        """What chance can do now: (action, weight) for each outcome."""
        if state["phase"][0] not in (DRAW, REMOVE):
            return []
        return [(kind, count) for kind, count in enumerate(state["bag"][0].tolist()) if count]

    def tile_name(self, kind: int) -> str:
        """A kind of tile in letters, `?` for one that is not known."""
        return "?" if kind == HIDDEN else self.kinds[kind]

    def hand_of(self, state: State, seat: int) -> tuple[str, ...]:
        """The tiles a seat holds, `?` for those not known."""
        held, kinds = state["held"][0, seat], self.kinds
        tiles = state["hands"][0, seat, :held].tolist()
        return tuple(["?" if kind == HIDDEN else kinds[kind] for kind in tiles])

    def redact(self, state: State, seat: int | None) -> State:
        """The state as a seat knows it (`None`: as a spectator does).

        Hidden tiles go back among the unseen ones, so that nothing is left of where they were.
        """
        seen = copied(state)
        bag, hands = seen["bag"][0], seen["hands"][0]

        def hide(kinds: np.ndarray, count: int) -> None:
            for kind in kinds[:count].tolist():
                bag[kind] += 1
            kinds[:count] = HIDDEN
            seen["unseen"] += count

        for other in range(self.players):
            if other != seat:
                hide(hands[other], int(seen["held"][0, other]))
        fields = state.dtype.names
        if "aside" in fields and not self.exchange_is_public and seen["seat"][0] != seat:
            hide(seen["aside"][0], int(seen["n_aside"][0]))
        if "removed" in fields:
            bag += seen["removed"][0]
            seen["unseen"] += seen["removed"][0].sum()
            seen["removed"] = 0
        return seen

    def check_state(self, state: State) -> None:
        """Check a state that comes from outside. Nothing else may reach compiled rules.

        Raises `ParseError` for an array that is not one record of this game, and for a state that no game
        has.
        """
        if not is_array_of(state, self.opening.dtype, (1,)):
            raise ParseError(f"this is no state of {self.game.id} for {self.players} players")
        for violation in self.layout_violations(state):
            raise ParseError(violation)
        self.check_reachable(state)

    def check_running(self, state: State) -> None:
        """Check a state of a batch or an environment, where a game that is over may have been broken off.

        Raises `ParseError`.
        """
        if is_array_of(state, self.opening.dtype, (1,)) and state["phase"][0] == OVER:
            for violation in self.layout_violations(state):
                raise ParseError(violation)
        else:
            self.check_state(state)

    def check_reachable(self, state: State) -> None:
        """Check that a game can lead to a state whose layout is sound. Raises `ParseError`."""
        for violation in self.violations(state):
            raise ParseError(violation)

    def extra_turns(self, state: State) -> int:
        """How many more placements or turns the seat to move has won."""
        return int(next((state[name][0] for name in ("extra", "again") if name in state.dtype.names), 0))

    def refuse(self, move: Move, reason: Reason, detail: str = "") -> IllegalMove:
        """The error for a move that has no number at all, such as one outside the board."""
        return IllegalMove(move, reason, detail)

    def covered(self, move: Move, numbers: Mapping[str, int]) -> tuple[int, ...]:
        """The numbers of the cells that a placement on named cells covers.

        Raises `IllegalMove` for a tile or a cell that does not exist, and where a colour is named.
        """
        if move.kind != "place":
            raise self.refuse(move, Reason.NOT_IN_THIS_GAME)
        if move.named is not None:
            raise self.refuse(move, Reason.NOT_IN_THIS_GAME, "no colour is named in this game")
        if self.kind_of(move.tile) is None:
            raise self.refuse(move, Reason.NO_SUCH_TILE)
        for name in move.at:
            if name not in numbers:
                raise self.refuse(move, Reason.OUTSIDE, f"{name} is outside the play area")
        return tuple(numbers[name] for name in move.at)

    def shown_at(self, state: State) -> dict[str, str]:
        """What tiles have put on which cell: a letter, or all of them where a tile lies on one cell."""
        content = self.content(state, ())
        return {**content.loose, **{tile.at[0]: tile.letters for tile in content.tiles}}

    @cached_property
    def _all_places(self) -> frozenset[tuple[str, ...]]:
        ahead = [self.cells_of(self.opening, place) for place in range(self.places)]
        return frozenset((*ahead, *(at[::-1] for at in ahead)))

    def can_lie(self, at: tuple[str, ...]) -> bool:
        """Whether a tile has the shape to lie on these cells, from either end."""
        return len(at) == 1 if self.grows else at in self._all_places

    # ------------------------------------------------------------ what a game provides

    constants: Any
    opening: State
    drawing: BoardDrawing
    kernels: Kernels
    kinds: tuple[str, ...]  # one way to write each kind of tile, in the order of their numbers
    tileset: Mapping[str, int]
    hand: int  # tiles in a full hand
    turns: int  # most ways to turn (and name) one tile
    places: int  # most places for a tile
    first_other_action: int  # actions from here on are no placements
    other_actions: int  # and so many there are

    @property
    def actions(self) -> int:
        """How many numbers stand for moves, legal or not."""
        return self.first_other_action + self.other_actions

    @cached_property
    def observation(self) -> Observation:
        """What a seat is told in numbers, and what they mean."""
        names = feature_names(self.players, self.tracks, self.kinds, self.counter_names)
        return Observation(self.board_layout, names)

    @property
    @abstractmethod
    def board_layout(self) -> BoardLayout:
        """How `observe_board` writes the board."""

    @abstractmethod
    def encode(self, state: State, move: Move) -> int:
        """The number of a move. Raises `IllegalMove` if no number can stand for it."""

    @abstractmethod
    def decode(self, state: State, action: int) -> Move:
        """The move with this number."""

    @abstractmethod
    def parts(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Placements as numbers: how the tile is turned, its place, and the colour named (0: none)."""

    @abstractmethod
    def turned(self, state: State, way: int) -> str:
        """The letters of a tile of the seat to move, turned this way."""

    @abstractmethod
    def cells_of(self, state: State, place: int) -> tuple[str, ...]:
        """The cells of a place."""

    @property
    @abstractmethod
    def directions(self) -> Sequence[tuple[str, ...]]:
        """A place for every direction in which a tile can lie."""

    @abstractmethod
    def kind_of(self, letters: str) -> int | None:
        """The kind of a tile written in any of its orientations, `None` if there is no such tile."""

    @abstractmethod
    def setup(self) -> dict[str, Any]:
        """What of this game is reconstruction, as records carry it."""

    @abstractmethod
    def write_board(self, state: State) -> str:
        """What lies on the board, for a position text."""

    @abstractmethod
    def read_board(self, state: State, text: str) -> None:
        """Lay out a board from its text. Raises `ParseError`."""

    @abstractmethod
    def tiles_laid(self, state: State) -> int:
        """How many tiles lie on the board."""

    @abstractmethod
    def content(self, state: State, laid: Sequence[PlacedTile]) -> Content:
        """What there is to draw, given the tiles that are known to have been laid."""

    # ------------------------------------------------------------ what a game may provide

    @property
    def counter_names(self) -> tuple[str, ...]:
        """The names of what `observe_counters` writes."""
        return ()

    def layout_violations(self, state: State) -> Iterator[str]:
        """What is wrong with the fields of a state by themselves, in words, the gravest first."""
        yield from invariants.layout_violations(self, state)

    def violations(self, state: State) -> Iterator[str]:
        """Why no game leads to a state whose layout is sound, in words, the gravest first."""
        now = invariants.Snapshot.of(self, state)
        yield from invariants.shared_violations(self, now, (OVER, PLACE, DRAW))
        if not now.dealing:
            yield from invariants.full_hand_violations(self, now)

    def action_from_format_1(self, state: State, action: int) -> int:
        """Return the id of an action that a dataset of format 1 has. Raises `ParseError`."""
        return action

    def pyramids(self, state: State) -> tuple[str, ...]:
        """The cells that have got a pyramid so far, oldest first."""
        return ()

    def spent(self, state: State) -> tuple[str, ...]:
        """The cells that have lost their pyramid and stay empty for good."""
        return ()

    def source(self, state: State) -> str:
        """Where the tile comes from that is due to be drawn."""
        return "bag"

    def starting(self, state: State, action: int) -> PlacedTile:
        """The tile that chance lays in an opening display by this action."""
        raise TypeError(f"{self.game.id} has no opening display")

    def start_action(self, state: State, laid: PlacedTile) -> int | None:
        """The chance action that lays this tile in the opening display next, if there is one."""
        return None
