"""Who sits where on which deal, so that the luck of the deal and of the seat cancels.

A *line-up* is the bots of one table. Two bots or more that fill the seats exactly are a line-up; of more
bots than seats, every selection is one; with fewer bots than seats, every way to seat each of them equally
often, give or take one. Every line-up plays every deal, once for each rotation of an order round the table:
so on each deal every bot of the line-up sits in every seat equally often. The order changes from deal to
deal through all orders there are (1 for two seats, 2 for three, 6 for four), so that nobody always follows
the same neighbour. Alone at the table, every bot plays every deal, and the bots make one line-up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate, combinations, combinations_with_replacement, permutations
from math import ceil, comb, lcm
from typing import NamedTuple

from msgspec import Struct

from ... import __version__
from ...errors import InvalidOption, InvalidPlayers
from ...games import find_variant
from ...players.engines.specs import player_or_engine
from .sprt import Hypotheses, fault

MOST_BOTS = 100
MOST_LINE_UPS = 10_000


class Settings(Struct, frozen=True):
    """A game with its options, the bots, their seats, the seed of all deals, and when to stop early."""

    game: str
    players: int
    options: tuple[str, ...]
    bots: tuple[str, ...]
    seed: str
    sprt: Hypotheses | None = None
    version: str = __version__


def checked(
    game: str,
    bots: Sequence[str],
    *,
    players: int = 2,
    seed: str = "0",
    options: Iterable[str] = (),
    sprt: Hypotheses | None = None,
) -> Settings:
    """Settings that can be played. Raises `UnknownGame`, `InvalidPlayers` or `InvalidOption`."""
    variant = find_variant(game, players, dict.fromkeys(options, True))
    for bot, often in Counter(bots).items():
        player_or_engine(bot)
        if often > 1:
            raise InvalidPlayers(f"{bot!r} stands {often} times among the bots: name each once")
    if not bots:
        raise InvalidPlayers("an arena needs bots: name one or more")
    _must_be_few(len(bots), players)
    if sprt is not None and (wrong := fault(sprt)):
        raise InvalidOption(f"the sequential test is none: {wrong}")
    if sprt is not None and (len(bots) != 2 or players != 2):
        raise InvalidOption(
            f"the sequential test is for 2 bots at 2 seats, not for {len(bots)} bots and {players} players"
        )
    return Settings(variant.game.id, players, variant.options, tuple(bots), seed, sprt)


def _must_be_few(bots: int, players: int) -> None:
    """Raise `InvalidPlayers` for more bots than a schedule can be made for."""
    line_ups = comb(bots, players) if 1 < players <= bots else 1
    if bots > MOST_BOTS or line_ups > MOST_LINE_UPS:
        raise InvalidPlayers(
            f"{bots} bots for {players} seats make {line_ups} line-ups: "
            f"at most {MOST_BOTS} bots and {MOST_LINE_UPS} line-ups can play"
        )


LineUp = tuple[str, ...]


class Seating(NamedTuple):
    """One game to be played: the number of its deal, and a bot for each seat."""

    deal: int
    seats: LineUp


@cache
def line_ups(bots: LineUp, players: int) -> tuple[LineUp, ...]:
    """The bots of each table that plays every deal.

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
    fair = []
    for chosen in combinations_with_replacement(bots, players):
        often = Counter(chosen)
        if all(fewest <= often[bot] <= most for bot in bots):
            fair.append(chosen)
    return tuple(fair)


@cache
def orders(line_up: LineUp) -> tuple[LineUp, ...]:
    """The different orders round a table, each from one of the places where it can begin.

    >>> orders(("a", "b", "c"))
    (('a', 'b', 'c'), ('a', 'c', 'b'))
    """
    found: dict[LineUp, LineUp] = {}
    for rest in permutations(line_up[1:]):
        order = (line_up[0], *rest)
        found.setdefault(min(_rotations(order)), order)
    return tuple(found.values())


def _rotations(order: LineUp) -> list[LineUp]:
    turned = (order[first:] + order[:first] for first in range(len(order)))
    return list(dict.fromkeys(turned))


class Schedule:
    """The games of an arena, deal by deal, without an end: how many are played is said elsewhere."""

    def __init__(self, bots: LineUp, players: int) -> None:
        self.bots = bots
        self.players = players
        self.line_ups = line_ups(bots, players)
        # Orders come again after so many deals, and with them the numbers of games.
        period = 1 if players == 1 else lcm(*(len(orders(line_up)) for line_up in self.line_ups))
        sizes = [[len(table) for table in self.tables(deal)] for deal in range(period)]
        self._fewest = [1 if players == 1 else min(tables) for tables in sizes]
        self._all = [sum(tables) for tables in sizes]

    def tables(self, deal: int) -> Iterator[list[Seating]]:
        """The games of each line-up on a deal."""
        for line_up in self.line_ups:
            if self.players == 1:
                yield [Seating(deal, (bot,)) for bot in line_up]
            else:
                choices = orders(line_up)
                yield [Seating(deal, seats) for seats in _rotations(choices[deal % len(choices)])]

    def games(self, deal: int) -> list[Seating]:
        """All games on a deal."""
        return [seating for table in self.tables(deal) for seating in table]

    def deals_for(self, games: int) -> int:
        """How many deals it takes until every line-up has played so many games (alone: every bot)."""
        rounds, rest = divmod(max(games, 1) - 1, sum(self._fewest))
        some = next(n for n, played in enumerate(accumulate(self._fewest), 1) if played > rest)
        return rounds * len(self._fewest) + some

    def games_in(self, deals: int) -> int:
        """How many games every line-up (alone: every bot) has played after so many deals.

        >>> schedule = Schedule(("a", "b", "c"), 2)
        >>> schedule.deals_for(7), schedule.games_in(4)
        (4, 8)
        """
        return _over(self._fewest, deals)

    def all_games_in(self, deals: int) -> int:
        """How many games are played on so many deals.

        >>> Schedule(("a", "b", "c"), 2).all_games_in(4)
        24
        """
        return _over(self._all, deals)


def _over(each: Sequence[int], deals: int) -> int:
    """The sum over deals of numbers that come again and again."""
    rounds, some = divmod(deals, len(each))
    return rounds * sum(each) + sum(each[:some])
