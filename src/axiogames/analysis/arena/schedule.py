"""Settings of an arena and the schedule of its games, balanced so that luck cancels out.

A *line-up* is the set of bots that play together. If there are as many bots as seats, they form one line-up.
With more bots than seats, every combination is a line-up. With fewer, every multiset is one in which the
numbers of occurrences of the bots differ by at most one.

A *round* consists of the games of one line-up on one deal: one game for each rotation of a circular order of
the bots, so each bot of the line-up occupies every seat equally often. Successive deals cycle through all
circular orders (1 for two seats, 2 for three, 6 for four), so no bot always follows the same neighbour. In
one-player games every bot plays every deal, and all bots form one line-up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate, combinations, combinations_with_replacement, permutations
from math import ceil, comb, lcm
from typing import NamedTuple

from ... import __version__
from ...errors import InvalidOption, InvalidPlayers
from ...games import find_variant
from ...players.engines.specs import parse_player
from ..run_config import RunConfig
from .sprt import Hypotheses, find_problem

MAX_BOTS = 100
MAX_LINE_UPS = 10_000

LineUp = tuple[str, ...]


class ArenaSettings(RunConfig, frozen=True):
    """Settings of an arena: game, bots, seed of all deals, and an optional sequential test."""

    sprt: Hypotheses | None = None
    version: str = __version__

    @classmethod
    def create(
        cls,
        game: str,
        bots: Sequence[str],
        *,
        players: int = 2,
        seed: str = "0",
        options: Iterable[str] = (),
        sprt: Hypotheses | None = None,
    ) -> ArenaSettings:
        """Return validated settings.

        Raises:
            UnknownGame: there is no such game.
            InvalidPlayers: unknown, repeated, missing or too many bots, or a wrong number of players.
            InvalidOption: unknown option, or an invalid sequential test.
        """
        variant = find_variant(game, players, dict.fromkeys(options, True))
        for bot, occurrences in Counter(bots).items():
            parse_player(bot)
            if occurrences > 1:
                raise InvalidPlayers(f"{bot!r} is listed {occurrences} times: name each bot once")
        if not bots:
            raise InvalidPlayers("an arena needs bots: name one or more")
        _check_line_ups(len(bots), players)
        if sprt is not None and (problem := find_problem(sprt)):
            raise InvalidOption(f"invalid sequential test: {problem}")
        if sprt is not None and (len(bots) != 2 or players != 2):
            raise InvalidOption(
                f"a sequential test needs 2 bots and 2 players, not {len(bots)} bots and {players} players"
            )
        return cls(variant.game.id, players, variant.options, tuple(bots), seed, sprt)


def _check_line_ups(bots: int, players: int) -> None:
    """Raise `InvalidPlayers` if there are too many bots or line-ups for a schedule."""
    count = comb(bots, players) if 1 < players <= bots else 1
    if bots > MAX_BOTS or count > MAX_LINE_UPS:
        raise InvalidPlayers(
            f"{bots} bots for {players} seats make {count} line-ups: "
            f"at most {MAX_BOTS} bots and {MAX_LINE_UPS} line-ups are allowed"
        )


class Seating(NamedTuple):
    """A scheduled game: the index of its deal, and the bot in each seat."""

    deal: int
    seats: LineUp


@cache
def line_ups(bots: LineUp, players: int) -> tuple[LineUp, ...]:
    """Return the line-ups; each plays every deal.

    >>> line_ups(("a", "b", "c"), 2)
    (('a', 'b'), ('a', 'c'), ('b', 'c'))
    >>> line_ups(("a", "b"), 3)
    (('a', 'a', 'b'), ('a', 'b', 'b'))
    """
    if players == 1:
        return (bots,)
    if len(bots) >= players:
        return tuple(combinations(bots, players))
    fewest, most = players // len(bots), ceil(players / len(bots))
    balanced = []
    for line_up in combinations_with_replacement(bots, players):
        seats = Counter(line_up)
        if all(fewest <= seats[bot] <= most for bot in bots):
            balanced.append(line_up)
    return tuple(balanced)


@cache
def circular_orders(line_up: LineUp) -> tuple[LineUp, ...]:
    """Return the distinct circular orders of a line-up, each as one of its rotations.

    >>> circular_orders(("a", "b", "c"))
    (('a', 'b', 'c'), ('a', 'c', 'b'))
    """
    found: dict[LineUp, LineUp] = {}
    for rest in permutations(line_up[1:]):
        order = (line_up[0], *rest)
        found.setdefault(min(_rotations(order)), order)
    return tuple(found.values())


def _rotations(order: LineUp) -> list[LineUp]:
    rotated = (order[start:] + order[:start] for start in range(len(order)))
    return list(dict.fromkeys(rotated))


class Schedule:
    """The endless sequence of games of an arena, deal by deal."""

    def __init__(self, bots: LineUp, players: int) -> None:
        self.bots = bots
        self.players = players
        self.line_ups = line_ups(bots, players)
        # The circular orders, and hence the sizes of rounds, repeat with this period.
        period = 1 if players == 1 else lcm(*(len(circular_orders(line_up)) for line_up in self.line_ups))
        sizes = [[len(games) for games in self.rounds(deal)] for deal in range(period)]
        self._games_per_line_up = [1 if players == 1 else min(rounds) for rounds in sizes]
        self._games_per_deal = [sum(rounds) for rounds in sizes]

    def rounds(self, deal: int) -> Iterator[list[Seating]]:
        """Yield the games of each line-up on a deal."""
        for line_up in self.line_ups:
            if self.players == 1:
                yield [Seating(deal, (bot,)) for bot in line_up]
            else:
                orders = circular_orders(line_up)
                yield [Seating(deal, seats) for seats in _rotations(orders[deal % len(orders)])]

    def games(self, deal: int) -> list[Seating]:
        """Return all games on a deal."""
        return [seating for games in self.rounds(deal) for seating in games]

    def deals_for(self, games: int) -> int:
        """Return the number of deals after which every line-up (one player: every bot) has `games` games."""
        cycles, rest = divmod(max(games, 1) - 1, sum(self._games_per_line_up))
        partial = next(n for n, played in enumerate(accumulate(self._games_per_line_up), 1) if played > rest)
        return cycles * len(self._games_per_line_up) + partial

    def games_in(self, deals: int) -> int:
        """Return the number of games that each line-up (one player: each bot) plays on `deals` deals.

        >>> schedule = Schedule(("a", "b", "c"), 2)
        >>> schedule.deals_for(7), schedule.games_in(4)
        (4, 8)
        """
        return _sum_periodic(self._games_per_line_up, deals)

    def total_games_in(self, deals: int) -> int:
        """Return the total number of games on `deals` deals.

        >>> Schedule(("a", "b", "c"), 2).total_games_in(4)
        24
        """
        return _sum_periodic(self._games_per_deal, deals)


def _sum_periodic(values: Sequence[int], count: int) -> int:
    """Return the sum of the first `count` terms of a sequence that repeats `values`."""
    cycles, rest = divmod(count, len(values))
    return cycles * sum(values) + sum(values[:rest])
