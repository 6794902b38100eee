"""What luck did: how much the deal decides, and how much surer shared deals make a comparison.

**The share of the deal.** A result (what a seat has of the victory; alone at the table, the lowest colour) is
explained by who sat there and by the deal. Take away the mean of the same bot in the same seat of the same
line-up; of what is left, r, the results of one seat on one deal with different bots have only the deal in
common:

    share = mean of r · r' over two results of the same seat on the same deal / mean of r²

1: the deal decides everything that skill does not. 0: it decides nothing, only play does. (Few deals can
give less than 0 by chance.)

**The difference of two bots** is the mean over deals of what one scored more than the other on the same
deal, over all seatings. Its standard error, SE = √(variance between deals / deals), is set beside the one it
would have if every game had a deal of its own. The squared ratio says how many times as many games that
would take.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from .results import Played
from .schedule import Schedule, Seating, Settings

RESAMPLES = 2000
QUICK = 200  # for figures that are shown while games go on
CHUNK = 1 << 22  # weights in memory at a time
LEVEL = (2.5, 97.5)  # per cent


class Estimate(Struct, frozen=True):
    """A figure and its interval of 95 %; there is none from a single deal."""

    value: float
    low: float | None = None
    high: float | None = None


class Bootstrap:
    """Sums over deals, computed many times with weights by lot; the same weights for every sum."""

    def __init__(self, deals: int, resamples: int = RESAMPLES) -> None:
        self.deals = deals
        self.resamples = resamples

    def sums(self, columns: np.ndarray) -> np.ndarray:
        """The weighted sums of columns with a row for each deal: a row for each resample."""
        flat = columns.reshape(self.deals, -1)
        rng = np.random.default_rng(0)
        size = max(1, CHUNK // max(1, self.deals))
        parts = [
            rng.standard_exponential((min(size, self.resamples - first), self.deals)) @ flat
            for first in range(0, self.resamples, size)
        ]
        return np.concatenate(parts).reshape(self.resamples, *columns.shape[1:])

    def half_deals(self, *shape: int) -> np.ndarray:
        """Weights of half a deal all won and of half a deal all lost, for each resample and this shape."""
        return np.random.default_rng(1).standard_gamma(0.5, (2, self.resamples, *shape))

    def means(self, sums: np.ndarray, counts: np.ndarray) -> list[Estimate]:
        """The mean of each column: its sum over all deals by its count."""
        values = sums.sum(axis=0) / counts.sum(axis=0)
        return self._estimates(values, self.sums(sums) / self.sums(counts))

    def rates(self, won: np.ndarray, of: np.ndarray) -> list[Estimate]:
        """The share of each column that was won."""
        total = of.sum(axis=0)
        ours, theirs = self.half_deals(*of.shape[1:]) * (total / self.deals)
        samples = (self.sums(won) + ours) / (self.sums(of) + ours + theirs)
        return self._estimates(won.sum(axis=0) / total, samples, certain=False)

    def running_rate(self, won: np.ndarray, of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The interval of the share that was won, after each deal."""
        weights = np.random.default_rng(0).standard_exponential((self.resamples, self.deals))
        games_a_deal = of.cumsum() / np.arange(1, self.deals + 1)
        ours, theirs = self.half_deals(1) * games_a_deal
        samples = ((weights * won).cumsum(axis=1) + ours) / ((weights * of).cumsum(axis=1) + ours + theirs)
        low, high = np.percentile(samples, LEVEL, axis=0)
        return low, high

    def _estimates(self, values: np.ndarray, samples: np.ndarray, certain: bool = True) -> list[Estimate]:
        if self.deals < 2 and certain:
            return [Estimate(float(value)) for value in values]
        low, high = np.percentile(samples, LEVEL, axis=0)
        return [Estimate(*map(float, figures)) for figures in zip(values, low, high, strict=True)]


Tables = list[list[Played]]  # the games of a line-up on a deal, for each of those


class Meeting(NamedTuple):
    """Bots compared under the same conditions, with each one's place and points, the lowest first.

    That is a game or, where bots play alone, one deal that each of them has played.
    """

    deal: int
    bots: tuple[str, ...]
    place: tuple[int, ...]
    vectors: tuple[tuple[int, ...], ...]

    @property
    def shares(self) -> tuple[float, ...]:
        """What each has of the victory: 1, or a part of it if it is shared."""
        winners = self.place.count(1)
        return tuple(1 / winners if place == 1 else 0.0 for place in self.place)


def whole_tables(settings: Settings, played: Mapping[Seating, Played]) -> Tables:
    """The tables played to the end, in the order of the schedule."""
    schedule = Schedule(settings.bots, settings.players)
    return [
        [played[seating] for seating in table]
        for deal in sorted({seating.deal for seating in played})
        for table in schedule.tables(deal)
        if all(seating in played for seating in table)
    ]


def meetings(settings: Settings, tables: Tables) -> list[Meeting]:
    """The meetings at these tables."""
    if settings.players == 1:
        return [_on_a_deal(table) for table in tables]
    return [
        Meeting(game.deal, game.seats, game.place, tuple(map(_ascending, game.scores)))
        for table in tables
        for game in table
    ]


def _on_a_deal(games: Sequence[Played]) -> Meeting:
    vectors = tuple(_ascending(game.scores[0]) for game in games)
    place = tuple(1 + sum(other > own for other in vectors) for own in vectors)
    return Meeting(games[0].deal, tuple(game.seats[0] for game in games), place, vectors)


def _ascending(points: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(points))


@dataclass(frozen=True)
class Sums:
    """Meetings added up: a row for each deal, the independent unit, and a column for each bot."""

    deals: tuple[int, ...]
    games: np.ndarray
    wins: np.ndarray
    places: np.ndarray
    lowest: np.ndarray
    vectors: np.ndarray  # a vector for each bot, over all deals
    points: np.ndarray  # [deal, bot, other]: 1 for each better place, ½ for each equal one


def add_up(bots: Sequence[str], met: Sequence[Meeting]) -> Sums:
    """The sums over all meetings."""
    deals = tuple(dict.fromkeys(meeting.deal for meeting in met))
    row_of = {deal: row for row, deal in enumerate(deals)}
    column_of = {bot: column for column, bot in enumerate(bots)}
    shape = (len(deals), len(bots))
    tracks = len(met[0].vectors[0]) if met else 0
    games, wins, places, lowest = (np.zeros(shape) for _ in range(4))
    vectors, points = np.zeros((len(bots), tracks)), np.zeros((*shape, len(bots)))
    for meeting in met:
        row, columns = row_of[meeting.deal], [column_of[bot] for bot in meeting.bots]
        for column, place, share, vector in zip(
            columns, meeting.place, meeting.shares, meeting.vectors, strict=True
        ):
            games[row, column] += 1
            wins[row, column] += share
            places[row, column] += place
            lowest[row, column] += vector[0]
            vectors[column] += vector
        for (one, ahead), (other, behind) in combinations(zip(columns, meeting.place, strict=True), 2):
            if one != other:
                better = 0.5 if ahead == behind else float(ahead < behind)
                points[row, one, other] += better
                points[row, other, one] += 1 - better
    return Sums(deals, games, wins, places, lowest, vectors, points)


class Difference(Struct, frozen=True):
    """What the first of two bots scores more than the second on the same deal.

    `level` is how the deals went, as numbers of those that the first won, neither, and the second won.
    """

    value: float
    low: float | None
    high: float | None
    error: float | None
    error_alone: float | None
    times_the_games: float | None
    level: tuple[int, int, int]


def value_of(settings: Settings, game: Played, seat: int) -> float:
    """What a game is worth to a seat: its part of the victory or, alone, its lowest colour."""
    if settings.players == 1:
        return float(min(game.scores[seat]))
    return 1 / game.place.count(1) if game.place[seat] == 1 else 0.0


def share_of_the_deal(settings: Settings, tables: Tables, resamples: int) -> Estimate | None:
    """How much of what skill does not explain is decided by the deal; nothing from less than two deals."""
    deals = list(dict.fromkeys(table[0].deal for table in tables))
    if len(deals) < 2:
        return None
    row_of = {deal: row for row, deal in enumerate(deals)}
    results: dict[tuple[tuple[str, ...], str, int], list[tuple[int, float]]] = defaultdict(list)
    for table in tables:
        line_up = tuple(sorted(bot for game in table for bot in game.seats))
        for game in table:
            for seat, bot in enumerate(game.seats):
                results[line_up, bot, seat].append((row_of[game.deal], value_of(settings, game, seat)))
    shape = (len(deals), settings.players)
    total, squares, count = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for (_, _, seat), rows in results.items():
        mean = sum(value for _, value in rows) / len(rows)
        for row, value in rows:
            total[row, seat] += value - mean
            squares[row, seat] += (value - mean) ** 2
            count[row, seat] += 1
    common = (total**2 - squares).sum(axis=1)  # over ordered pairs of two results
    pairs = (count**2 - count).sum(axis=1)
    columns = np.stack([common, pairs, squares.sum(axis=1), count.sum(axis=1)], axis=1)
    if not pairs.any() or not squares.any():
        return None
    low, high = np.percentile(_ratio(Bootstrap(len(deals), resamples).sums(columns)), LEVEL)
    return Estimate(float(_ratio(columns.sum(axis=0))), float(low), float(high))


def _ratio(sums: np.ndarray) -> np.ndarray:
    common, pairs, squares, count = np.moveaxis(sums, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.nan_to_num((common / pairs) / (squares / count)))


def differences(settings: Settings, tables: Tables, resamples: int) -> dict[tuple[str, str], Difference]:
    """The difference of every two bots that sat at the same tables (alone: that played the same deals)."""
    found = {}
    for pair in combinations(settings.bots, 2):
        if deals := _deal_by_deal(settings, tables, pair):
            games = _game_by_game(settings, tables, pair)
            found[pair] = _difference(settings, deals, games, resamples)
    return found


def _deal_by_deal(settings: Settings, tables: Tables, pair: tuple[str, str]) -> list[float]:
    """What the first bot scored more than the second, on each deal."""
    apart: dict[int, list[float]] = defaultdict(list)
    for table in tables:
        ours, theirs = (_values(settings, table, bot) for bot in pair)
        if ours and theirs:
            apart[table[0].deal].append(fmean(ours) - fmean(theirs))
    return [fmean(deal) for deal in apart.values()]


def _game_by_game(settings: Settings, tables: Tables, pair: tuple[str, str]) -> list[list[float]]:
    """The same from each game by itself, those of one seating together; alone, the results of each bot."""
    games = [game for table in tables for game in table]
    if settings.players == 1:
        return [_values(settings, games, bot) for bot in pair]
    apart: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for game in games:
        ours, theirs = (_values(settings, [game], bot) for bot in pair)
        if ours and theirs:
            apart[game.seats].append(fmean(ours) - fmean(theirs))
    return list(apart.values())


def _values(settings: Settings, games: Sequence[Played], bot: str) -> list[float]:
    """What these games were worth to a bot."""
    return [
        value_of(settings, game, seat)
        for game in games
        for seat, name in enumerate(game.seats)
        if name == bot
    ]


def _difference(
    settings: Settings, deals: list[float], games: list[list[float]], resamples: int
) -> Difference:
    column = np.array(deals)[:, None]
    ones = np.ones_like(column)
    bootstrap = Bootstrap(len(deals), resamples)
    if settings.players == 1:
        (estimate,) = bootstrap.means(column, ones)
    else:
        (rate,) = bootstrap.rates((column + 1) / 2, ones)  # from -1..1 to 0..1 and back
        assert rate.low is not None, "a rate has an interval"
        assert rate.high is not None, "a rate has an interval"
        estimate = Estimate(2 * rate.value - 1, 2 * rate.low - 1, 2 * rate.high - 1)
    level = (sum(d > 0 for d in deals), sum(d == 0 for d in deals), sum(d < 0 for d in deals))
    error = alone = times = None
    if len(deals) > 1:
        error = float(np.std(deals, ddof=1) / np.sqrt(len(deals)))
        alone = _error_alone(settings, games)
        times = (alone / error) ** 2 if error else None
    return Difference(estimate.value, estimate.low, estimate.high, error, alone, times, level)


def _error_alone(settings: Settings, games: list[list[float]]) -> float:
    """The standard error of the difference if every game had a deal of its own."""
    # Seats are balanced in any case: what a seat is worth is no luck of the deal.
    if settings.players == 1:
        return float(np.sqrt(sum(np.var(values, ddof=1) / len(values) for values in games)))
    total = sum(map(len, games))
    within = sum(float(np.var(values)) * len(values) for values in games)
    return float(np.sqrt(within / max(1, total - len(games)) / total))
