"""Referee for trio: tiles of three squares in a row, matching edges."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any

from tests.games.oracle.base import Event, Move, Referee, check, text_list

LETTERS = "abcdefghijklmnop"
SIZE = 16


class Trio(Referee):
    game = "trio"
    colours = "RGBY"
    option_names = frozenset({"children", "short"})
    hand_size = 3
    removed_tiles = 40

    def __init__(self, players: int, options: Mapping[str, bool], setup: Mapping[str, Any]) -> None:
        super().__init__(players, options, setup)
        self.children = bool(options.get("children", False))
        self.short = bool(options.get("short", False))
        self.squares: dict[str, str] = {}  # character on the map by square
        rows = text_list(setup.get("board"), "board")
        check(len(rows) == SIZE and all(len(row) == SIZE for row in rows), "the board has 16 rows of 16")
        for number, row in zip(range(SIZE, 0, -1), rows, strict=True):  # record: row 16 is the first
            for letter, sign in zip(LETTERS, row, strict=True):
                check(sign in ".*#" + self.colours, f"bad sign {sign!r} on the board")
                self.squares[f"{letter}{number}"] = sign
        # Coloured squares: starters, and squares covered by tiles.
        self.symbols = {cell: sign for cell, sign in self.squares.items() if sign in self.colours}
        self.rows_of_three = dict.fromkeys(self.find_rows_of_three())  # as an ordered set
        self.neighbours = {cell: self.find_neighbours(cell) for cell in self.squares}
        self.exchanges = 0  # rule 8: consecutive exchanges
        self.extra = False  # rule 6: whether the seat has an extra turn next
        self.phase = "removed" if self.short else "deal"  # removed, deal, play, refill, swap
        if self.short:
            check(self.bag_size() >= self.removed_tiles, "too few tiles for a short game")
            self.due = (None, self.removed_tiles)  # rule 10
        else:
            self.start_deal(0)

    def zero_scores(self) -> dict[str, int]:
        return {"points": 0}

    def orientations(self, tile: str) -> list[str]:
        return [tile, tile[::-1]]

    def bad_tile(self, tile: str) -> bool:
        return len(tile) != 3 or any(letter not in self.colours for letter in tile)

    # ---- the board ------------------------------------------------------------------------------

    def find_neighbours(self, cell: str) -> list[str]:
        x, y = LETTERS.index(cell[0]), int(cell[1:])
        around = [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]
        return [f"{LETTERS[i]}{j}" for i, j in around if 0 <= i < SIZE and 1 <= j <= SIZE]

    def find_rows_of_three(self) -> list[tuple[str, str, str]]:
        """Return all rows of three squares, horizontal and vertical."""
        found = []
        for x in range(SIZE):
            for y in range(1, SIZE + 1):
                if x + 2 < SIZE:
                    found.append((f"{LETTERS[x]}{y}", f"{LETTERS[x + 1]}{y}", f"{LETTERS[x + 2]}{y}"))
                if y + 2 <= SIZE:
                    found.append((f"{LETTERS[x]}{y}", f"{LETTERS[x]}{y + 1}", f"{LETTERS[x]}{y + 2}"))
        return found

    def is_empty(self, cell: str) -> bool:
        """Return whether a square has no tile and is neither a starter nor black (rule 4)."""
        return self.squares.get(cell) in (".", "*") and cell not in self.symbols

    def coloured_around(self, cell: str) -> list[str]:
        """Return the colours next to an empty square, before the tile is placed."""
        return [self.symbols[other] for other in self.neighbours[cell] if other in self.symbols]

    def open_rows(self) -> list[tuple[tuple[str, str, str], list[list[str]]]]:
        """Return rows of three empty squares with a coloured neighbour, and the colours next to each."""
        found = []
        for row in self.rows_of_three:
            if all(self.is_empty(cell) for cell in row):
                around = [self.coloured_around(cell) for cell in row]
                if any(around):
                    found.append((row, around))
        return found

    def matches(self, letters: str, around: list[list[str]]) -> int:
        """Return the number of matching outer edges (rule 6)."""
        return sum(colours.count(letter) for letter, colours in zip(letters, around, strict=True))

    def fits(self, letters: str, around: list[list[str]]) -> bool:
        """Return whether the letters suit three empty squares with these neighbouring colours (rule 5)."""
        if self.matches(letters, around) == 0:
            return False
        if self.children:  # rule 10: one matching edge anywhere is enough
            return True
        return all(not colours or letter in colours for letter, colours in zip(letters, around, strict=True))

    # ---- moves ----------------------------------------------------------------------------------

    def placements(self, tiles: set[str]) -> set[Move]:
        found: set[Move] = set()
        for row, around in self.open_rows():
            for tile in tiles:
                for letters in self.orientations(tile):
                    if self.fits(letters, around):
                        found.add(("place", frozenset(zip(row, letters, strict=True))))
        return found

    def anything_left(self) -> bool:
        """Return whether any tile of the hands or the bag can be placed (rule 8)."""
        tiles = set(self.bag)
        for hand in self.hands:
            tiles |= set(hand)
        return any(
            self.fits(letters, around)
            for _, around in self.open_rows()
            for tile in tiles
            for letters in self.orientations(tile)
        )

    def legal_moves(self) -> set[Move]:
        if self.turn is None:
            return set()
        hand = self.hands[self.seat]
        moves = self.placements(set(hand))
        if not moves and self.bag_size() == 0:
            return {("pass",)}  # rule 7: only with an empty bag and nothing to place
        for number in range(1, min(len(hand), self.bag_size()) + 1):  # rules 3 and 7
            for tiles in combinations(sorted(hand), number):
                moves.add(("exchange", tiles))
        return moves

    def placement_of(self, e: Event) -> Move:
        tile = e.get("tile")
        self.canonical(tile)  # raises if it is not a tile
        assert isinstance(tile, str)
        at = text_list(e.get("at"), "at")
        check(
            tuple(at) in self.rows_of_three or tuple(at[::-1]) in self.rows_of_three,
            f"{at} is not a row of three",
        )
        # Record: the letters are in the order of `at`.
        return ("place", frozenset(zip(at, tile, strict=True)))

    def row_of(self, move: Move) -> tuple[tuple[str, str, str], str] | None:
        """Return the row that a placement covers and its letters in that order, None if it is not a row."""
        colours = dict(move[1])
        if len(colours) != 3 or len(move[1]) != 3:
            return None
        row = tuple(sorted(colours, key=lambda cell: (cell[0], int(cell[1:]))))
        if len(row) != 3 or row not in self.rows_of_three:
            return None
        return row, "".join(colours[cell] for cell in row)

    def why_not(self, move: Move) -> str | None:
        if self.turn is None:
            return "no placement is due"
        covered = self.row_of(move) if move[0] == "place" else None
        if covered is None:
            return "not a placement on three squares in a row"
        row, letters = covered
        if self.canonical(letters) not in self.hands[self.seat]:
            return "the tile is not in hand"
        if not all(self.is_empty(cell) for cell in row):
            return "a square is not empty"
        if not self.fits(letters, [self.coloured_around(cell) for cell in row]):
            return "the edges do not match"
        return None

    def matching_edges(self, move: Move) -> int:
        return sum(self.coloured_around(cell).count(colour) for cell, colour in move[1])

    def gains(self, move: Move) -> list[dict[str, int]]:
        edges = self.matching_edges(move)
        points = edges
        if any(self.squares[cell] == "*" for cell, _ in move[1]):
            points *= 2  # rule 6
        if self.solo and edges >= 3:
            points += 3  # rule 11: not doubled
        return [{"points": points}]

    # ---- the course of the game -----------------------------------------------------------------

    def handlers(self) -> dict[str, Callable[[Event], None]]:
        own = {"removed": self._removed, "exchange": self._exchange, "pass": self._pass}
        return {**super().handlers(), **own}

    def _removed(self, e: Event) -> None:
        tiles = self.tiles_of(e, "tiles")
        check(self.phase == "removed", "no tiles are due to be removed")
        check(len(tiles) == self.removed_tiles, f"{len(tiles)} tiles removed instead of {self.removed_tiles}")
        self.need_in_bag(tiles)
        self.take_from_bag(tiles)
        self.gone.extend(tiles)
        self.phase = "deal"
        self.due = None
        self.start_deal(0)

    def start_deal(self, seat: int) -> None:
        while seat < self.players:
            if self.deal(seat, self.hand_size):
                return
            seat += 1
        self.start_turn(0)

    def start_turn(self, seat: int) -> None:
        self.seat = seat
        self.extra = False
        self.phase = "play"
        self.over = not self.anything_left()  # rule 8

    def do_place(self, move: Move, gain: Mapping[str, int]) -> None:
        covered = self.row_of(move)
        assert covered is not None
        row, letters = covered
        self.extra = not self.solo and self.matching_edges(move) >= 3  # rules 6 and 11
        tile = self.canonical(letters)
        self.take_from_hand(self.seat, [tile])
        self.placed.append(tile)
        self.symbols.update(zip(row, letters, strict=True))
        self.scores[self.seat]["points"] += gain["points"]
        self.exchanges = 0
        self.phase = "refill"
        if self.bag_size():
            self.due = (self.seat, 1)  # rules 3 and 8: drawn before the end is checked
        else:
            self.drawn()

    def drawn(self) -> None:
        if self.phase == "deal":
            dealt = max(seat for seat in range(self.players) if self.hands[seat])
            self.start_deal(dealt + 1)
            return
        if self.phase == "swap":
            if self.solo:
                self.gone.extend(self.aside)  # rule 11
            else:
                self.bag.update(self.aside)  # rule 7: returned after the draw
            self.aside = []
            self.exchanges += 1
        stays = self.phase == "refill" and self.extra
        self.start_turn(self.seat if stays else (self.seat + 1) % self.players)
        if not self.solo and self.exchanges >= 3 * self.players:
            self.over = True  # rule 8

    def _exchange(self, e: Event) -> None:
        seat = self.need_turn(e)
        tiles = self.tiles_of(e, "shown")
        self.need_in_hand(seat, tiles)
        check(len(tiles) >= 1, "an exchange needs at least one tile")  # rule 3
        check(len(tiles) <= self.bag_size(), "the bag has fewer tiles than are exchanged")  # rule 7
        self.take_from_hand(seat, tiles)
        self.aside = sorted(tiles)
        self.phase = "swap"
        self.due = (seat, len(tiles))

    def _pass(self, e: Event) -> None:
        self.need_turn(e)
        check(("pass",) in self.legal_moves(), "a pass needs an empty bag and no legal placement")
        self.start_turn((self.seat + 1) % self.players)
