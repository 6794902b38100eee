"""The domino family, by name: cells, tiles and moves in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import groupby
from typing import Any, Protocol

import numpy as np

from ...drawing.scene import Content, PlacedTile, Scene, Tile
from ...errors import ParseError, Reason
from ...moves import Move
from ..boards import read_rows, write_rows
from ..protocol import Game, Rules
from ..runtime.kernels import Kernels
from ..runtime.loops import set_cells
from ..runtime.observation import BoardLayout
from ..variant import State, Variant
from . import board, evaluation, invariants, rules, scoring
from .board import COVERED, PYRAMID, SPENT
from .setup import OTHER_ACTIONS, Facts, constants, opening, pairs, slots_of, state_dtype

RULES = Rules.of(
    "dominoes",
    apply=rules.apply,
    refusal=rules.refusal,
    score=scoring.score,
    set_cell=board.set_cell,
    observe_board=rules.observe_board,
    legal_actions=rules.legal_actions,
    count_legal=rules.count_legal,
    nth_legal=rules.nth_legal,
    legal_mask=rules.legal_mask,
    sample_legal=rules.sample_legal,
    greedy_action=evaluation.greedy_action,
    top_placements=evaluation.top_placements,
    progress=evaluation.progress,
    fallback_action=evaluation.fallback_action,
    observe_counters=rules.observe_counters,
    track_features=evaluation.track_features,
    expected_gain=evaluation.expected_gain,
)
MARKS = {PYRAMID: "^", SPENT: "x"}


class Drawing(Protocol):
    """A game's drawing module."""

    def scene(self, content: Content) -> Scene:
        """The board."""
        ...

    def on_board(self, laid: PlacedTile) -> Tile:
        """A tile on the board."""
        ...

    def tile(self, letters: str) -> Scene:
        """A tile in hand."""
        ...


class DominoVariant(Variant):
    """A game of the family for a number of players."""

    counters = ("extra", "dealing", "begun", "claimed")
    turns = 2
    other_actions = OTHER_ACTIONS

    def __init__(
        self, game: Game, facts: Facts, options: tuple[str, ...], drawing: Drawing, compact: bool = False
    ) -> None:
        super().__init__(game, facts.players, options)
        self.facts = facts
        self.drawing = drawing
        self.hand = 1 if facts.solo else facts.hand
        self.kinds = tuple(pairs(facts.colours))
        self.tileset = facts.tiles
        self.names = tuple(facts.cells.values())
        self.ways = tuple(a + b for a in facts.colours for b in facts.colours)
        self.number = {name: cell for cell, name in enumerate(self.names)}
        self.slots = slots_of(facts)
        self.slot_of = {pair: slot for slot, pair in enumerate(self.slots)}
        self.places = len(self.slots)
        self.first_other_action = self.places * len(facts.colours) ** 2
        self.constants = constants(facts)
        label = f"{game.id} ({len(self.names)} cells{', compact' if compact else ''})"
        self.kernels = Kernels(label, RULES, self.constants, state_dtype(facts, compact))
        self._compact = compact

    @cached_property
    def opening(self) -> State:
        """The position before anything is dealt; printed squares are laid by the rules."""
        state = opening(self.facts, self.constants, self._compact)
        printed = self.facts.printed
        self._lay(state, {self.number[cell]: colour for cell, colour in printed.items()})
        return state

    @cached_property
    def compact(self) -> Variant:
        if self._compact:
            return self
        return type(self)(self.game, self.facts, self.options, self.drawing, compact=True)

    @property
    def cap(self) -> int:
        return self.facts.cap * (2 if self.facts.solo else 1)

    @cached_property
    def rows(self) -> list[list[int]]:
        """The cells row by row from the top."""
        by_row = groupby(enumerate(self.facts.cells), key=lambda item: item[1][1])
        return [[cell for cell, _ in row] for _, row in by_row][::-1]

    def _lay(self, state: State, symbols: dict[int, str]) -> None:
        cells = np.array(list(symbols), np.int64)
        colours = np.array([self.colours.index(letter) for letter in symbols.values()], np.int64)
        self.kernels[set_cells](self.constants, state, cells, colours, len(cells))

    # ------------------------------------------------------------ what is seen, in numbers

    @property
    def board_layout(self) -> BoardLayout:
        columns, rows = (np.array(axis) for axis in zip(*self.facts.cells, strict=True))
        columns, rows = columns - columns.min(), rows - rows.min()
        height, width = int(rows.max()) + 1, int(columns.max()) + 1
        names = (*self.colours, "empty", *(("pyramid", "spent") if self.facts.pyramids else ()))
        places = (rows * width + columns).astype(np.int16)
        return BoardLayout((len(names), height, width), names, 0, places)

    @property
    def counter_names(self) -> tuple[str, ...]:
        begun = (f"seat{seat}.begun" for seat in range(self.players))
        return ("extra", "pyramids", *begun, *(f"claimed.{cell}" for cell in self.facts.printed))

    # ------------------------------------------------------------ moves

    def encode(self, state: State, move: Move) -> int:
        if move.kind == "exchange":
            if move.tiles and sorted(map(self.kind_of, move.tiles), key=str) != sorted(
                map(self.kind_of, self.hand_of(state, int(state["seat"][0]))), key=str
            ):
                raise self.refuse(move, Reason.NOT_IN_HAND, "an exchange gives up the whole hand, just that")
            return self.first_other_action
        if move.kind == "keep":
            return self.first_other_action + 1
        cells = self.covered(move, self.number)
        if len(cells) != 2:
            raise self.refuse(move, Reason.WRONG_SHAPE, "a tile covers two cells")
        a, b = cells
        ca, cb = (self.colours.index(letter) for letter in move.tile)
        if (slot := self.slot_of.get((a, b))) is None:
            a, b, ca, cb = b, a, cb, ca
            slot = self.slot_of.get((a, b))
        if slot is None:
            for name in move.at:
                if name in self.facts.printed:
                    raise self.refuse(move, Reason.OCCUPIED, f"{name} is a printed symbol")
            raise self.refuse(move, Reason.WRONG_SHAPE, f"{' and '.join(move.at)} are not neighbours")
        return (slot * len(self.colours) + ca) * len(self.colours) + cb

    def decode(self, state: State, action: int) -> Move:
        if action >= self.first_other_action:
            return Move("exchange" if action == self.first_other_action else "keep")
        place, way = divmod(action, len(self.colours) ** 2)
        return Move("place", self.turned(state, way), self.cells_of(state, place))

    def parts(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        place, way = np.divmod(actions, len(self.colours) ** 2)
        return way, place, np.zeros_like(actions)

    def turned(self, state: State, way: int) -> str:
        return self.ways[way]

    def cells_of(self, state: State, place: int) -> tuple[str, ...]:
        a, b = self.slots[place]
        return self.names[a], self.names[b]

    @property
    def directions(self) -> list[tuple[str, ...]]:
        cells = list(self.facts.cells)
        steps: dict[tuple[int, int], int] = {}
        for place, (a, b) in enumerate(self.slots):
            steps.setdefault((cells[b][0] - cells[a][0], cells[b][1] - cells[a][1]), place)
        return [self.cells_of(self.opening, place) for place in steps.values()]

    def kind_of(self, letters: str) -> int | None:
        for way in (letters, letters[::-1]):
            if way in self.kinds:
                return self.kinds.index(way)
        return None

    # ------------------------------------------------------------ text and drawing

    def setup(self) -> dict[str, Any]:
        return {"printed": dict(self.facts.printed), "tileset": dict(self.tileset)}

    def _letters(self, state: State) -> list[str]:
        return [
            self.colours[value] if value >= 0 else MARKS.get(value, "")
            for value in state["cells"][0].tolist()
        ]

    def pyramids(self, state: State) -> tuple[str, ...]:
        most = self.facts.pyramids
        count = int(state["n_pyramids"][0])
        if not count:
            return ()
        order = state["order"][0].tolist()
        return tuple(self.names[order[n % most]] for n in range(max(count - most, 0), count))

    def spent(self, state: State) -> tuple[str, ...]:
        if state["n_pyramids"][0] <= self.facts.pyramids:
            return ()
        return tuple(self.names[cell] for cell in np.flatnonzero(state["cells"][0, :-1] == SPENT).tolist())

    def write_board(self, state: State) -> str:
        """Rows from the top; after a comma the pyramids, oldest first."""
        rows = write_rows(self.rows, self._letters(state))
        return ",".join((rows, *self.pyramids(state)))

    def read_board(self, state: State, text: str) -> None:
        rows, *pyramids = text.split(",")
        allowed = self.colours + ("^x" if self.facts.pyramids else "")
        laid = read_rows(rows, self.rows, allowed)
        for name, colour in self.facts.printed.items():
            if laid.pop(self.number[name], None) != colour:
                raise ParseError(f"{name} should show its printed {colour}")
        symbols = {cell: letter for cell, letter in laid.items() if letter in self.colours}
        self._lay(state, symbols)
        spent = [cell for cell, letter in laid.items() if letter == "x"]
        standing = [self.number.get(name, -1) for name in pyramids]
        if sorted(standing) != sorted(cell for cell, letter in laid.items() if letter == "^"):
            raise ParseError("the list of pyramids does not name exactly the cells marked ^")
        if len(standing) > self.facts.pyramids or (spent and len(standing) < self.facts.pyramids):
            raise ParseError(
                f"there are {self.facts.pyramids} pyramids, and they move only when all are used"
            )
        for n, cell in enumerate(standing, len(spent)):
            state["order"][0, n % self.facts.pyramids] = cell
        for cell in (*standing, *spent):
            if state["open"][0, cell] != 0:
                raise ParseError(f"{self.names[cell]} is not shut in")
            state["open"][0, cell] = COVERED
        state["cells"][0, standing] = PYRAMID
        state["cells"][0, spent] = SPENT
        state["n_pyramids"] = len(standing) + len(spent)

    def layout_violations(self, state: State) -> Iterator[str]:
        return invariants.layout(self, state)

    def violations(self, state: State) -> Iterator[str]:
        return invariants.violations(self, state)

    def tiles_laid(self, state: State) -> int:
        symbols = int((state["cells"][0, :-1] >= 0).sum())
        return (symbols - len(self.facts.printed)) // 2

    def content(self, state: State, laid: Sequence[PlacedTile]) -> Content:
        letters = self._letters(state)
        known = {name for tile in laid for name in tile.at}
        return Content(
            cells=self.names,
            printed=self.facts.printed,
            tiles=tuple(laid),
            loose={
                name: letter
                for name, letter in zip(self.names, letters, strict=False)
                if letter in self.colours and letter and name not in known and name not in self.facts.printed
            },
            pyramids=tuple(n for n, letter in zip(self.names, letters, strict=False) if letter == "^"),
            spent=tuple(n for n, letter in zip(self.names, letters, strict=False) if letter == "x"),
        )

    def scene(self, content: Content) -> Scene:
        return self.drawing.scene(content)

    def drawn(self, laid: PlacedTile) -> Tile:
        return self.drawing.on_board(laid)

    def drawn_in_hand(self, letters: str) -> Scene:
        return self.drawing.tile(letters)
