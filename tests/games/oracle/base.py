"""The common part of the referees: bag, hands, draws, checks of events and ranks.

The referees are written from the rules pages and the record format alone and share no code with the package.
They are slow and literal on purpose. Comments refer to numbered rules ("rule 7") and to the record format
("record").
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

Move = tuple[Any, ...]
Event = Mapping[str, Any]


class OracleError(Exception):
    """A record or a request breaks a rule."""


def check(condition: bool, message: str) -> None:
    if not condition:
        raise OracleError(message)


def text_list(value: Any, name: str) -> list[str]:
    check(isinstance(value, list), f"{name} must be a list")
    check(all(isinstance(item, str) for item in value), f"{name} must be a list of strings")
    return list(value)


class Referee(ABC):
    """A game in progress. Subclasses define the rules of each game."""

    game: str
    colours: str
    option_names: frozenset[str] = frozenset()

    def __init__(self, players: int, options: Mapping[str, bool], setup: Mapping[str, Any]) -> None:
        check(type(players) is int and 1 <= players <= 4, "1 to 4 players")
        for name, value in options.items():
            check(type(value) is bool, f"option {name!r} must be true or false")
            check(not value or name in self.option_names, f"{self.game} has no option {name!r}")
        self.players = players
        self.solo = players == 1
        self.over = False
        self.due: tuple[int | None, int] | None = None  # (seat, tiles to draw)
        self.seat = 0  # seat to move
        self.bag: Counter[str] = Counter()  # tiles to draw (rota: stacks and supply together)
        self.hands: list[list[str]] = [[] for _ in range(players)]
        self.aside: list[str] = []  # old tiles of an exchange until its draw is complete
        self.gone: list[str] = []  # out of the game
        self.placed: list[str] = []  # on the board
        self.scores: list[dict[str, int]] = [self.zero_scores() for _ in range(players)]
        check(isinstance(setup.get("tileset"), Mapping), "the setup has no tileset")
        for tile, count in setup["tileset"].items():
            check(type(count) is int and count >= 0, f"tileset: bad count for {tile!r}")
            if count:
                self.bag[self.canonical(tile)] += count

    # ---- hooks of each game ---------------------------------------------------------------------

    def zero_scores(self) -> dict[str, int]:
        return dict.fromkeys(self.colours, 0)

    @abstractmethod
    def orientations(self, tile: str) -> list[str]:
        """Return the letters of a tile in all orientations."""

    @abstractmethod
    def bad_tile(self, tile: str) -> bool:
        """Return whether the letters are not a tile of this game."""

    @abstractmethod
    def legal_moves(self) -> set[Move]:
        """Return all legal moves of the seat to move."""

    @abstractmethod
    def why_not(self, move: Move) -> str | None:
        """Return the reason why a placement is illegal, None if it is legal."""

    @abstractmethod
    def gains(self, move: Move) -> list[dict[str, int]]:
        """Return the possible points of a placement: several only if the rules leave a tie (solo)."""

    def pyramids(self, move: Move) -> list[str]:
        return []

    def strength(self, seat: int) -> tuple[int, ...]:
        """Return the sorted scores, which are compared from the lowest colour upwards (axio 15)."""
        return tuple(sorted(self.scores[seat].values()))

    @abstractmethod
    def placement_of(self, e: Event) -> Move:
        """Return the move of a place event."""

    @abstractmethod
    def do_place(self, move: Move, gain: Mapping[str, int]) -> None:
        """Place the tile, add the points and continue the game."""

    @abstractmethod
    def drawn(self) -> None:
        """Continue the game after a complete draw."""

    def draw_source(self) -> str:
        return "bag"

    def expected_draw(self) -> tuple[int | None, int] | None:
        return self.due

    def drawing(self) -> None:  # noqa: B027 (optional hook)
        """Prepare a valid draw before it is made."""

    def handlers(self) -> dict[str, Callable[[Event], None]]:
        return {"draw": self._draw, "place": self._place}

    # ---- queries --------------------------------------------------------------------------------

    @property
    def turn(self) -> int | None:
        return None if self.over or self.due is not None else self.seat

    def gain(self, move: Move) -> dict[str, int]:
        if move[0] != "place":
            return {}
        reason = self.why_not(move)
        check(reason is None, f"illegal: {reason}")
        return self.gains(move)[0]

    def result(self) -> dict[str, Any]:
        check(self.over, "the game is not over")
        strengths = [self.strength(seat) for seat in range(self.players)]
        # Record: 1 is best, ties share a rank (1, 1, 3).
        place = [1 + sum(other > own for other in strengths) for own in strengths]
        winners = [seat for seat in range(self.players) if place[seat] == 1]
        return {"scores": [dict(s) for s in self.scores], "place": place, "winners": winners}

    def canonical(self, tile: Any) -> str:
        """Return the alphabetically first orientation of a tile."""
        check(isinstance(tile, str) and not self.bad_tile(tile), f"{tile!r} is not a tile of {self.game}")
        return min(self.orientations(tile))

    def bag_size(self) -> int:
        return self.bag.total()

    # ---- events ---------------------------------------------------------------------------------

    def event(self, e: Event) -> None:
        """Apply an event of the record. An invalid event changes nothing."""
        check(isinstance(e, Mapping), "an event is an object")
        check(not self.over, "the game is over")
        kind = e.get("t")
        handler = self.handlers().get(kind) if isinstance(kind, str) else None
        if handler is None:
            raise OracleError(f"{self.game} has no event {kind!r}")
        handler(e)

    def seat_of(self, e: Event) -> int:
        seat = e.get("p")
        check(type(seat) is int and 0 <= seat < self.players, f"bad seat {seat!r}")
        assert isinstance(seat, int)
        return seat

    def need_turn(self, e: Event) -> int:
        seat = self.seat_of(e)
        check(self.due is None, f"a draw is due: {self.due}")
        check(seat == self.seat, f"it is the turn of seat {self.seat}, not of seat {seat}")
        return seat

    def tiles_of(self, e: Event, key: str) -> list[str]:
        return [self.canonical(tile) for tile in text_list(e.get(key), key)]

    def need_in_bag(self, tiles: list[str]) -> None:
        missing = Counter(tiles) - self.bag
        check(not missing, f"not in the bag: {sorted(missing.elements())}")

    def need_in_hand(self, seat: int, tiles: list[str]) -> None:
        missing = Counter(tiles) - Counter(self.hands[seat])
        check(not missing, f"not in the hand of seat {seat}: {sorted(missing.elements())}")

    def take_from_bag(self, tiles: list[str]) -> None:
        self.bag = self.bag - Counter(tiles)

    def take_from_hand(self, seat: int, tiles: list[str]) -> None:
        for tile in tiles:
            self.hands[seat].remove(tile)

    def _draw(self, e: Event) -> None:
        seat = self.seat_of(e)
        tiles = self.tiles_of(e, "tiles")
        due = self.expected_draw()
        if due is None or due[0] is None:
            raise OracleError("no draw is due")
        check(seat == due[0], f"seat {due[0]} is to draw, not seat {seat}")
        source = e.get("from", "bag")
        check(source == self.draw_source(), f"drawn from {source!r} instead of {self.draw_source()!r}")
        check(1 <= len(tiles) <= due[1], f"{len(tiles)} tiles drawn, {due[1]} are due")
        self.need_in_bag(tiles)
        self.drawing()
        self.take_from_bag(tiles)
        self.hands[seat] = sorted(self.hands[seat] + tiles)
        rest = due[1] - len(tiles)
        self.due = (seat, rest) if rest else None
        if self.due is None:
            self.drawn()

    def _place(self, e: Event) -> None:
        self.need_turn(e)
        move = self.placement_of(e)
        reason = self.why_not(move)
        check(reason is None, f"illegal placement: {reason}")
        pyramids = text_list(e.get("pyramids", []), "pyramids")
        expected = self.pyramids(move)
        check(sorted(pyramids) == sorted(expected), f"pyramids are {pyramids}, not {expected}")
        gain = e.get("gain")
        gains = self.gains(move)
        check(isinstance(gain, Mapping), "the placement has no gain")
        assert isinstance(gain, Mapping)
        whole = all(type(points) is int for points in gain.values())
        check(whole and dict(gain) in gains, f"gain is {dict(gain)}, not {gains[0]}")
        self.do_place(move, gain)

    # ---- the opening deal, seat by seat ------------------------------------------------------------

    def deal(self, seat: int, size: int) -> bool:
        """Make the opening draw of a seat due; return False if the bag is empty."""
        number = min(size, self.bag_size())
        self.due = (seat, number) if number else None
        return number > 0
