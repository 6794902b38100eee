"""Statistics of an arena: bootstrap intervals with deals as the unit, and the effects of luck.

**Bootstrap.** Games on one deal are not independent, so deals are resampled, not games: each resample gives
every deal an exponentially distributed weight (the Bayesian bootstrap).

**Deal variance share.** The result of a seat (its share of the win; in one-player games its lowest track)
depends on the bot and on the deal. Let r be the residual after subtracting the mean result of the same bot in
the same seat of the same line-up. Two residuals of one seat on one deal have only the deal in common, so the
deal's share of the variance of the residuals is

    share = mean of r · r' over pairs of results of one seat on one deal / mean of r²

At 1, the deal decides everything that skill does not; at 0, it decides nothing. With few deals, the estimate
can be negative.

**Difference of two bots.** The mean over deals of the first bot's result minus the second bot's, averaged
over all seatings of the deal. Its standard error is √(variance between deals / number of deals). The standard
error of games on independent deals, divided by it and squared, is the factor by which independent deals would
need more games.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import NamedTuple

import numpy as np
from msgspec import Struct, field

from .results import ArenaGame
from .schedule import ArenaSettings, Schedule, Seating

RESAMPLES = 2000
LIVE_RESAMPLES = 200  # for figures shown during a run
MAX_WEIGHTS = 1 << 22  # bootstrap weights in memory at a time
INTERVAL_PERCENTILES = (2.5, 97.5)

Rounds = list[list[ArenaGame]]  # each inner list: the games of one line-up on one deal


class IntervalEstimate(Struct, frozen=True):
    """An estimate with its 95 % interval; the mean over a single deal has none."""

    value: float
    low: float | None = None
    high: float | None = None


class Bootstrap:
    """A Bayesian bootstrap over deals. All sums use the same weights."""

    def __init__(self, deals: int, resamples: int = RESAMPLES) -> None:
        self.deals = deals
        self.resamples = resamples

    def sums(self, columns: np.ndarray) -> np.ndarray:
        """Return the weighted sums over deals, the first axis of `columns`, with one row per resample."""
        flat = columns.reshape(self.deals, -1)
        rng = np.random.default_rng(0)
        size = max(1, MAX_WEIGHTS // max(1, self.deals))
        parts = [
            rng.standard_exponential((min(size, self.resamples - start), self.deals)) @ flat
            for start in range(0, self.resamples, size)
        ]
        return np.concatenate(parts).reshape(self.resamples, *columns.shape[1:])

    def pseudo_counts(self, *shape: int) -> np.ndarray:
        """Return the weights of half a deal won and half a deal lost, an array of `shape` per resample."""
        return np.random.default_rng(1).standard_gamma(0.5, (2, self.resamples, *shape))

    def means(self, sums: np.ndarray, counts: np.ndarray) -> list[IntervalEstimate]:
        """Return the mean of each column: its sum over all deals, divided by its count."""
        values = sums.sum(axis=0) / counts.sum(axis=0)
        return self._estimates(values, self.sums(sums) / self.sums(counts))

    def rates(self, won: np.ndarray, games: np.ndarray) -> list[IntervalEstimate]:
        """Return the win rate of each column."""
        total = games.sum(axis=0)
        extra_won, extra_lost = self.pseudo_counts(*games.shape[1:]) * (total / self.deals)
        samples = (self.sums(won) + extra_won) / (self.sums(games) + extra_won + extra_lost)
        return self._estimates(won.sum(axis=0) / total, samples, needs_deals=False)

    def cumulative_rate(self, won: np.ndarray, games: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the lower and upper ends of the interval of the win rate after each deal."""
        weights = np.random.default_rng(0).standard_exponential((self.resamples, self.deals))
        games_per_deal = games.cumsum() / np.arange(1, self.deals + 1)
        extra_won, extra_lost = self.pseudo_counts(1) * games_per_deal
        won_so_far = (weights * won).cumsum(axis=1) + extra_won
        samples = won_so_far / ((weights * games).cumsum(axis=1) + extra_won + extra_lost)
        low, high = np.percentile(samples, INTERVAL_PERCENTILES, axis=0)
        return low, high

    def _estimates(
        self, values: np.ndarray, samples: np.ndarray, needs_deals: bool = True
    ) -> list[IntervalEstimate]:
        if self.deals < 2 and needs_deals:
            return [IntervalEstimate(float(value)) for value in values]
        low, high = np.percentile(samples, INTERVAL_PERCENTILES, axis=0)
        return [IntervalEstimate(*map(float, row)) for row in zip(values, low, high, strict=True)]


# ---------------------------------------------------------------- rounds and comparisons


class Comparison(NamedTuple):
    """Results of bots under equal conditions: their ranks, and their points in ascending order.

    A comparison is a game or, in one-player games, a deal that every bot has played.
    """

    deal: int
    bots: tuple[str, ...]
    ranks: tuple[int, ...]
    vectors: tuple[tuple[int, ...], ...]

    @property
    def win_shares(self) -> tuple[float, ...]:
        """Share of the win of each bot: 1 for a sole winner, a fraction if several bots tie for first."""
        winners = self.ranks.count(1)
        return tuple(1 / winners if rank == 1 else 0.0 for rank in self.ranks)


def complete_rounds(settings: ArenaSettings, played: Mapping[Seating, ArenaGame]) -> Rounds:
    """Return the rounds whose games have all been played, in schedule order."""
    schedule = Schedule(settings.bots, settings.players)
    return [
        [played[seating] for seating in seatings]
        for deal in sorted({seating.deal for seating in played})
        for seatings in schedule.rounds(deal)
        if all(seating in played for seating in seatings)
    ]


def comparisons(settings: ArenaSettings, rounds: Rounds) -> list[Comparison]:
    """Return the comparisons in these rounds."""
    if settings.players == 1:
        return [_compare_on_deal(games) for games in rounds]
    return [
        Comparison(game.deal, game.seats, game.place, tuple(map(_ascending, game.scores)))
        for games in rounds
        for game in games
    ]


def _compare_on_deal(games: Sequence[ArenaGame]) -> Comparison:
    vectors = tuple(_ascending(game.scores[0]) for game in games)
    ranks = tuple(1 + sum(other > own for other in vectors) for own in vectors)
    return Comparison(games[0].deal, tuple(game.seats[0] for game in games), ranks, vectors)


def _ascending(points: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(points))


@dataclass(frozen=True)
class DealSums:
    """Sums over comparisons, with a row per deal (the independent unit) and a column per bot."""

    deals: tuple[int, ...]
    games: np.ndarray
    wins: np.ndarray
    ranks: np.ndarray
    lowest: np.ndarray
    vectors: np.ndarray  # [bot, track]: over all deals, lowest track first
    points: np.ndarray  # [deal, bot, opponent]: 1 for each better rank, ½ for each equal rank


def sum_by_deal(bots: Sequence[str], compared: Sequence[Comparison]) -> DealSums:
    """Return the sums over all comparisons."""
    deals = tuple(dict.fromkeys(comparison.deal for comparison in compared))
    row_of = {deal: row for row, deal in enumerate(deals)}
    column_of = {bot: column for column, bot in enumerate(bots)}
    shape = (len(deals), len(bots))
    tracks = len(compared[0].vectors[0]) if compared else 0
    games, wins, ranks, lowest = (np.zeros(shape) for _ in range(4))
    vectors, points = np.zeros((len(bots), tracks)), np.zeros((*shape, len(bots)))
    for comparison in compared:
        row, columns = row_of[comparison.deal], [column_of[bot] for bot in comparison.bots]
        for column, rank, share, vector in zip(
            columns, comparison.ranks, comparison.win_shares, comparison.vectors, strict=True
        ):
            games[row, column] += 1
            wins[row, column] += share
            ranks[row, column] += rank
            lowest[row, column] += vector[0]
            vectors[column] += vector
        ranked = zip(columns, comparison.ranks, strict=True)
        for (i, rank_i), (j, rank_j) in combinations(ranked, 2):
            if i != j:
                score = 0.5 if rank_i == rank_j else float(rank_i < rank_j)
                points[row, i, j] += score
                points[row, j, i] += 1 - score
    return DealSums(deals, games, wins, ranks, lowest, vectors, points)


# ---------------------------------------------------------------- luck


def seat_result(settings: ArenaSettings, game: ArenaGame, seat: int) -> float:
    """Return a seat's share of the win or, in one-player games, its lowest track."""
    if settings.players == 1:
        return float(min(game.scores[seat]))
    return 1 / game.place.count(1) if game.place[seat] == 1 else 0.0


def deal_variance_share(settings: ArenaSettings, rounds: Rounds, resamples: int) -> IntervalEstimate | None:
    """Return the deal's share of the variance not due to skill; `None` for fewer than two deals."""
    deals = list(dict.fromkeys(games[0].deal for games in rounds))
    if len(deals) < 2:
        return None
    row_of = {deal: row for row, deal in enumerate(deals)}
    results: dict[tuple[tuple[str, ...], str, int], list[tuple[int, float]]] = defaultdict(list)
    for games in rounds:
        line_up = tuple(sorted(bot for game in games for bot in game.seats))
        for game in games:
            for seat, bot in enumerate(game.seats):
                results[line_up, bot, seat].append((row_of[game.deal], seat_result(settings, game, seat)))
    shape = (len(deals), settings.players)
    total, squares, count = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for (_, _, seat), rows in results.items():
        mean = sum(value for _, value in rows) / len(rows)
        for row, value in rows:
            total[row, seat] += value - mean
            squares[row, seat] += (value - mean) ** 2
            count[row, seat] += 1
    products = (total**2 - squares).sum(axis=1)  # r · r' over ordered pairs of results
    pairs = (count**2 - count).sum(axis=1)
    columns = np.stack([products, pairs, squares.sum(axis=1), count.sum(axis=1)], axis=1)
    if not pairs.any() or not squares.any():
        return None
    samples = _variance_ratio(Bootstrap(len(deals), resamples).sums(columns))
    low, high = np.percentile(samples, INTERVAL_PERCENTILES)
    return IntervalEstimate(float(_variance_ratio(columns.sum(axis=0))), float(low), float(high))


def _variance_ratio(sums: np.ndarray) -> np.ndarray:
    products, pairs, squares, count = np.moveaxis(sums, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.nan_to_num((products / pairs) / (squares / count)))


class BotDifference(Struct, frozen=True):
    """Mean difference between the results of two bots on the same deal.

    `error` is the standard error, `independent_error` that of games on independent deals, and `games_ratio`
    the factor by which independent deals would need more games. `deal_counts` are the numbers of deals won by
    the first bot, tied, and won by the second.
    """

    value: float
    low: float | None
    high: float | None
    error: float | None
    independent_error: float | None = field(name="error_alone")
    games_ratio: float | None = field(name="times_the_games")
    deal_counts: tuple[int, int, int] = field(name="level")


def bot_differences(
    settings: ArenaSettings, rounds: Rounds, resamples: int
) -> dict[tuple[str, str], BotDifference]:
    """Return the difference of each pair of bots that have a line-up (one player: a deal) in common."""
    found = {}
    for pair in combinations(settings.bots, 2):
        if by_deal := _differences_by_deal(settings, rounds, pair):
            by_game = _differences_by_game(settings, rounds, pair)
            found[pair] = _bot_difference(settings, by_deal, by_game, resamples)
    return found


def _differences_by_deal(settings: ArenaSettings, rounds: Rounds, pair: tuple[str, str]) -> list[float]:
    """Return the difference between the mean results of the two bots on each deal."""
    differences: dict[int, list[float]] = defaultdict(list)
    for games in rounds:
        first, second = (_results_of(settings, games, bot) for bot in pair)
        if first and second:
            differences[games[0].deal].append(fmean(first) - fmean(second))
    return [fmean(deal) for deal in differences.values()]


def _differences_by_game(settings: ArenaSettings, rounds: Rounds, pair: tuple[str, str]) -> list[list[float]]:
    """Return the differences within games, by seating; in one-player games, the results of each bot."""
    games = [game for games in rounds for game in games]
    if settings.players == 1:
        return [_results_of(settings, games, bot) for bot in pair]
    differences: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for game in games:
        first, second = (_results_of(settings, [game], bot) for bot in pair)
        if first and second:
            differences[game.seats].append(fmean(first) - fmean(second))
    return list(differences.values())


def _results_of(settings: ArenaSettings, games: Sequence[ArenaGame], bot: str) -> list[float]:
    return [
        seat_result(settings, game, seat)
        for game in games
        for seat, name in enumerate(game.seats)
        if name == bot
    ]


def _bot_difference(
    settings: ArenaSettings, by_deal: list[float], by_game: list[list[float]], resamples: int
) -> BotDifference:
    column = np.array(by_deal)[:, None]
    ones = np.ones_like(column)
    bootstrap = Bootstrap(len(by_deal), resamples)
    if settings.players == 1:
        (estimate,) = bootstrap.means(column, ones)
    else:
        (rate,) = bootstrap.rates((column + 1) / 2, ones)  # maps [-1, 1] to [0, 1]; undone below
        assert rate.low is not None, "a rate has an interval"
        assert rate.high is not None, "a rate has an interval"
        estimate = IntervalEstimate(2 * rate.value - 1, 2 * rate.low - 1, 2 * rate.high - 1)
    counts = (sum(d > 0 for d in by_deal), sum(d == 0 for d in by_deal), sum(d < 0 for d in by_deal))
    error = independent = ratio = None
    if len(by_deal) > 1:
        error = float(np.std(by_deal, ddof=1) / np.sqrt(len(by_deal)))
        independent = _independent_error(settings, by_game)
        ratio = (independent / error) ** 2 if error else None
    return BotDifference(estimate.value, estimate.low, estimate.high, error, independent, ratio, counts)


def _independent_error(settings: ArenaSettings, by_game: list[list[float]]) -> float:
    """Return the standard error of the difference if every game were on a different deal."""
    # Seats are balanced in either design, so the variance between seats does not count.
    if settings.players == 1:
        return float(np.sqrt(sum(np.var(values, ddof=1) / len(values) for values in by_game)))
    total = sum(map(len, by_game))
    within = sum(float(np.var(values)) * len(values) for values in by_game)
    return float(np.sqrt(within / max(1, total - len(by_game)) / total))
