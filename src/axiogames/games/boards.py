"""Base class of games on a fixed board of named cells, and the text format of such boards."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby, product

import numpy as np

from ..drawing.scene import Content, PlacedTile
from ..errors import IllegalMove, ParseError, Reason
from ..moves import Move
from . import invariants
from .protocol import Game
from .runtime.observation import BoardLayout
from .runtime.view_loops import restore_derived
from .variant import State, Variant, copied

Coordinates = tuple[int, int]


class FixedBoard(Variant):
    """A game with straight tiles that each cover a slot: a row of neighbouring cells of a fixed board.

    The id of a placement is `slot * len(ways) + way`; a way is a sequence of colours on the cells of the
    slot. The state has a field `cells` with the colour of each cell, and one more entry for everything beyond
    the edge. Negative values are cells without a colour.

    A subclass provides `constants`, `kernels`, `drawing`, `kinds`, `tileset`, `hand` and `empty`.

    Attributes:
        empty: State before the first chance outcome, without printed symbols and derived fields.
        marks: Letters of negative cell values in a board text; a value without one is an empty cell.
        extra_planes: Names of the planes of an observed board that follow the colours and `empty`.
    """

    marks: Mapping[int, str] = {}
    extra_planes: tuple[str, ...] = ()
    empty: State

    def __init__(
        self,
        game: Game,
        players: int,
        options: tuple[str, ...],
        *,
        cells: Mapping[Coordinates, str],
        slots: Sequence[tuple[int, ...]],
        printed: Mapping[str, str],
    ) -> None:
        """Set up the board.

        Args:
            game: Facts of the game.
            players: Number of players.
            options: Options that are on.
            cells: Names of the cells by column and row, in the order of the indices.
            slots: Cells of each slot.
            printed: Colours of printed cells by name.
        """
        super().__init__(game, players, options)
        self.cells = cells
        self.slots = slots
        self.printed = printed
        self.names = tuple(cells.values())
        self.cell_index = {name: cell for cell, name in enumerate(self.names)}
        self.slot_of = {slot: n for n, slot in enumerate(slots)}
        self.tile_size = len(slots[0])
        self.ways = tuple(map("".join, product(self.colours, repeat=self.tile_size)))
        self.orientations = 2  # from either end
        self.places = len(slots)

    @cached_property
    def opening(self) -> State:
        """State before the first chance outcome, with the printed symbols."""
        state = copied(self.empty)
        self._lay(state, {self.cell_index[name]: letter for name, letter in self.printed.items()})
        return state

    @cached_property
    def rows(self) -> list[list[int]]:
        """Cells row by row from the top."""
        by_row = groupby(enumerate(self.cells), key=lambda item: item[1][1])
        return [[cell for cell, _ in row] for _, row in by_row][::-1]

    def _lay(self, state: State, colours: Mapping[int, str]) -> None:
        """Put colours on cells and update the derived fields."""
        for cell, letter in colours.items():
            state["cells"][0, cell] = self.colours.index(letter)
        self.kernels[restore_derived](self.constants, state)

    @property
    def board_layout(self) -> BoardLayout:
        columns, rows = (np.array(axis) for axis in zip(*self.cells, strict=True))
        columns, rows = columns - columns.min(), rows - rows.min()
        height, width = int(rows.max()) + 1, int(columns.max()) + 1
        names = (*self.colours, "empty", *self.extra_planes)
        return BoardLayout((len(names), height, width), names, 0, (rows * width + columns).astype(np.int16))

    # ------------------------------------------------------------ moves

    def encode(self, state: State, move: Move) -> int:
        cells, letters = self.covered(move, self.cell_index), move.tile
        if cells not in self.slot_of:
            cells, letters = cells[::-1], letters[::-1]
        if cells not in self.slot_of:
            raise self.no_slot(move)
        return self.slot_of[cells] * len(self.ways) + self.ways.index(letters)

    def no_slot(self, move: Move) -> IllegalMove:
        """Return the error for a placement on cells that are not a slot."""
        return self.refuse(move, Reason.WRONG_SHAPE, f"a tile covers {self.tile_size} neighbouring cells")

    def decode(self, state: State, action: int) -> Move:
        place, way = divmod(action, len(self.ways))
        return Move("place", self.oriented(state, way), self.cells_of(state, place))

    def placement_keys(self, states: State, actions: np.ndarray, placed: np.ndarray) -> list[int]:
        keys: list[int] = actions[placed].tolist()
        return keys

    def parts(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        place, way = np.divmod(actions, len(self.ways))
        return way, place, np.zeros_like(actions)

    def oriented(self, state: State, orientation: int) -> str:
        return self.ways[orientation]

    def cells_of(self, state: State, place: int) -> tuple[str, ...]:
        return tuple([self.names[cell] for cell in self.slots[place]])

    @property
    def directions(self) -> list[tuple[str, ...]]:
        cells = list(self.cells)
        steps: dict[tuple[int, int], int] = {}
        for place, (a, b, *_) in enumerate(self.slots):
            steps.setdefault((cells[b][0] - cells[a][0], cells[b][1] - cells[a][1]), place)
        return [self.cells_of(self.opening, place) for place in steps.values()]

    def kind_of(self, letters: str) -> int | None:
        for way in (letters, letters[::-1]):
            if way in self.kinds:
                return self.kinds.index(way)
        return None

    # ------------------------------------------------------------ text and drawing

    def _letters(self, state: State) -> list[str]:
        return [
            self.colours[value] if value >= 0 else self.marks.get(value, "")
            for value in state["cells"][0].tolist()
        ]

    def write_board(self, state: State) -> str:
        return write_rows(self.rows, self._letters(state))

    def read_board(self, state: State, text: str) -> None:
        letters = read_rows(text, self.rows, self.colours)
        self.take_printed(letters, self.printed)
        self._lay(state, letters)

    def take_printed(self, letters: dict[int, str], printed: Mapping[str, str]) -> None:
        """Remove printed cells from the cells of a text. Raises `ParseError` if one does not match."""
        for name, letter in printed.items():
            if letters.pop(self.cell_index[name], None) != letter:
                raise ParseError(f"{name} must show its printed {letter}")

    @cached_property
    def allowed_contents(self) -> frozenset[int]:
        return frozenset((*self.empty["cells"][0, :-1].tolist(), *self.marks, *range(len(self.colours))))

    def contents(self, state: State) -> np.ndarray:
        cells: np.ndarray = state["cells"][0, :-1]
        return cells

    def address_of(self, state: State, cell: int) -> tuple[int, ...]:
        return (cell,)

    def cell_at(self, address: Sequence[int]) -> int:
        (cell,) = address
        return cell if 0 <= cell < len(self.names) else -1

    def tiles_laid(self, state: State) -> int:
        return (int((state["cells"][0, :-1] >= 0).sum()) - len(self.printed)) // self.tile_size

    def content(self, state: State, placed_tiles: Sequence[PlacedTile]) -> Content:
        covered = {name for tile in placed_tiles for name in tile.at} | set(self.printed)
        shown = zip(self.names, self._letters(state), strict=False)
        return Content(
            cells=self.names,
            printed=self.printed,
            tiles=tuple(placed_tiles),
            loose={
                name: letter
                for name, letter in shown
                if letter and letter in self.colours and name not in covered
            },
        )

    # ------------------------------------------------------------ invariants

    def layout_violations(self, state: State) -> Iterator[str]:
        yield from invariants.layout_violations(self, state)
        cells = state["cells"][0]
        if cells[-1] != self.empty["cells"][0, -1] or (cells[:-1] >= len(self.colours)).any():
            yield "a cell has an invalid value"
        yield from invariants.rebuilt_violations(self, state, ("cells",))

    def violations(self, state: State) -> Iterator[str]:
        yield from super().violations(state)
        cells = state["cells"][0, :-1]
        printed = [self.cell_index[name] for name in self.printed]
        if not invariants.Tiling(len(self.names), self.slots, printed).can_cover(cells >= 0):
            yield "the colours on the board do not form whole tiles"


def write_rows(rows: Iterable[Sequence[int]], letters: Sequence[str]) -> str:
    """Return a board as text. `letters` has the letter of each cell, an empty string for an empty cell."""
    return "/".join(_write_row([letters[cell] for cell in row]) for row in rows)


def _write_row(row: Sequence[str]) -> str:
    text, empty = "", 0
    for letter in row:
        if letter:
            text += (str(empty) if empty else "") + letter
            empty = 0
        else:
            empty += 1
    return text + (str(empty) if empty else "")


def read_rows(text: str, rows: Sequence[Sequence[int]], allowed: str) -> dict[int, str]:
    """Return the letters of a board text by cell.

    Args:
        text: Rows from the top, separated by `/`; a number stands for empty cells.
        rows: Cells of each row.
        allowed: Valid letters.

    Raises:
        ParseError: The text does not match the board.
    """
    lines = text.split("/")
    if len(lines) != len(rows):
        raise ParseError(f"the board has {len(lines)} rows, not {len(rows)}")
    letters: dict[int, str] = {}
    for number, (line, row) in enumerate(zip(lines, rows, strict=True), 1):
        at = 0
        for token in re.findall("[0-9]{1,3}|[^0-9]", line):
            if token.isascii() and token.isdigit():
                at += int(token)
                continue
            if token not in allowed:
                raise ParseError(f"row {number} of the board has {token!r}; letters are {' '.join(allowed)}")
            if at < len(row):
                letters[row[at]] = token
            at += 1
        if at != len(row):
            raise ParseError(f"row {number} of the board has {at} cells, not {len(row)}")
    return letters
