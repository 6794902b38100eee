"""`Variant`: a game for a number of players and a set of options, with its names, texts and drawing.

The class first has everything that it derives, then the hooks that a game must provide, then optional hooks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from ..drawing.scene import Content, PlacedTile, Scene, Tile
from ..errors import IllegalMove, ParseError, Reason
from ..moves import Move
from . import invariants
from .protocol import Game
from .runtime.compile import INTERPRETED
from .runtime.describing import CELLS, POINT_COLUMNS
from .runtime.kernels import Kernels
from .runtime.loops import list_legal, score_all
from .runtime.observation import BoardLayout, Observation, feature_names
from .runtime.state import DRAW, HIDDEN, OVER, PLACE, REMOVE
from .runtime.view_loops import redact

State = Any  # an array of one NumPy record, whose type depends on the game


def copied(state: State) -> State:
    """Return a copy of a state; copying bytes takes a tenth of the time of NumPy's copy of each field."""
    if INTERPRETED:
        return state.copy()
    return np.frombuffer(bytearray(state.tobytes()), state.dtype)


def is_array_of(array: object, dtype: np.dtype[Any], shape: tuple[int, ...]) -> bool:
    """Return whether `array` is what compiled code expects: a contiguous array of this type and shape."""
    return (
        isinstance(array, np.ndarray) and array.dtype == dtype and array.shape == shape and array.flags.carray
    )


def _variant(name: str, players: int, options: tuple[str, ...], compact: bool) -> Variant:
    from . import find_variant

    found = find_variant(name, players, dict.fromkeys(options, True))
    return found.compact if compact else found


class TorusLayout(NamedTuple):
    """How the field `Variant.board` stores a board that grows.

    Attributes:
        side: Number of columns and rows of the torus; the square of `x`, `y` is `y % side * side + x % side`.
        low: Fields of the state with the lowest coordinates of the tiles, 0 or less.
        free: Content of a square on which a tile can be placed.
        letters: Letters of a tile as it lies, by content; empty for a content that is not a tile.
    """

    side: int
    low: tuple[str, str]
    free: int
    letters: tuple[str, ...]


class BoardDrawing(Protocol):
    """Drawing functions of a game, usually its module `drawing`."""

    def scene(self, content: Content) -> Scene:
        """Return the drawing of a board."""
        ...

    def on_board(self, placed: PlacedTile) -> Tile:
        """Return the drawing of a tile on the board."""
        ...

    def tile(self, letters: str) -> Scene:
        """Return the drawing of a tile in hand."""
        ...


class Variant(ABC):
    """A game for a number of players and a set of options.

    There is one object for each combination; copying and unpickling return the same object.

    Attributes:
        game: Facts of the game.
        players: Number of players.
        options: Options that are on, sorted.
        constants: Record array with the constants of the rules.
        opening: State before the first chance outcome.
        kernels: Compiled loops of the game.
        drawing: Drawing functions of the game.
        kinds: One way to write each kind of tile, by index.
        tileset: Number of tiles by kind.
        hand: Number of tiles in a full hand.
        orientations: Maximum number of orientations of a tile, with a named colour if the game has any.
        places: Maximum number of places for a tile.
        tile_size: Number of cells that a tile covers.
        tiles_leave: Whether tiles can leave the game without being placed.
        grows: Whether the board grows with the tiles on it.
        start_places: Positions of an opening display, in the order in which chance fills them.
        draw_sources: Names of what tiles are drawn from.
        draw_source: Field of the state with the index of the source of the next draw; empty for a single one.
        counters: Fields of the state that a position text has besides board, hands, bag and scores.
        board: Field of the state with the content of every cell.
        derived: Fields of the state that the rule `restore` recomputes from the others.
        torus: How the field `board` stores a board that grows, `None` for other boards.
    """

    tiles_leave = False
    grows = False
    start_places: tuple[str, ...] = ()
    draw_sources: tuple[str, ...] = ("bag",)
    draw_source = ""
    counters: tuple[str, ...] = ()
    board = "cells"
    derived: tuple[str, ...] = ()
    torus: TorusLayout | None = None

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
        """The same game with a smaller state, for which scoring takes longer."""
        return self

    @property
    def colours(self) -> str:
        """Letters of the colours, by index."""
        return self.game.colours

    @property
    def tracks(self) -> tuple[str, ...]:
        """Names of the tracks, in the order of `scores`: the colours, unless a game overrides this."""
        return tuple(self.game.colours)

    @property
    def cap(self) -> int | None:
        """Maximum number of points on a track, `None` if there is no limit."""
        return self.game.cap

    @cached_property
    def max_legal_actions(self) -> int:
        """An upper bound of the number of legal actions in any position."""
        return self.hand * self.orientations * self.places + self.non_placements

    @cached_property
    def actions(self) -> int:
        """Number of action ids, legal or not."""
        return int(self.constants["actions"][0])

    @cached_property
    def placements(self) -> int:
        """Number of action ids of placements; these come before all others."""
        return int(self.constants["placements"][0])

    @property
    def non_placements(self) -> int:
        """Number of action ids that are not placements, such as exchanges."""
        return self.actions - self.placements

    @property
    def cell_columns(self) -> int:
        """Number of columns of a cell in the rows of `runtime.describing`."""
        return 2 if self.grows else 1

    @property
    def action_columns(self) -> int:
        """Number of columns of an action in the rows of `runtime.describing`."""
        return CELLS + self.tile_size * self.cell_columns + len(self.kinds[0])

    @property
    def point_columns(self) -> int:
        """Number of columns of points in the rows of `runtime.describing`."""
        return 2 * self.cell_columns + POINT_COLUMNS

    @cached_property
    def exchange_is_public(self) -> bool:
        """Whether exchanged tiles are visible to all seats."""
        return not self.constants["hides_exchanges"][0]

    @cached_property
    def observation(self) -> Observation:
        """Layout and names of the observation of a seat."""
        names = feature_names(self.players, self.tracks, self.kinds, self.counter_names)
        return Observation(self.board_layout, names)

    def new_state(self) -> State:
        """Return a new opening state."""
        return copied(self.opening)

    def legal_actions(self, state: State) -> np.ndarray:
        """Return the ids of all legal actions, ascending."""
        out = np.empty(self.max_legal_actions, np.int32)
        return out[: self.kernels[list_legal](self.constants, state, out)]

    def gains(self, state: State, actions: np.ndarray) -> np.ndarray:
        """Return the points of actions, a row for each action and a column for each track."""
        out = np.zeros((len(actions), state["gain"].shape[1]), np.int16)
        if len(actions) and actions.max() >= self.placements:
            actions = actions[actions < self.placements]
        # Scoring writes to `gain`, so it works on a copy.
        self.kernels[score_all](self.constants, copied(state), actions, len(actions), out)
        return out

    def chances(self, state: State) -> list[tuple[int, int]]:
        """Return the chance outcomes of a state as (action, weight)."""
        if state["phase"][0] not in (DRAW, REMOVE):
            return []
        return [(kind, count) for kind, count in enumerate(state["bag"][0].tolist()) if count]

    def tile_name(self, kind: int) -> str:
        """Return the letters of a kind of tile, `?` for a hidden one."""
        return "?" if kind == HIDDEN else self.kinds[kind]

    def hand_of(self, state: State, seat: int) -> tuple[str, ...]:
        """Return the tiles in the hand of a seat, `?` for hidden ones."""
        held, kinds = state["held"][0, seat], self.kinds
        tiles = state["hands"][0, seat, :held].tolist()
        return tuple(["?" if kind == HIDDEN else kinds[kind] for kind in tiles])

    def redact(self, state: State, seat: int | None) -> State:
        """Return the state as a seat knows it.

        Hidden tiles are counted as unseen, so that the result has no trace of where they are.

        Args:
            state: Complete state.
            seat: Seat, `None` for a spectator.
        """
        seen = copied(state)
        self.kernels[redact](self.constants, seen, -1 if seat is None else seat)
        return seen

    def check_state(self, state: State) -> None:
        """Check an external state. Compiled rules must only get states that pass.

        Raises:
            ParseError: The array is not a record of this variant, or no game reaches the state.
        """
        if not is_array_of(state, self.opening.dtype, (1,)):
            raise ParseError(f"this is not a state of {self.game.id} for {self.players} players")
        for violation in self.layout_violations(state):
            raise ParseError(violation)
        self.check_reachable(state)

    def check_running(self, state: State) -> None:
        """Check a state of a batch or an environment, which can end a game in any state.

        Raises:
            ParseError: The state is invalid.
        """
        if is_array_of(state, self.opening.dtype, (1,)) and state["phase"][0] == OVER:
            for violation in self.layout_violations(state):
                raise ParseError(violation)
        else:
            self.check_state(state)

    def check_reachable(self, state: State) -> None:
        """Check that a game can reach a state with a valid layout. Raises `ParseError`."""
        for violation in self.violations(state):
            raise ParseError(violation)

    def extra_turns(self, state: State) -> int:
        """Return the number of extra placements or turns that the seat to move has won."""
        return int(next((state[name][0] for name in ("extra", "again") if name in state.dtype.names), 0))

    def refuse(self, move: Move, reason: Reason, detail: str = "") -> IllegalMove:
        """Return the error for a move without an action id, such as one outside the board."""
        return IllegalMove(move, reason, detail)

    def covered(self, move: Move, cells: Mapping[str, int]) -> tuple[int, ...]:
        """Return the cells that a placement covers.

        Args:
            move: The placement.
            cells: Cells by name.

        Raises:
            IllegalMove: A tile or a cell does not exist, or the move names a colour.
        """
        if move.kind != "place":
            raise self.refuse(move, Reason.NOT_IN_THIS_GAME)
        if move.named is not None:
            raise self.refuse(move, Reason.NOT_IN_THIS_GAME, "no colour is named in this game")
        if self.kind_of(move.tile) is None:
            raise self.refuse(move, Reason.NO_SUCH_TILE)
        for name in move.at:
            if name not in cells:
                raise self.refuse(move, Reason.OUTSIDE, f"{name} is outside the play area")
        return tuple(cells[name] for name in move.at)

    def shown_at(self, state: State) -> dict[str, str]:
        """Return the letters by covered cell: one letter, or all letters of a tile on a single cell."""
        content = self.content(state, ())
        return {**content.loose, **{tile.at[0]: tile.letters for tile in content.tiles}}

    @cached_property
    def _all_places(self) -> frozenset[tuple[str, ...]]:
        forward = [self.cells_of(self.opening, place) for place in range(self.places)]
        return frozenset((*forward, *(at[::-1] for at in forward)))

    def has_tile_shape(self, at: tuple[str, ...]) -> bool:
        """Return whether these cells have the shape of a tile, from either end."""
        return len(at) == 1 if self.grows else at in self._all_places

    # ------------------------------------------------------------ required hooks

    constants: Any
    opening: State
    kernels: Kernels
    drawing: BoardDrawing
    kinds: tuple[str, ...]
    tileset: Mapping[str, int]
    hand: int
    orientations: int
    places: int
    tile_size: int

    @property
    @abstractmethod
    def board_layout(self) -> BoardLayout:
        """Layout of the array that `observe_board` writes."""

    @abstractmethod
    def encode(self, state: State, move: Move) -> int:
        """Return the action id of a move.

        Raises:
            IllegalMove: The move has no id.
        """

    @abstractmethod
    def decode(self, state: State, action: int) -> Move:
        """Return the move of an action id."""

    @abstractmethod
    def parts(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Split placements into orientation, place, and named colour + 1 (0: none), an array for each."""

    @abstractmethod
    def oriented(self, state: State, orientation: int) -> str:
        """Return the letters of a tile of the seat to move in an orientation from `parts`."""

    @abstractmethod
    def cells_of(self, state: State, place: int) -> tuple[str, ...]:
        """Return the cells of a place from `parts`."""

    @property
    @abstractmethod
    def directions(self) -> Sequence[tuple[str, ...]]:
        """Cells of an example of a place for every direction of a tile."""

    @abstractmethod
    def kind_of(self, letters: str) -> int | None:
        """Return the kind of a tile written in any orientation, `None` if there is no such tile."""

    @abstractmethod
    def write_board(self, state: State) -> str:
        """Return the board as part of a position text, without spaces."""

    @abstractmethod
    def read_board(self, state: State, text: str) -> None:
        """Set up the board of an opening state from its text.

        Raises:
            ParseError: The text is malformed.
        """

    @property
    @abstractmethod
    def allowed_contents(self) -> Container[int]:
        """The values that a cell can have in `contents`."""

    @abstractmethod
    def contents(self, state: State) -> np.ndarray:
        """Return the content of each cell, without contents that follow from those of other cells."""

    @abstractmethod
    def address_of(self, state: State, cell: int) -> tuple[int, ...]:
        """Return the numbers that denote a cell outside the rules: its index, or its coordinates."""

    @abstractmethod
    def cell_at(self, address: Sequence[int]) -> int:
        """Return the cell with an address, -1 if there is none."""

    @abstractmethod
    def tiles_laid(self, state: State) -> int:
        """Return the number of tiles on the board."""

    @abstractmethod
    def content(self, state: State, placed_tiles: Sequence[PlacedTile]) -> Content:
        """Return the content of a drawing.

        Args:
            state: State of the board.
            placed_tiles: Tiles known to have been placed; other covered cells are drawn without tiles.
        """

    # ------------------------------------------------------------ optional hooks

    def setup(self) -> dict[str, Any]:
        """Return the reconstructed components of the game for records; by default the tile set."""
        return {"tileset": dict(self.tileset)}

    @property
    def counter_names(self) -> tuple[str, ...]:
        """Names of the entries that `observe_counters` writes; by default none."""
        return ()

    def layout_violations(self, state: State) -> Iterator[str]:
        """Yield errors of single fields of a state, the most severe first; by default those of all games."""
        yield from invariants.layout_violations(self, state)

    def violations(self, state: State) -> Iterator[str]:
        """Yield the reasons why no game reaches a state with a valid layout, the most severe first.

        By default these are violations of the invariants that all games share.
        """
        now = invariants.Snapshot.of(self, state)
        yield from invariants.shared_violations(self, now, (OVER, PLACE, DRAW))
        if not now.dealing:
            yield from invariants.full_hand_violations(self, now)

    def action_from_format_1(self, state: State, action: int) -> int:
        """Return the id of an action of dataset format 1; by default the same id. Raises `ParseError`."""
        return action

    def pyramids(self, state: State) -> tuple[str, ...]:
        """Return the cells of pyramids, the oldest first; by default none."""
        return ()

    def new_pyramids(self, states: State) -> dict[int, tuple[str, ...]]:
        """Return the cells on which actions set pyramids, by index of the action; by default none.

        Args:
            states: State before each action of a game, and the final one.
        """
        return {}

    def spent(self, state: State) -> tuple[str, ...]:
        """Return the cells that have lost their pyramid and stay empty; by default none."""
        return ()

    def source(self, state: State) -> str:
        """Return the name of the source of the next draw."""
        return self.sources(state)[0]

    def sources(self, states: State) -> list[str]:
        """Return the name of the source of the next draw in each state."""
        if not self.draw_source:
            return [self.draw_sources[0]] * len(states)
        return [self.draw_sources[int(index)] for index in states[self.draw_source].tolist()]

    def placement_keys(self, states: State, actions: np.ndarray, placed: np.ndarray) -> list[int] | None:
        """Return numbers that identify placements regardless of the state, by default `None`.

        Placements with equal keys decode to equal moves, so that their texts can be reused.

        Args:
            states: State before each action.
            actions: Actions of a game.
            placed: Indices of the placements among the actions.
        """
        return None

    def start_tile(self, state: State, action: int) -> PlacedTile:
        """Return the tile that a chance outcome lays in the opening display; by default there is none."""
        raise TypeError(f"{self.game.id} has no opening display")

    def start_action(self, state: State, placed: PlacedTile) -> int | None:
        """Return the chance outcome that lays a tile in the opening display next; by default `None`."""
        return None
