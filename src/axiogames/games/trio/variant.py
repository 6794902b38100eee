"""trio, by name: squares, tiles and moves in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib import resources
from typing import Any

import numpy as np

from ...drawing.scene import Content, PlacedTile, Scene, Tile
from ...errors import ParseError, Reason
from ...moves import Move
from ..boards import read_rows, write_rows
from ..protocol import Game, Rules
from ..runtime.kernels import Kernels
from ..runtime.loops import set_cells
from ..runtime.observation import BoardLayout
from ..variant import State, Variant, copied
from . import board, drawing, evaluation, invariants, rules
from .board import BLACK, HAND, SUBSETS
from .setup import OTHER_ACTIONS, Facts, arrangements, canonical, constants, opening, slots_of

COPIES = 2  # reconstruction, as is the map in board.txt
REMOVED = 40
RULES = Rules.of(
    "trio",
    apply=rules.apply,
    refusal=rules.refusal,
    score=rules.score,
    set_cell=board.set_cell,
    observe_board=rules.observe_board,
    legal_actions=rules.legal_actions,
    count_legal=rules.count_legal,
    nth_legal=rules.nth_legal,
    legal_mask=rules.legal_mask,
    sample_legal=rules.sample_legal,
    greedy_action=evaluation.greedy_action,
    top_placements=evaluation.top_placements,
    has_extra_turn=evaluation.has_extra_turn,
    fallback_action=evaluation.fallback_action,
    non_placements=evaluation.non_placements,
    observe_counters=rules.observe_counters,
    add_hidden=rules.add_hidden,
    track_features=evaluation.track_features,
    expected_gain=evaluation.expected_gain,
)


def make(game: Game, players: int, options: tuple[str, ...]) -> TrioVariant:
    """The game for a number of players and options."""
    rows = (resources.files(__package__) / "board.txt").read_text(encoding="utf-8").split()
    kinds = sorted({canonical(letters) for letters in arrangements(game.colours)})
    facts = Facts(
        colours=game.colours,
        tiles=dict.fromkeys(kinds, COPIES),
        board=rows,
        players=players,
        children="children" in options,
        removed=REMOVED if "short" in options else 0,
    )
    return TrioVariant(game, facts, options)


class TrioVariant(Variant):
    """The game for a number of players and options."""

    exchange_is_public = False
    tracks = ("points",)
    counters = ("dealing", "idle", "again")
    hand = HAND
    turns = 2
    other_actions = OTHER_ACTIONS

    def __init__(self, game: Game, facts: Facts, options: tuple[str, ...]) -> None:
        super().__init__(game, facts.players, options)
        self.facts = facts
        self.tiles_leave = facts.players == 1
        self.tileset = facts.tiles
        self.kinds = tuple(facts.tiles)
        self.arrangements = arrangements(facts.colours)
        side = facts.side
        self.names = tuple(f"{chr(ord('a') + x)}{y + 1}" for y in range(side) for x in range(side))
        self.number = {name: cell for cell, name in enumerate(self.names)}
        self.rows = [list(range(y * side, y * side + side)) for y in reversed(range(side))]
        self.slots = slots_of(facts)
        self.slot_of = {row: slot for slot, row in enumerate(self.slots)}
        self.places = len(self.slots)
        self.first_other_action = self.places * len(self.arrangements)
        self.constants = constants(facts)
        self._empty = opening(facts, self.constants)
        self.kernels = Kernels(game.id, RULES, self.constants, self._empty.dtype)
        self._starters = {n: facts.at(n) for n in range(side * side) if facts.at(n) in facts.colours}
        self.printed = {self.names[cell]: letter for cell, letter in self._starters.items()}

    @cached_property
    def opening(self) -> State:
        """The position before anything is dealt; printed squares are laid by the rules."""
        state = copied(self._empty)
        self._lay(state, self._starters)
        return state

    def _lay(self, state: State, squares: dict[int, str]) -> None:
        cells = np.array(list(squares), np.int64)
        colours = np.array([self.facts.colours.index(letter) for letter in squares.values()], np.int64)
        self.kernels[set_cells](self.constants, state, cells, colours, len(cells))

    # ------------------------------------------------------------ what is seen, in numbers

    @property
    def board_layout(self) -> BoardLayout:
        side = self.facts.side
        names = (*self.colours, "empty", "star")
        return BoardLayout((len(names), side, side), names, 0, np.arange(side * side, dtype=np.int16))

    @property
    def counter_names(self) -> tuple[str, ...]:
        return ("idle",)

    # ------------------------------------------------------------ moves

    def encode(self, state: State, move: Move) -> int:
        if move.kind == "pass":
            return self.first_other_action + SUBSETS
        if move.kind == "exchange":
            return self.first_other_action + self._chosen(state, move) - 1
        cells, letters = self.covered(move, self.number), move.tile
        if cells not in self.slot_of:
            cells, letters = cells[::-1], letters[::-1]
        if cells not in self.slot_of:
            for name in move.at:
                if self.facts.at(self.number[name]) not in ".*":
                    raise self.refuse(move, Reason.OCCUPIED, f"{name} is a starter or black square")
            raise self.refuse(move, Reason.WRONG_SHAPE, "a tile covers three squares in a row")
        arrangement = self.arrangements.index(letters)
        return self.slot_of[cells] * len(self.arrangements) + arrangement

    def _chosen(self, state: State, move: Move) -> int:
        """The tiles of an exchange as bits over the hand, the first ones of equal tiles."""
        if not move.tiles:
            raise self.refuse(move, Reason.NOT_IN_HAND, "say which tiles, such as 'exchange RGB BBR'")
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
        if action < self.first_other_action:
            place, way = divmod(action, len(self.arrangements))
            return Move("place", self.turned(state, way), self.cells_of(state, place))
        chosen = action - self.first_other_action + 1
        if chosen > SUBSETS:
            return Move("pass")
        hand = self.hand_of(state, int(state["seat"][0]))
        return Move("exchange", tiles=tuple(tile for i, tile in enumerate(hand) if chosen >> i & 1))

    def parts(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        place, way = np.divmod(actions, len(self.arrangements))
        return way, place, np.zeros_like(actions)

    def turned(self, state: State, way: int) -> str:
        return self.arrangements[way]

    def cells_of(self, state: State, place: int) -> tuple[str, ...]:
        return tuple(self.names[cell] for cell in self.slots[place])

    @property
    def directions(self) -> list[tuple[str, ...]]:
        steps = {row[1] - row[0]: place for place, row in enumerate(self.slots)}
        return [self.cells_of(self.opening, place) for place in steps.values()]

    def kind_of(self, letters: str) -> int | None:
        tile = canonical(letters)
        return self.kinds.index(tile) if tile in self.kinds else None

    # ------------------------------------------------------------ text and drawing

    def setup(self) -> dict[str, Any]:
        return {"tileset": dict(self.tileset), "board": list(self.facts.board)}

    def _letters(self, state: State) -> list[str]:
        return [
            self.facts.colours[value] if value >= 0 else "#" if value == BLACK else ""
            for value in state["cells"][0].tolist()
        ]

    def write_board(self, state: State) -> str:
        return write_rows(self.rows, self._letters(state))

    def read_board(self, state: State, text: str) -> None:
        laid = read_rows(text, self.rows, self.facts.colours + "#")
        for name, cell in self.number.items():
            printed = self.facts.at(cell)
            if printed not in ".*" and laid.pop(cell, None) != printed:
                raise ParseError(f"{name} should show its printed {printed}")
        if "#" in laid.values():
            raise ParseError("the board has # where its map has no black square")
        self._lay(state, laid)

    def layout_violations(self, state: State) -> Iterator[str]:
        return invariants.layout(self, state)

    def violations(self, state: State) -> Iterator[str]:
        return invariants.violations(self, state)

    def tiles_laid(self, state: State) -> int:
        return (int((state["cells"][0, :-1] >= 0).sum()) - len(self.printed)) // 3

    def content(self, state: State, laid: Sequence[PlacedTile]) -> Content:
        letters = self._letters(state)
        known = {name for tile in laid for name in tile.at} | set(self.printed)
        shown = {name: letters[cell] for name, cell in self.number.items()}
        return Content(
            cells=self.names,
            printed=self.printed,
            stars=tuple(name for name, cell in self.number.items() if self.facts.at(cell) == "*"),
            blocked=tuple(name for name, letter in shown.items() if letter == "#"),
            tiles=tuple(laid),
            loose={n: letter for n, letter in shown.items() if letter not in ("", "#") and n not in known},
        )

    def scene(self, content: Content) -> Scene:
        return drawing.scene(content)

    def drawn(self, laid: PlacedTile) -> Tile:
        return drawing.on_board(laid)

    def drawn_in_hand(self, letters: str) -> Scene:
        return drawing.tile(letters)
