"""The variant of trio."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import resources
from typing import Any

from ...drawing.scene import Content, PlacedTile
from ...errors import IllegalMove, ParseError, Reason
from ...moves import Move
from ..boards import FixedBoard, read_rows
from ..protocol import Game, Rules
from ..runtime.kernels import Kernels
from ..variant import State
from . import board, drawing, evaluation, invariants, rules
from .board import BLACK, HAND, SUBSETS
from .setup import TrioFacts, arrangements, canonical, constants, opening, slots_of

COPIES = 2  # reconstruction, like the map in board.txt
REMOVED = 40
RULES = Rules.of(
    "trio",
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
    tiles_exchanged=rules.tiles_exchanged,
    has_extra_turn=evaluation.has_extra_turn,
    fallback_action=evaluation.fallback_action,
    non_placements=evaluation.non_placements,
    restore=board.restore,
    describe=rules.describe,
    explain=rules.explain,
    observe_counters=rules.observe_counters,
    add_hidden=rules.add_hidden,
    track_features=evaluation.track_features,
    expected_gain=evaluation.expected_gain,
)


def make(game: Game, players: int, options: tuple[str, ...]) -> TrioVariant:
    """Return the game for a number of players and options."""
    rows = (resources.files(__package__) / "board.txt").read_text(encoding="utf-8").split()
    kinds = sorted({canonical(letters) for letters in arrangements(game.colours)})
    facts = TrioFacts(
        colours=game.colours,
        tiles=dict.fromkeys(kinds, COPIES),
        board=rows,
        players=players,
        children="children" in options,
        removed=REMOVED if "short" in options else 0,
    )
    return TrioVariant(game, facts, options)


class TrioVariant(FixedBoard):
    """The game for a number of players and options."""

    tracks = ("points",)
    counters = ("dealing", "idle", "again")
    derived = ("slot", "match", "wants")
    hand = HAND
    drawing = drawing
    marks = {BLACK: "#"}
    extra_planes = ("star",)

    def __init__(self, game: Game, facts: TrioFacts, options: tuple[str, ...]) -> None:
        side = facts.side
        cells = {(x, y): f"{chr(ord('a') + x)}{y + 1}" for y in range(side) for x in range(side)}
        self.map = {name: facts.at(cell) for cell, name in enumerate(cells.values())}
        super().__init__(
            game,
            facts.players,
            options,
            cells=cells,
            slots=slots_of(facts),
            printed={name: letter for name, letter in self.map.items() if letter in facts.colours},
        )
        self.facts = facts
        self.tiles_leave = facts.players == 1
        self.tileset = facts.tiles
        self.kinds = tuple(facts.tiles)
        self.constants = constants(facts)
        self.empty = opening(facts, self.constants)
        self.kernels = Kernels(game.id, RULES, self.constants, self.empty.dtype)

    @property
    def counter_names(self) -> tuple[str, ...]:
        return ("idle",)

    # ------------------------------------------------------------ moves

    def encode(self, state: State, move: Move) -> int:
        if move.kind == "pass":
            return self.placements + SUBSETS
        if move.kind == "exchange":
            return self.placements + self._chosen(state, move) - 1
        return super().encode(state, move)

    def no_slot(self, move: Move) -> IllegalMove:
        for name in move.at:
            if self.map[name] not in ".*":
                return self.refuse(move, Reason.OCCUPIED, f"{name} is a starter or black square")
        return self.refuse(move, Reason.WRONG_SHAPE, "a tile covers three squares in a row")

    def _chosen(self, state: State, move: Move) -> int:
        """Return the tiles of an exchange as bits over the hand, the first ones of equal tiles."""
        if not move.tiles:
            raise self.refuse(move, Reason.NOT_IN_HAND, "name the tiles, such as 'exchange RGB BBR'")
        hand: list[int | None] = [self.kind_of(tile) for tile in self.hand_of(state, int(state["seat"][0]))]
        chosen = 0
        for tile in move.tiles:
            kind = self.kind_of(tile)
            if kind is None:
                raise self.refuse(move, Reason.NO_SUCH_TILE, f"there is no tile {tile}")
            if kind not in hand:
                raise self.refuse(move, Reason.NOT_IN_HAND, f"{tile} is not in this seat's hand")
            chosen |= 1 << hand.index(kind)
            hand[hand.index(kind)] = -1
        return chosen

    def decode(self, state: State, action: int) -> Move:
        if action < self.placements:
            return super().decode(state, action)
        chosen = action - self.placements + 1
        if chosen > SUBSETS:
            return Move("pass")
        hand = self.hand_of(state, int(state["seat"][0]))
        return Move("exchange", tiles=tuple(tile for i, tile in enumerate(hand) if chosen >> i & 1))

    # ------------------------------------------------------------ text and drawing

    def setup(self) -> dict[str, Any]:
        return {"tileset": dict(self.tileset), "board": list(self.facts.board)}

    def read_board(self, state: State, text: str) -> None:
        letters = read_rows(text, self.rows, self.facts.colours + "#")
        self.take_printed(letters, {name: letter for name, letter in self.map.items() if letter not in ".*"})
        if "#" in letters.values():
            raise ParseError("the board has # on a square that is not black")
        self._lay(state, letters)

    def layout_violations(self, state: State) -> Iterator[str]:
        return invariants.layout(self, state)

    def violations(self, state: State) -> Iterator[str]:
        return invariants.violations(self, state)

    def content(self, state: State, placed_tiles: Sequence[PlacedTile]) -> Content:
        return replace(
            super().content(state, placed_tiles),
            stars=tuple(name for name, letter in self.map.items() if letter == "*"),
            blocked=tuple(
                n for n, letter in zip(self.names, self._letters(state), strict=False) if letter == "#"
            ),
        )
