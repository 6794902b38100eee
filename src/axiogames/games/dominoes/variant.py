"""Variants of the domino family."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ...drawing.scene import Content, PlacedTile
from ...errors import IllegalMove, ParseError, Reason
from ...moves import Move
from ..boards import FixedBoard, read_rows
from ..protocol import Game, Rules
from ..runtime.kernels import Kernels
from ..variant import BoardDrawing, State, Variant
from . import board, evaluation, invariants, rules, scoring
from .board import COVERED, PYRAMID, SPENT
from .setup import DominoFacts, constants, opening, pairs, slots_of

RULES = Rules.of(
    "dominoes",
    apply=rules.apply,
    refusal=rules.refusal,
    score=scoring.score,
    observe_board=rules.observe_board,
    legal_actions=rules.legal_actions,
    count_legal=rules.count_legal,
    nth_legal=rules.nth_legal,
    legal_mask=rules.legal_mask,
    sample_legal=rules.sample_legal,
    greedy_action=evaluation.greedy_action,
    top_placements=evaluation.top_placements,
    best_placements=evaluation.best_placements,
    tiles_exchanged=rules.tiles_exchanged,
    progress=evaluation.progress,
    fallback_action=evaluation.fallback_action,
    restore=board.restore,
    describe=rules.describe,
    explain=scoring.explain,
    observe_counters=rules.observe_counters,
    track_features=evaluation.track_features,
    expected_gain=evaluation.expected_gain,
)
MARKS = {PYRAMID: "^", SPENT: "x"}


class DominoVariant(FixedBoard):
    """A game of the family for a number of players."""

    counters = ("extra", "dealing", "begun", "claimed")
    derived = ("n_free", "free", "sums", "open")
    marks = MARKS

    def __init__(
        self,
        game: Game,
        facts: DominoFacts,
        options: tuple[str, ...],
        drawing: BoardDrawing,
        compact: bool = False,
    ) -> None:
        super().__init__(
            game,
            facts.players,
            options,
            cells=facts.cells,
            slots=slots_of(facts),
            printed=facts.printed,
        )
        self.facts = facts
        self.drawing = drawing
        self.hand = 1 if facts.solo else facts.hand
        self.kinds = tuple(pairs(facts.colours))
        self.tileset = facts.tiles
        self.extra_planes = ("pyramid", "spent") if facts.pyramids else ()
        self.constants = constants(facts)
        self.empty = opening(facts, self.constants, compact)
        label = f"{game.id} ({len(self.names)} cells{', compact' if compact else ''})"
        self.kernels = Kernels(label, RULES, self.constants, self.empty.dtype)
        self._compact = compact

    @cached_property
    def compact(self) -> Variant:
        if self._compact:
            return self
        return type(self)(self.game, self.facts, self.options, self.drawing, compact=True)

    @property
    def cap(self) -> int:
        return self.facts.cap * (2 if self.facts.solo else 1)

    # ------------------------------------------------------------ observations

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
                raise self.refuse(move, Reason.NOT_IN_HAND, "an exchange must name exactly the tiles in hand")
            return self.placements
        if move.kind == "keep":
            return self.placements + 1
        return super().encode(state, move)

    def no_slot(self, move: Move) -> IllegalMove:
        if len(move.at) != self.tile_size:
            return self.refuse(move, Reason.WRONG_SHAPE, "a tile covers two cells")
        for name in move.at:
            if name in self.printed:
                return self.refuse(move, Reason.OCCUPIED, f"{name} is a printed symbol")
        return self.refuse(move, Reason.WRONG_SHAPE, f"{' and '.join(move.at)} are not neighbours")

    def decode(self, state: State, action: int) -> Move:
        if action >= self.placements:
            return Move("exchange" if action == self.placements else "keep")
        return super().decode(state, action)

    # ------------------------------------------------------------ text and drawing

    def setup(self) -> dict[str, Any]:
        return {"printed": dict(self.facts.printed), "tileset": dict(self.tileset)}

    def pyramids(self, state: State) -> tuple[str, ...]:
        supply = self.facts.pyramids
        count = int(state["n_pyramids"][0])
        if not count:
            return ()
        order = state["order"][0].tolist()
        return tuple(self.names[order[n % supply]] for n in range(max(count - supply, 0), count))

    def new_pyramids(self, states: State) -> dict[int, tuple[str, ...]]:
        counts, supply = states["n_pyramids"], self.facts.pyramids
        new = {}
        for n in np.flatnonzero(counts[1:] != counts[:-1]).tolist():
            order = states["order"][n + 1].tolist()
            new[n] = tuple(self.names[order[k % supply]] for k in range(counts[n], counts[n + 1]))
        return new

    def spent(self, state: State) -> tuple[str, ...]:
        if state["n_pyramids"][0] <= self.facts.pyramids:
            return ()
        return tuple(self.names[cell] for cell in np.flatnonzero(state["cells"][0, :-1] == SPENT).tolist())

    def write_board(self, state: State) -> str:
        """Return the rows from the top, then the cells of the pyramids, oldest first, separated by commas."""
        return ",".join((super().write_board(state), *self.pyramids(state)))

    def read_board(self, state: State, text: str) -> None:
        rows, *pyramids = text.split(",")
        allowed = self.colours + ("^x" if self.facts.pyramids else "")
        letters = read_rows(rows, self.rows, allowed)
        self.take_printed(letters, self.printed)
        symbols = {cell: letter for cell, letter in letters.items() if letter in self.colours}
        spent = [cell for cell, letter in letters.items() if letter == "x"]
        standing = [self.cell_index.get(name, -1) for name in pyramids]
        if sorted(standing) != sorted(cell for cell, letter in letters.items() if letter == "^"):
            raise ParseError("the pyramids after the rows must be exactly the cells marked ^")
        if len(standing) > self.facts.pyramids or (spent and len(standing) < self.facts.pyramids):
            raise ParseError(
                f"a game has {self.facts.pyramids} pyramids, and none moves before all are on the board"
            )
        for n, cell in enumerate(standing, len(spent)):
            state["order"][0, n % self.facts.pyramids] = cell
        state["cells"][0, standing] = PYRAMID
        state["cells"][0, spent] = SPENT
        state["n_pyramids"] = len(standing) + len(spent)
        self._lay(state, symbols)
        for cell in (*standing, *spent):
            if state["open"][0, cell] != COVERED:
                raise ParseError(f"{self.names[cell]} is not shut in")

    def layout_violations(self, state: State) -> Iterator[str]:
        return invariants.layout(self, state)

    def violations(self, state: State) -> Iterator[str]:
        return invariants.violations(self, state)

    def content(self, state: State, placed_tiles: Sequence[PlacedTile]) -> Content:
        letters = self._letters(state)
        return replace(
            super().content(state, placed_tiles),
            pyramids=tuple(n for n, letter in zip(self.names, letters, strict=False) if letter == "^"),
            spent=tuple(n for n, letter in zip(self.names, letters, strict=False) if letter == "x"),
        )
