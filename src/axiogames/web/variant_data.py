"""Everything about a variant that never changes during a game, as JSON for a page that runs the rules.

docs/reference/view_format.md describes the fields.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ..drawing.scene import Cell, Point, Scene
from ..games.boards import FixedBoard
from ..games.invariants import PHASE_NAMES
from ..games.runtime.describing import ACTION_KINDS, MAX_POINT_ROWS
from ..games.variant import TorusLayout, Variant
from ..model.view_format import LENGTHS, SPARSE, fields_of
from .board_json import FRAME_ROUNDING, UNIT, Board, board_encoder

Spot = tuple[int, int]


class Field(Struct, frozen=True):
    """A field of the record of a state: where it is, its type such as `int8`, and its shape."""

    name: str
    offset: int
    type: str
    shape: tuple[int, ...]


class StateLayout(Struct, frozen=True):
    """The record of a state, and how an encoded view maps to it.

    Attributes:
        bytes: Size of a state.
        constants: Size of the constants.
        fields: All fields of a state.
        encoded: Names of the fields of a view. `board` is the field of `contents`.
        lengths: The field with the length of each list of tiles.
        sparse: Fields of which a view has only the entries that differ.
        contents: Field with the content of each cell.
    """

    bytes: int
    constants: int
    fields: tuple[Field, ...]
    encoded: tuple[str, ...]
    lengths: dict[str, str]
    sparse: tuple[str, ...]
    contents: str


class Rows(Struct, frozen=True):
    """Sizes of the rows of numbers that describe actions and points."""

    cells: int
    cell_columns: int
    symbols: int
    action_columns: int
    point_columns: int
    max_point_rows: int


class FixedCells(Struct, frozen=True):
    """The cells and places of a board that does not grow.

    Attributes:
        names: Names of the cells, by index.
        marks: Letters of contents that are neither colours nor empty.
        places: Shape, position and name of each place for a tile.
    """

    names: tuple[str, ...]
    marks: dict[int, str]
    places: tuple[tuple[int, int, int, str], ...]


class Torus(Struct, frozen=True):
    """The squares of a board that grows, and how to draw them.

    Square `y mod side * side + x mod side` has the coordinates `x` and `y`. The display never spans a whole
    side: of all numbers, `x` is the lowest one that is at least `low[0]` - 1.

    Attributes:
        side: Number of columns and rows.
        low: Fields with the lowest coordinates of the display.
        free: Content of a square on which a tile can be placed.
        letters: Letters of a tile as it lies, by content; empty where a content is not a tile.
        origin: Centre of the square 0,0.
        right: Step to the next column.
        up: Step to the next row.
        shape: Shape of a tile on the board.
        outline: Outline of a free square, around its centre.
        column_label: From the lowest square of a column to its label.
        row_label: From the leftmost square of a row to its label.
        margin: Distance of the frame from squares and labels.
        rounding: Radius of the corners of the frame.
    """

    side: int
    low: tuple[str, str]
    free: int
    letters: tuple[str, ...]
    origin: Spot
    right: Spot
    up: Spot
    shape: int
    outline: str
    column_label: Spot
    row_label: Spot
    margin: int
    rounding: int


class Actions(Struct, frozen=True):
    """Numbers of action ids: all, those of placements, which come first, and the most that can be legal."""

    all: int
    placements: int
    legal: int


class VariantData(Struct, frozen=True):
    """A game for a number of players and a set of options.

    Attributes:
        game: Name of the game.
        players: Number of players.
        options: Options that are on.
        kinds: Letters of each kind of tile.
        counts: Number of tiles of each kind.
        colours: Letters of the colours, by index.
        tracks: Names of the tracks, by index.
        cap: Maximum number of points on a track, `None` if there is no limit.
        hand: Number of tiles in a full hand.
        exchange_is_public: Whether all seats see exchanged tiles.
        start_places: Positions of the opening display, in the order in which chance fills them.
        phases: Names of the phases, by number.
        action_kinds: Names of the kinds of actions, by number.
        actions: Numbers of action ids.
        rows: Sizes of rows of numbers.
        state: The record of a state.
        cells: Cells of a board that does not grow.
        torus: Squares of a board that grows.
        board: Drawing of the board at the start.
        setup: Reconstructed components, as records have them.
    """

    game: str
    players: int
    options: tuple[str, ...]
    kinds: tuple[str, ...]
    counts: tuple[int, ...]
    colours: str
    tracks: tuple[str, ...]
    cap: int | None
    hand: int
    exchange_is_public: bool
    start_places: tuple[str, ...]
    phases: tuple[str, ...]
    action_kinds: tuple[str, ...]
    actions: Actions
    rows: Rows
    state: StateLayout
    cells: FixedCells | None
    torus: Torus | None
    board: Board
    setup: dict[str, Any]


def variant_data(variant: Variant) -> VariantData:
    """Return everything about a variant that the page needs to run its rules, apart from texts."""
    return VariantData(
        game=variant.game.id,
        players=variant.players,
        options=variant.options,
        kinds=variant.kinds,
        counts=tuple(variant.tileset[tile] for tile in variant.kinds),
        colours=variant.colours,
        tracks=variant.tracks,
        cap=variant.cap,
        hand=variant.hand,
        exchange_is_public=variant.exchange_is_public,
        start_places=variant.start_places,
        phases=tuple(PHASE_NAMES[phase] for phase in range(len(PHASE_NAMES))),
        action_kinds=ACTION_KINDS,
        actions=Actions(variant.actions, variant.placements, variant.max_legal_actions),
        rows=Rows(
            cells=variant.tile_size,
            cell_columns=variant.cell_columns,
            symbols=len(variant.kinds[0]),
            action_columns=variant.action_columns,
            point_columns=variant.point_columns,
            max_point_rows=MAX_POINT_ROWS,
        ),
        state=_state_layout(variant),
        cells=_fixed_cells(variant) if isinstance(variant, FixedBoard) else None,
        torus=_torus(variant, variant.torus) if variant.torus else None,
        board=board_encoder(variant).board(variant.opening),
        setup=variant.setup(),
    )


def _state_layout(variant: Variant) -> StateLayout:
    record, names = variant.opening.dtype, variant.opening.dtype.names
    fields = []
    for name in names:
        kind, offset = record.fields[name]
        fields.append(Field(name, int(offset), str(kind.base), kind.shape))
    return StateLayout(
        bytes=record.itemsize,
        constants=variant.constants.dtype.itemsize,
        fields=tuple(fields),
        encoded=fields_of(variant),
        lengths={tiles: length for tiles, length in LENGTHS.items() if tiles in names},
        sparse=tuple(name for name in SPARSE if name in names),
        contents=variant.board,
    )


def _fixed_cells(variant: FixedBoard) -> FixedCells:
    encoder = board_encoder(variant)
    at = [variant.cells_of(variant.opening, place) for place in range(variant.places)]
    places = tuple((*encoder.place(cells), "-".join(cells)) for cells in at)
    return FixedCells(variant.names, dict(variant.marks), places)


def _torus(variant: Variant, layout: TorusLayout) -> Torus:
    """Return the squares of a board that grows. The drawing of an empty board has one free square, 0,0."""
    scene = variant.drawing.scene(variant.content(variant.opening, ()))
    (cell,) = scene.cells
    encoder = board_encoder(variant)
    shape, *origin = encoder.place(("0,0",))
    right, up = (_step(encoder.place((name,))[1:], origin) for name in ("1,0", "0,1"))
    column, row = (next(label.at for label in scene.labels if label.row == row) for row in (False, True))
    return Torus(
        side=layout.side,
        low=layout.low,
        free=layout.free,
        letters=layout.letters,
        origin=(origin[0], origin[1]),
        right=right,
        up=up,
        shape=shape,
        outline=encoder.outline(cell),
        column_label=_step(_units(column), _units(cell.centre)),
        row_label=_step(_units(row), _units(cell.centre)),
        margin=_margin(scene, cell, right),
        rounding=round(FRAME_ROUNDING),
    )


def _margin(scene: Scene, cell: Cell, right: Spot) -> int:
    """Return the distance between the left side of the frame and what is next to it."""
    left = min(cell.centre[0] * UNIT - right[0] / 2, *(label.at[0] * UNIT for label in scene.labels))
    return round(left - scene.corner[0] * UNIT)


def _step(to: tuple[int, ...] | list[int], start: tuple[int, ...] | list[int]) -> Spot:
    return to[0] - start[0], to[1] - start[1]


def _units(point: Point) -> Spot:
    return round(point[0] * UNIT), round(point[1] * UNIT)
