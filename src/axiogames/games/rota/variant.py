"""The variant of AXIO rota."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations

import numpy as np

from ...drawing.scene import Content, PlacedTile
from ...errors import ParseError, Reason
from ...moves import Move
from ..protocol import Game, Rules
from ..runtime.kernels import Kernels
from ..runtime.observation import BoardLayout
from ..runtime.state import START
from ..runtime.view_loops import restore_derived
from ..variant import State, TorusLayout, Variant
from . import drawing, evaluation, invariants, rules
from .rules import FEATURES, FREE, MAX_FREE, NAMES, ROTATIONS, SIDE, WAYS
from .setup import MIDDLE, RotaFacts, constants, opening, rotate

RULES = Rules.of(
    "rota",
    apply=rules.apply,
    refusal=rules.refusal,
    score=rules.score,
    observe_board=rules.observe_board,
    legal_actions=rules.legal_actions,
    count_legal=rules.count_legal,
    nth_legal=rules.nth_legal,
    legal_mask=rules.legal_mask,
    sample_legal=rules.sample_legal,
    greedy_action=evaluation.greedy_action,
    top_placements=evaluation.top_placements,
    best_placements=evaluation.best_placements,
    sample_chance=rules.sample_chance,
    chance_outcome=rules.chance_outcome,
    has_extra_turn=evaluation.has_extra_turn,
    progress=evaluation.progress,
    restore=rules.restore,
    describe=rules.describe,
    explain=rules.explain,
    observe_counters=rules.observe_counters,
    track_features=evaluation.track_features,
    expected_gain=evaluation.expected_gain,
)
STACK = 12
START_SQUARES = ((0, 0), (1, 0), (0, 1), (1, 1))
SIDES = ((1, 0), (0, 1), (-1, 0), (0, -1))
POSITION = re.compile(r"(0|-?[1-9][0-9]{0,2}),(0|-?[1-9][0-9]{0,2})")


def tile_set(colours: str) -> dict[str, int]:
    """Return the reconstructed tile set: every ring of four colours, and half the rings of three and a blank.

    Of the two cyclic orders of three colours, only the one in the order of `colours` occurs.
    """
    rings = [four[0] + "".join(rest) for four in combinations(colours, 4) for rest in permutations(four[1:])]
    with_blank = [
        ring + "_" for a, b, c in combinations(colours, 3) for ring in (a + b + c, b + c + a, c + a + b)
    ]
    return dict.fromkeys(rings + with_blank, 1)


def position_of(text: str) -> tuple[int, int] | None:
    """Return the coordinates of a position such as `2,-1`, `None` for any other text."""
    found = POSITION.fullmatch(text)
    return (int(found[1]), int(found[2])) if found else None


def make(game: Game, players: int, options: tuple[str, ...]) -> RotaVariant:
    """Return the game for a number of players."""
    return RotaVariant(
        game, RotaFacts(game.colours, tile_set(game.colours), STACK, game.cap or 0, players), options
    )


class RotaVariant(Variant):
    """The game for a number of players."""

    grows = True
    drawing = drawing
    start_places = tuple(f"{x},{y}" for x, y in START_SQUARES)
    draw_sources = ("stack", "supply")
    draw_source = "from_supply"
    counters = ("extra", "dealing", "from_supply", "supply", "stack")
    board = "grid"
    derived = ("n_edge", "low_x", "low_y", "edge")
    hand = 1
    orientations = WAYS
    places = MAX_FREE
    tile_size = 1

    def __init__(self, game: Game, facts: RotaFacts, options: tuple[str, ...]) -> None:
        super().__init__(game, facts.players, options)
        self.tileset = facts.tiles
        self.stack = facts.stack
        self.kinds = tuple(facts.tiles)
        self.ways = {
            rotate(letters, rotation): (kind, rotation)
            for kind, letters in enumerate(self.kinds)
            for rotation in range(ROTATIONS)
        }
        self.letters = {kind * ROTATIONS + rotation + 1: way for way, (kind, rotation) in self.ways.items()}
        letters = tuple(self.letters.get(content, "") for content in range(len(self.letters) + 1))
        self.torus = TorusLayout(SIDE, ("low_x", "low_y"), FREE, letters)
        self.constants = constants(facts)
        self.opening = opening(facts)
        self.supply = int(self.opening["supply"][0])  # before any extra turn
        self.kernels = Kernels(game.id, RULES, self.constants, self.opening.dtype)

    # ------------------------------------------------------------ positions on the torus

    @staticmethod
    def _square(x: int, y: int) -> int:
        return y % SIDE * SIDE + x % SIDE

    @staticmethod
    def _position(state: State, square: int) -> tuple[int, int]:
        low_x, low_y = int(state["low_x"][0]), int(state["low_y"][0])
        row, column = divmod(square, SIDE)
        return low_x - 1 + (column - low_x + 1) % SIDE, low_y - 1 + (row - low_y + 1) % SIDE

    @staticmethod
    def _edge_index(state: State, square: int) -> int:
        """Return the index of a free square in the ascending list, which actions use."""
        return int(np.searchsorted(state["edge"][0, : state["n_edge"][0]], square))

    def display(self, state: State) -> list[PlacedTile]:
        """Return the tiles of the display, row by row from the bottom."""
        grid = state["grid"][0]
        tiles = []
        for square in np.flatnonzero((grid != 0) & (grid != FREE)).tolist():
            x, y = self._position(state, square)
            tiles.append((y, x, self.letters[int(grid[square])]))
        return [PlacedTile(letters, (f"{x},{y}",)) for y, x, letters in sorted(tiles)]

    # ------------------------------------------------------------ observations

    @property
    def board_layout(self) -> BoardLayout:
        corners = ("top-left", "top-right", "bottom-right", "bottom-left")
        around = (f"{corner}.{k}" for corner in corners for k in range(3))
        return BoardLayout((MAX_FREE, FEATURES), ("x", "y", *around), 1, np.zeros(1, np.int16))

    @property
    def counter_names(self) -> tuple[str, ...]:
        return ("extra", "supply", "free", *(f"seat{seat}.stack" for seat in range(self.players)))

    # ------------------------------------------------------------ moves

    def encode(self, state: State, move: Move) -> int:
        if move.kind != "place":
            raise self.refuse(move, Reason.NOT_IN_THIS_GAME)
        way = self.ways.get(move.tile)
        if way is None:
            raise self.refuse(move, Reason.NO_SUCH_TILE)
        position = position_of(move.at[0]) if len(move.at) == 1 else None
        if position is None:
            raise self.refuse(move, Reason.WRONG_SHAPE, "a tile covers one position such as 2,-1")
        if move.named is not None and move.named not in tuple(self.colours):
            raise self.refuse(
                move, Reason.NOTHING_TO_NAME, f"{move.named} is not one of the colours {self.colours}"
            )
        kind, rotation = way
        seat = int(state["seat"][0])
        if state["held"][0, seat] == 0 or state["hands"][0, seat, 0] != kind:
            raise self.refuse(move, Reason.NOT_IN_HAND)
        square = self._square(*position)
        content = int(state["grid"][0, square])
        if self._position(state, square) != position or content == 0:
            raise self.refuse(move, Reason.NOT_BESIDE_DISPLAY)
        if content != FREE:
            raise self.refuse(move, Reason.OCCUPIED)
        name = 0 if move.named is None else self.colours.index(move.named) + 1
        return (self._edge_index(state, square) * ROTATIONS + rotation) * NAMES + name

    def decode(self, state: State, action: int) -> Move:
        rest, name = divmod(action, NAMES)
        place, rotation = divmod(rest, ROTATIONS)
        named = self.colours[name - 1] if name else None
        return Move("place", self.oriented(state, rotation), self.cells_of(state, place), named)

    def action_from_format_1(self, state: State, action: int) -> int:
        # Format 1 has the square of the torus in place of its index among the free squares.
        square, way = divmod(action, WAYS)
        k = self._edge_index(state, square)
        if k >= state["n_edge"][0] or state["edge"][0, k] != square:
            raise ParseError(f"action {action} places a tile on a square that is not free")
        return k * WAYS + way

    def parts(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rest, name = np.divmod(actions, NAMES)
        place, rotation = np.divmod(rest, ROTATIONS)
        return rotation, place, name

    def placement_keys(self, states: State, actions: np.ndarray, placed: np.ndarray) -> list[int]:
        rotation, place, name = self.parts(actions[placed].astype(np.int64))
        kinds = states["hands"][placed, states["seat"][placed], 0].astype(np.int64)
        keys = (kinds * ROTATIONS + rotation) * NAMES + name
        rows, columns = np.divmod(states["edge"][placed, place].astype(np.int64), SIDE)
        for field, at in (("low_x", columns), ("low_y", rows)):
            low = states[field][placed].astype(np.int64) - 1
            keys = keys * (2 * SIDE) + SIDE + low + (at - low) % SIDE  # coordinates are above -SIDE
        listed: list[int] = keys.tolist()
        return listed

    def oriented(self, state: State, orientation: int) -> str:
        kind = int(state["hands"][0, int(state["seat"][0]), 0])
        return rotate(self.kinds[kind], orientation)

    def cells_of(self, state: State, place: int) -> tuple[str, ...]:
        x, y = self._position(state, int(state["edge"][0, place]))
        return (f"{x},{y}",)

    @property
    def directions(self) -> list[tuple[str, ...]]:
        return [("0,0",)]

    def kind_of(self, letters: str) -> int | None:
        way = self.ways.get(letters)
        return None if way is None else way[0]

    # ------------------------------------------------------------ chance

    def chances(self, state: State) -> list[tuple[int, int]]:
        if state["phase"][0] != START:
            return super().chances(state)
        corner = MIDDLE[4 - int(state["due"][0])]
        return [
            (kind * ROTATIONS + rotation, ROTATIONS if "_" in self.kinds[kind] else 1)
            for kind in np.flatnonzero(state["bag"][0]).tolist()
            for rotation in range(ROTATIONS)
            if "_" not in self.kinds[kind] or rotate(self.kinds[kind], rotation)[corner] == "_"
        ]

    def start_tile(self, state: State, action: int) -> PlacedTile:
        x, y = START_SQUARES[4 - int(state["due"][0])]
        kind, rotation = divmod(action, ROTATIONS)
        return PlacedTile(rotate(self.kinds[kind], rotation), (f"{x},{y}",))

    def start_action(self, state: State, placed: PlacedTile) -> int | None:
        way = self.ways.get(placed.letters)
        x, y = START_SQUARES[4 - int(state["due"][0])]
        if way is None or placed.at != (f"{x},{y}",):
            return None
        action = way[0] * ROTATIONS + way[1]
        return action if action in dict(self.chances(state)) else None

    # ------------------------------------------------------------ text and drawing

    def write_board(self, state: State) -> str:
        return ";".join(f"{placed.at[0]}:{placed.letters}" for placed in self.display(state)) or "-"

    def read_board(self, state: State, text: str) -> None:
        display: dict[tuple[int, int], str] = {}
        for item in text.split(";") if text != "-" else ():
            at, _, letters = item.partition(":")
            position = position_of(at)
            if position is None:
                raise ParseError(f"{item[:40]!r} in the display must have the form 0,0:RGBO")
            if letters not in self.ways or position in display:
                raise ParseError(f"{item!r} in the display: unknown tile, or a second one on the position")
            display[position] = letters
        if len({self.ways[letters][0] for letters in display.values()}) < len(display):
            raise ParseError("a tile is in the display twice")
        order = [START_SQUARES[0]] if display else []
        for x, y in order:
            around = ((x + dx, y + dy) for dx, dy in SIDES)
            order += [square for square in around if square in display and square not in order]
        if set(order) != set(display):
            raise ParseError("the display must be connected and contain the position 0,0")
        for (x, y), letters in display.items():
            kind, rotation = self.ways[letters]
            state["grid"][0, self._square(x, y)] = kind * ROTATIONS + rotation + 1
        self.kernels[restore_derived](self.constants, state)

    def layout_violations(self, state: State) -> Iterator[str]:
        return invariants.layout(self, state)

    def violations(self, state: State) -> Iterator[str]:
        return invariants.violations(self, state)

    @property
    def allowed_contents(self) -> range:
        return range(len(self.letters) + 1)

    def contents(self, state: State) -> np.ndarray:
        grid = state["grid"][0]
        return np.where(grid == FREE, 0, grid)

    def address_of(self, state: State, cell: int) -> tuple[int, int]:
        return self._position(state, cell)

    def cell_at(self, address: Sequence[int]) -> int:
        x, y = address
        return self._square(x, y) if max(abs(x), abs(y)) < SIDE else -1

    def tiles_laid(self, state: State) -> int:
        return len(self.display(state))

    def content(self, state: State, placed_tiles: Sequence[PlacedTile]) -> Content:
        return Content(tiles=tuple(self.display(state)))
