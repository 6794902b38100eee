"""Referees for axio (square board) and hex (hexagonal board): dominoes, lines of equal symbols."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import permutations
from typing import Any

from tests.games.oracle.base import Event, Move, OracleError, Referee, check, text_list

Points = dict[str, int]  # one scoring: points by colour


class Dominoes(Referee):
    """The common rules of axio and hex. Rule numbers are those of axio."""

    hand_size: int
    directions: tuple[tuple[int, int], ...]
    has_pyramids = False
    cap = 18

    def __init__(self, players: int, options: Mapping[str, bool], setup: Mapping[str, Any]) -> None:
        super().__init__(players, options, setup)
        if self.solo:
            self.hand_size = 1  # rule 16: no hand, one tile at a time
        self.cells: dict[str, tuple[int, int]] = self.play_area()
        self.names = {xy: name for name, xy in self.cells.items()}
        self.adjacent = {cell: self.find_neighbours(cell) for cell in self.cells}
        check(isinstance(setup.get("printed"), Mapping), "the setup has no printed symbols")
        self.printed: dict[str, str] = dict(setup["printed"])
        for cell, colour in self.printed.items():
            check(cell in self.cells, f"printed cell {cell!r} is outside the play area")
            check(isinstance(colour, str) and colour in tuple(self.colours), f"bad colour {colour!r}")
        self.symbols = dict(self.printed)  # cell -> colour, printed or on a tile (rule 2)
        self.pyramid_cells: list[str] = []  # rule 8: oldest first, 20 at most
        self.first_touches: list[set[str] | None] = [None] * players  # rule 5
        self.extra = 0  # rule 10: extra placements left in this turn
        self.phase = "deal"  # deal, place, offer (exchange or keep), refill, swap
        self.start_deal(0)

    @abstractmethod
    def play_area(self) -> dict[str, tuple[int, int]]:
        """Return the coordinates of the cells of the play area by name."""

    def orientations(self, tile: str) -> list[str]:
        return [tile, tile[::-1]]

    def bad_tile(self, tile: str) -> bool:
        return len(tile) != 2 or any(letter not in self.colours for letter in tile)

    # ---- the board ------------------------------------------------------------------------------

    def step(self, cell: str, direction: tuple[int, int]) -> str | None:
        """Return the next cell in a direction, None beyond the edge of the play area."""
        x, y = self.cells[cell]
        return self.names.get((x + direction[0], y + direction[1]))

    def find_neighbours(self, cell: str) -> list[str]:
        found = [self.step(cell, direction) for direction in self.directions]
        return [other for other in found if other is not None]

    def neighbours(self, cell: str) -> list[str]:
        return self.adjacent[cell]

    def is_empty(self, cell: str) -> bool:
        return cell in self.cells and cell not in self.symbols and cell not in self.pyramid_cells

    def empty_pairs(self) -> list[tuple[str, str]]:
        """Return all pairs of adjacent empty cells, in both orders."""
        empty = [cell for cell in self.cells if self.is_empty(cell)]
        known = set(empty)
        return [(a, b) for a in empty for b in self.neighbours(a) if b in known]

    def touched_printed(self, cells: tuple[str, ...]) -> set[str]:
        return {other for cell in cells for other in self.neighbours(cell) if other in self.printed}

    # ---- moves ----------------------------------------------------------------------------------

    def legal_moves(self) -> set[Move]:
        if self.turn is None:
            return set()
        if self.phase == "offer":  # rule 12
            return {("exchange", tuple(sorted(self.hands[self.seat]))), ("keep",)}
        moves: set[Move] = set()
        tiles = set(self.hands[self.seat])
        for a, b in self.empty_pairs():  # in both orders, which includes every orientation
            for tile in tiles:
                move = ("place", frozenset({(a, tile[0]), (b, tile[1])}))
                if self.why_not(move) is None:
                    moves.add(move)
        return moves

    def placement_of(self, e: Event) -> Move:
        tile = e.get("tile")
        self.canonical(tile)  # raises if it is not a tile
        assert isinstance(tile, str)
        at = text_list(e.get("at"), "at")
        check(len(at) == 2 and at[0] != at[1], "a tile covers two cells")
        # Record: the letters are in the order of `at`.
        return ("place", frozenset(zip(at, tile, strict=True)))

    def why_not(self, move: Move) -> str | None:
        if self.turn is None or self.phase != "place":
            return "no placement is due"
        if move[0] != "place" or len(move[1]) != 2:
            return "not a placement of two halves"
        (one, colour_one), (two, colour_two) = sorted(move[1])
        if self.canonical(colour_one + colour_two) not in self.hands[self.seat]:
            return "the tile is not in hand"
        if not self.is_empty(one) or not self.is_empty(two):  # rule 4
            return "a cell is not an empty cell of the play area"
        if two not in self.neighbours(one):  # rule 4
            return "the cells are not adjacent"
        if self.first_touches[self.seat] is None:  # rule 5: this is the player's first tile
            taken: set[str] = set()
            for touches in self.first_touches:
                taken |= touches or set()
            if not self.touched_printed((one, two)) - taken:
                return "a first tile must touch a printed symbol no other first tile touches"
        return None

    # ---- scoring --------------------------------------------------------------------------------

    def half_points(self, cell: str, colour: str, other_half: str) -> Points:
        """Points in all directions but that of the other half, without its own symbols (rule 6)."""
        points = 0
        for direction in self.directions:
            at = self.step(cell, direction)
            if at == other_half:
                continue
            while at is not None and self.symbols.get(at) == colour:
                points += 1
                at = self.step(at, direction)
        return {colour: points}

    def pyramids(self, move: Move) -> list[str]:
        """Return the squares that a placement isolates (rule 7).

        Only neighbours of the tile can become isolated, because before they had an empty side.
        """
        if not self.has_pyramids or move[0] != "place":
            return []
        after = set(self.symbols) | {cell for cell, _ in move[1]}
        isolated = set()
        for cell, _ in move[1]:
            for square in self.neighbours(cell):
                empty = square not in after and square not in self.pyramid_cells
                if empty and all(side in after for side in self.neighbours(square)):
                    isolated.add(square)
        return sorted(isolated, key=lambda name: (name[0], int(name[1:])))

    def scorings(self, move: Move) -> tuple[list[Points], list[Points]]:
        """Return the points of the halves and of the pyramids; each is one scoring (rule 17)."""
        (a, colour_a), (b, colour_b) = sorted(move[1])
        halves = [self.half_points(a, colour_a, b), self.half_points(b, colour_b, a)]
        after = {**self.symbols, a: colour_a, b: colour_b}
        around = [
            dict(Counter(after[side] for side in self.neighbours(square) if side in after))
            for square in self.pyramids(move)
        ]
        return halves, around  # rule 7: 1 point per adjacent symbol

    def count(self, scores: Points, scoring: Points) -> Points:
        """Return the scores after one scoring."""
        new = dict(scores)
        for colour, points in scoring.items():
            limit = self.cap  # rule 9
            if self.solo and scores[colour] >= self.cap:
                limit = 2 * self.cap  # rule 17: on the second scoreboard
            new[colour] = min(limit, scores[colour] + points)
        return new

    def gains(self, move: Move) -> list[dict[str, int]]:
        """Return the points of the best orders of the halves and then of the pyramids (rule 17).

        With several players all orders are equal. In solo games the highest sorted scores are best. Tied
        orders may differ in colours; the one with more points in earlier colours comes first.
        """
        before = self.scores[self.seat]
        halves, around = self.scorings(move)
        outcomes: list[Points] = []
        for first in permutations(halves):
            for second in permutations(around):
                scores = before
                for scoring in first + second:
                    scores = self.count(scores, scoring)
                if scores not in outcomes:
                    outcomes.append(scores)
        best = max(sorted(scores.values()) for scores in outcomes)
        tied = [scores for scores in outcomes if sorted(scores.values()) == best]
        tied.sort(key=lambda scores: [scores[colour] for colour in self.colours], reverse=True)
        return [{c: s[c] - before[c] for c in self.colours if s[c] > before[c]} for s in tied]

    # ---- the course of the game -----------------------------------------------------------------

    def handlers(self) -> dict[str, Callable[[Event], None]]:
        return {**super().handlers(), "exchange": self._exchange}

    def start_deal(self, seat: int) -> None:
        while seat < self.players:
            if self.deal(seat, self.hand_size):
                return
            seat += 1
        self.start_turn(0)

    def start_turn(self, seat: int) -> None:
        self.seat = seat
        self.extra = 0
        self.start_placement()

    def start_placement(self) -> None:
        """Start a placement, or end the game without room or without a tile in hand (rule 14)."""
        self.phase = "place"
        self.over = not self.empty_pairs() or not self.hands[self.seat]

    def do_place(self, move: Move, gain: Mapping[str, int]) -> None:
        seat = self.seat
        scores = self.scores[seat]
        (a, colour_a), (b, colour_b) = sorted(move[1])
        isolated = self.pyramids(move)
        tile = self.canonical(colour_a + colour_b)
        self.take_from_hand(seat, [tile])
        self.placed.append(tile)
        if self.first_touches[seat] is None:
            self.first_touches[seat] = self.touched_printed((a, b))
        self.symbols[a] = colour_a
        self.symbols[b] = colour_b
        # Rule 8: beyond 20 the oldest moves. Its square remains isolated.
        self.pyramid_cells = (self.pyramid_cells + isolated)[-20:]
        for colour, points in gain.items():
            scores[colour] += points
            if not self.solo and scores[colour] == self.cap:
                self.extra += 1  # rule 10: a gain that ends at 18 has just reached it
        if self.solo:
            # Rule 16: draw the next tile, if there is one and room for it.
            self.over = not self.empty_pairs() or not self.bag_size()
            if not self.over:
                self.start_refill()
        elif all(points == self.cap for points in scores.values()):
            self.over = True  # rule 11: an immediate win without a refill
        elif self.extra:
            self.extra -= 1
            self.start_placement()  # rule 10: no refill in between; rule 14 may end the game here
        elif self.may_exchange():
            self.phase = "offer"
        else:
            self.start_refill()

    def may_exchange(self) -> bool:
        """Return whether an exchange is offered after the last placement of the turn (rule 12)."""
        hand = self.hands[self.seat]
        scores = self.scores[self.seat]
        lowest = {colour for colour in self.colours if scores[colour] == min(scores.values())}
        shows_lowest = any(letter in lowest for tile in hand for letter in tile)
        return bool(hand) and not shows_lowest and self.bag_size() >= self.hand_size

    def refill_number(self) -> int:
        """Return the number of tiles of a refill, limited by the bag (rule 13)."""
        return min(self.hand_size - len(self.hands[self.seat]), self.bag_size())

    def start_refill(self) -> None:
        self.phase = "refill"
        number = self.refill_number()
        if number:
            self.due = (self.seat, number)
        else:
            self.start_turn((self.seat + 1) % self.players)

    def expected_draw(self) -> tuple[int | None, int] | None:
        if self.phase == "offer":  # drawing instead of exchanging means keeping the hand
            return (self.seat, self.refill_number())
        return self.due

    def drawing(self) -> None:
        if self.phase == "offer":
            self.phase = "refill"

    def drawn(self) -> None:
        if self.phase == "deal":
            dealt = max(seat for seat in range(self.players) if self.hands[seat])
            self.start_deal(dealt + 1)
            return
        if self.phase == "swap":  # rule 12: the old tiles return after the draw
            self.bag.update(self.aside)
            self.aside = []
        self.start_turn((self.seat + 1) % self.players)

    def _exchange(self, e: Event) -> None:
        seat = self.need_turn(e)
        shown = self.tiles_of(e, "shown")
        if self.phase != "offer":
            raise OracleError("no exchange is offered")
        check(Counter(shown) == Counter(self.hands[seat]), "an exchange must show exactly the whole hand")
        self.aside = sorted(shown)
        self.hands[seat] = []
        self.phase = "swap"
        self.due = (seat, self.hand_size)


class Axio(Dominoes):
    game = "axio"
    colours = "RGBOP"
    hand_size = 5
    directions = ((1, 0), (-1, 0), (0, 1), (0, -1))
    has_pyramids = True

    def play_area(self) -> dict[str, tuple[int, int]]:
        """Return the middle 9x9 of a1-m13 for 1 and 2 players, 11x11 for 3, all for 4 (rule 1)."""
        margin = {1: 2, 2: 2, 3: 1, 4: 0}[self.players]
        span = range(1 + margin, 14 - margin)
        return {f"{'abcdefghijklm'[x - 1]}{y}": (x, y) for x in span for y in span}


class Hex(Dominoes):
    game = "hex"
    colours = "RGBOPY"
    hand_size = 6
    directions = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1))

    def play_area(self) -> dict[str, tuple[int, int]]:
        """Return a board of side 6 (sums 7 to 17), 7 for 3 players, 8 for 4 (hex 1)."""
        side = {1: 6, 2: 6, 3: 7, 4: 8}[self.players]
        span = range(1, 2 * side)
        return {
            f"{'abcdefghijklmno'[x - 1]}{y}": (x, y)
            for x in span
            for y in span
            if side + 1 <= x + y <= 3 * side - 1
        }
