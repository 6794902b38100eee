"""Referee for rota: square tiles with four corners in a growing display."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.games.oracle.base import Event, Move, Referee, check, text_list

Position = tuple[int, int]

# Corners clockwise from the top left, as lattice points relative to the tile: x to the right, y upwards. The
# tile at (x, y) extends from the point (x, y) to the point (x + 1, y + 1).
CORNERS: tuple[Position, ...] = ((0, 1), (1, 1), (1, 0), (0, 0))
START: tuple[Position, ...] = ((0, 0), (1, 0), (0, 1), (1, 1))
MIDDLE: Position = (1, 1)  # the point where the four start tiles meet


def position_of(text: Any) -> Position:
    check(isinstance(text, str) and text.count(",") == 1, f"bad position {text!r}")
    try:
        x, y = (int(part) for part in text.split(","))
    except ValueError:
        x, y = 0, 0
    check(f"{x},{y}" == text, f"bad position {text!r}")
    return x, y


class Rota(Referee):
    game = "rota"
    colours = "RGBOP"
    cap = 12
    stack_size = 12

    def __init__(self, players: int, options: Mapping[str, bool], setup: Mapping[str, Any]) -> None:
        super().__init__(players, options, setup)
        self.display: dict[Position, str] = {}
        self.stacks = [self.stack_size] * players
        self.supply = self.bag_size() - 4 - self.stack_size * players  # rule 2
        check(self.supply >= 0, "too few tiles for the stacks")
        self.extra = 0  # rule 6: extra turns left
        self.phase = "start"  # start, deal, play, supply (draw for an extra turn), stack (end of the turn)
        self.due = (None, 4)

    def orientations(self, tile: str) -> list[str]:
        return [tile[n:] + tile[:n] for n in range(4)]  # rule 1: rotated, never mirrored

    def bad_tile(self, tile: str) -> bool:
        """Return whether the letters repeat a colour or have two empty corners `_` (rule 1)."""
        known = all(letter in self.colours + "_" for letter in tile)
        return len(tile) != 4 or not known or len(set(tile)) != 4

    # ---- moves ----------------------------------------------------------------------------------

    def beside(self, position: Position) -> list[Position]:
        x, y = position
        return [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]

    def legal_moves(self) -> set[Move]:
        if self.turn is None:
            return set()
        moves: set[Move] = set()
        free = {spot for taken in self.display for spot in self.beside(taken) if spot not in self.display}
        for x, y in free:
            for tile in self.hands[self.seat]:
                for letters in self.orientations(tile):
                    for named in (None, *self.colours):
                        move = ("place", f"{x},{y}", letters, named)
                        if self.why_not(move) is None:
                            moves.add(move)
        return moves

    def placement_of(self, e: Event) -> Move:
        self.canonical(e.get("tile"))  # raises if it is not a tile
        at = text_list(e.get("at"), "at")
        check(len(at) == 1, "a tile covers one position")
        return ("place", at[0], e.get("tile"), e.get("named"))

    def why_not(self, move: Move) -> str | None:
        if self.turn is None:
            return "no placement is due"
        if move[0] != "place" or len(move) != 4:
            return "not a placement"
        _, at, letters, named = move
        position = position_of(at)
        if self.canonical(letters) not in self.hands[self.seat]:
            return "the tile is not in hand"
        if position in self.display:
            return "the position is occupied"
        if not any(spot in self.display for spot in self.beside(position)):  # rule 3
            return "the tile shares no side with the display"
        if named is not None and named not in tuple(self.colours):
            return f"{named!r} is not a colour"
        if named is not None and "_" not in letters:  # rule 5
            return "only an empty corner can name a colour"
        return None

    def circle(self, point: Position) -> list[str]:
        """Return the corners of the tiles around a lattice point (rule 4)."""
        found = []
        for x in (point[0] - 1, point[0]):
            for y in (point[1] - 1, point[1]):
                if (x, y) in self.display:
                    found.append(self.display[x, y][CORNERS.index((point[0] - x, point[1] - y))])
        return found

    def gains(self, move: Move) -> list[dict[str, int]]:
        _, at, letters, named = move
        x, y = position_of(at)
        points = self.zero_scores()
        for letter, (dx, dy) in zip(letters, CORNERS, strict=True):
            colour = named if letter == "_" else letter  # rule 5
            if colour is not None:
                points[colour] += self.circle((x + dx, y + dy)).count(colour)  # rule 4
        before = self.scores[self.seat]
        after = {colour: min(self.cap, before[colour] + points[colour]) for colour in points}  # rule 6
        return [
            {colour: after[colour] - before[colour] for colour in after if after[colour] > before[colour]}
        ]

    # ---- the course of the game -----------------------------------------------------------------

    def handlers(self) -> dict[str, Callable[[Event], None]]:
        return {**super().handlers(), "start": self._start}

    def _start(self, e: Event) -> None:
        """Lay four tiles as a 2x2 square, with empty corners to the middle (rule 2)."""
        check(self.phase == "start", "the start must be the first event")
        display = e.get("display")
        check(isinstance(display, list) and len(display) == 4, "the opening display has four tiles")
        assert isinstance(display, list)
        square: dict[Position, str] = {}
        for entry in display:
            check(isinstance(entry, Mapping), "a tile of the display is an object")
            position = position_of(entry.get("at"))
            letters = entry.get("tile")
            self.canonical(letters)
            check(position in START and position not in square, f"bad start position {position}")
            for letter, (dx, dy) in zip(letters, CORNERS, strict=True):
                outside = (position[0] + dx, position[1] + dy) != MIDDLE
                check(not (letter == "_" and outside), f"{letters}: the empty corner must face the middle")
            square[position] = letters
        tiles = [self.canonical(letters) for letters in square.values()]
        self.need_in_bag(tiles)
        self.take_from_bag(tiles)
        self.placed.extend(tiles)
        self.display = square
        self.phase = "deal"
        self.deal(0, 1)  # one tile from the stack

    def draw_source(self) -> str:
        return "supply" if self.phase == "supply" else "stack"

    def drawing(self) -> None:
        assert self.due is not None
        assert self.due[0] is not None
        if self.phase == "supply":
            self.supply -= 1
        else:
            self.stacks[self.due[0]] -= 1

    def drawn(self) -> None:
        if self.phase == "deal":
            dealt = sum(len(hand) for hand in self.hands)
            if dealt < self.players:
                self.deal(dealt, 1)
            else:
                self.phase = "play"
        elif self.phase == "supply":
            self.phase = "play"  # the same seat places its extra tile
        else:
            self.next_seat()

    def do_place(self, move: Move, gain: Mapping[str, int]) -> None:
        _, at, letters, _named = move
        scores = self.scores[self.seat]
        tile = self.canonical(letters)
        self.take_from_hand(self.seat, [tile])
        self.placed.append(tile)
        self.display[position_of(at)] = letters
        for colour, points in gain.items():
            scores[colour] += points
            if scores[colour] == self.cap:
                self.extra += 1  # rule 6: a gain that ends at 12 has just reached it
        if all(points == self.cap for points in scores.values()):
            self.over = True  # rule 7: an immediate win
        elif self.extra and self.supply:
            self.extra -= 1
            self.phase = "supply"
            self.due = (self.seat, 1)
        else:
            self.extra = 0  # rule 6: no extra turns with an empty supply
            if self.stacks[self.seat]:
                self.phase = "stack"
                self.due = (self.seat, 1)
            else:
                self.next_seat()

    def next_seat(self) -> None:
        self.phase = "play"
        self.seat = (self.seat + 1) % self.players
        # Rule 7: the game ends when all stacks have been placed.
        self.over = not any(self.stacks) and not any(self.hands)
