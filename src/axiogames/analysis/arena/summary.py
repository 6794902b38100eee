"""Summary of an arena: the figures that are printed, written as JSON, and shown in the report."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
from msgspec import Struct, field

from .ratings import OpenSkillRating, elo_ratings, openskill_ratings
from .results import ArenaGame
from .schedule import ArenaSettings, Seating
from .sprt import SequentialTest, SprtStatus
from .statistics import (
    RESAMPLES,
    Bootstrap,
    BotDifference,
    DealSums,
    IntervalEstimate,
    Rounds,
    bot_differences,
    comparisons,
    complete_rounds,
    deal_variance_share,
    sum_by_deal,
)


class BotStats(Struct, frozen=True):
    """Results of a bot. In one-player games, the winner of a deal is the bot with the best result on it."""

    bot: str
    games: int
    win_rate: IntervalEstimate
    mean_place: IntervalEstimate
    mean_lowest: IntervalEstimate
    mean_vector: tuple[float, ...]
    elo: IntervalEstimate
    openskill: OpenSkillRating | None
    moves: int
    seconds_per_move: float = field(name="seconds_a_move")
    slowest_move: float


class PairStats(Struct, frozen=True):
    """Two bots compared: the rate at which the first ranked higher (ties count half), and the difference."""

    bots: tuple[str, str]
    compared: int
    ahead: IntervalEstimate
    difference: BotDifference


class SeatStats(Struct, frozen=True):
    """Win rate of a seat, over all bots."""

    seat: int
    win_rate: IntervalEstimate


class ArenaSummary(Struct, frozen=True):
    """Figures of the complete rounds. `uncounted` is the number of games outside complete rounds."""

    settings: ArenaSettings
    games: int
    deals: int
    uncounted: int = field(name="left_out")
    bots: tuple[BotStats, ...]
    pairs: tuple[PairStats, ...]
    seats: tuple[SeatStats, ...]
    deal_variance_share: IntervalEstimate | None = field(name="share_of_the_deal")
    sprt: SprtStatus | None
    machines: tuple[str, ...] = ()

    def ranking(self) -> list[BotStats]:
        """Return the bots, best first: by Elo or, in one-player games, by mean points, lowest track first."""
        solo = self.settings.players == 1
        return sorted(self.bots, key=lambda bot: bot.mean_vector if solo else (bot.elo.value,), reverse=True)


def summarise(
    settings: ArenaSettings,
    played: Mapping[Seating, ArenaGame],
    *,
    resamples: int = RESAMPLES,
    openskill: bool = True,
) -> ArenaSummary:
    """Return the summary of these games, which does not depend on their order.

    Args:
        settings: settings of the arena.
        played: the games played so far.
        resamples: number of bootstrap resamples.
        openskill: whether to compute OpenSkill ratings, the slowest part.
    """
    rounds, sprt = counted_rounds(settings, played)
    if not rounds:
        return ArenaSummary(settings, 0, 0, len(played), (), (), (), None, sprt)
    compared = comparisons(settings, rounds)
    sums = sum_by_deal(settings.bots, compared)
    games = sum(map(len, rounds))
    skills = openskill_ratings(settings.bots, compared) if openskill else {}
    return ArenaSummary(
        settings,
        games,
        len(sums.deals),
        len(played) - games,
        _bot_stats(settings, rounds, sums, resamples, skills),
        _pair_stats(settings, rounds, sums, resamples),
        _seat_stats(settings, rounds, resamples),
        deal_variance_share(settings, rounds, resamples),
        sprt,
        tuple(sorted({game.machine for games in rounds for game in games if game.machine})),
    )


def counted_rounds(
    settings: ArenaSettings, played: Mapping[Seating, ArenaGame]
) -> tuple[Rounds, SprtStatus | None]:
    """Return the rounds that count, and the status of the sequential test if there is one.

    The test uses the deals before the first incomplete one. Games played after its end do not count, because
    their number depends on how many games were in progress at that moment.
    """
    rounds = complete_rounds(settings, played)
    if settings.sprt is None:
        return rounds, None
    test = SequentialTest(settings.sprt)
    for deal, games in enumerate(rounds):
        if games[0].deal != deal:
            break
        if test.add(deal_score(settings, games)).accepted is not None:
            return rounds[: deal + 1], test.status
    return rounds, test.status


def deal_score(settings: ArenaSettings, games: list[ArenaGame]) -> float:
    """Return the score of the first bot on a deal, from 0 to 1."""
    first = settings.bots[0]
    shares = [
        share
        for comparison in comparisons(settings, [games])
        for bot, share in zip(comparison.bots, comparison.win_shares, strict=True)
        if bot == first
    ]
    return sum(shares) / len(shares)


def _bot_stats(
    settings: ArenaSettings,
    rounds: Rounds,
    sums: DealSums,
    resamples: int,
    skills: Mapping[str, OpenSkillRating],
) -> tuple[BotStats, ...]:
    bootstrap = Bootstrap(len(sums.deals), resamples)
    wins = bootstrap.rates(sums.wins, sums.games)
    ranks = bootstrap.means(sums.ranks, sums.games)
    lowest = bootstrap.means(sums.lowest, sums.games)
    ratings = elo_ratings(sums.points, bootstrap)
    games = sums.games.sum(axis=0)
    times = _thinking_times(settings, rounds)
    return tuple(
        BotStats(
            bot,
            int(games[n]),
            wins[n],
            ranks[n],
            lowest[n],
            tuple((sums.vectors[n] / games[n]).tolist()),
            ratings[n],
            skills.get(bot),
            times[bot][0],
            times[bot][1] / max(1, times[bot][0]),
            times[bot][2],
        )
        for n, bot in enumerate(settings.bots)
    )


def _thinking_times(settings: ArenaSettings, rounds: Rounds) -> dict[str, tuple[int, float, float]]:
    """Return, by bot, the number of moves, their total seconds, and the seconds of the slowest move."""
    times = dict.fromkeys(settings.bots, (0, 0.0, 0.0))
    for game in (game for games in rounds for game in games):
        for seat, bot in enumerate(game.seats):
            moves, seconds, slowest = times[bot]
            times[bot] = (
                moves + game.moves[seat],
                seconds + game.seconds[seat],
                max(slowest, game.slowest[seat]),
            )
    return times


def _pair_stats(
    settings: ArenaSettings, rounds: Rounds, sums: DealSums, resamples: int
) -> tuple[PairStats, ...]:
    found = []
    differences = bot_differences(settings, rounds, resamples)
    for (i, first), (j, second) in combinations(enumerate(settings.bots), 2):
        ahead = sums.points[:, i, j]
        compared = ahead + sums.points[:, j, i]
        common = compared > 0  # deals on which the two bots have played in one line-up
        if not common.any():
            continue
        bootstrap = Bootstrap(int(common.sum()), resamples)
        (rate,) = bootstrap.rates(ahead[common, None], compared[common, None])
        found.append(PairStats((first, second), int(compared.sum()), rate, differences[first, second]))
    return tuple(found)


def _seat_stats(settings: ArenaSettings, rounds: Rounds, resamples: int) -> tuple[SeatStats, ...]:
    if settings.players == 1:
        return ()
    row_of = {deal: row for row, deal in enumerate(dict.fromkeys(games[0].deal for games in rounds))}
    won = np.zeros((len(row_of), settings.players))
    for comparison in comparisons(settings, rounds):
        won[row_of[comparison.deal]] += comparison.win_shares
    games = np.repeat(won.sum(axis=1, keepdims=True), settings.players, axis=1)
    rates = Bootstrap(len(row_of), resamples).rates(won, games)
    return tuple(SeatStats(seat, rate) for seat, rate in enumerate(rates))
