"""All figures of an arena in one structure: what is shown, printed as JSON and reported."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
from msgspec import Struct

from .ratings import Skill, elo, openskill
from .results import Played
from .schedule import Seating, Settings
from .sprt import Standing, Watch
from .statistics import (
    RESAMPLES,
    Bootstrap,
    Difference,
    Estimate,
    Sums,
    Tables,
    add_up,
    differences,
    meetings,
    share_of_the_deal,
    whole_tables,
)


class BotFigures(Struct, frozen=True):
    """How a bot did. Alone at the table, a win is to have done best on a deal."""

    bot: str
    games: int
    win_rate: Estimate
    mean_place: Estimate
    mean_lowest: Estimate
    mean_vector: tuple[float, ...]
    elo: Estimate
    openskill: Skill | None
    moves: int
    seconds_a_move: float
    slowest_move: float


class PairFigures(Struct, frozen=True):
    """Two bots compared: how often the first was ahead (a draw is half), and by how much on shared deals."""

    bots: tuple[str, str]
    compared: int
    ahead: Estimate
    difference: Difference


class SeatFigures(Struct, frozen=True):
    """How often a seat won, whoever sat there."""

    seat: int
    win_rate: Estimate


class Summary(Struct, frozen=True):
    """The figures of whole tables. `games` counts their games, `left_out` those of tables not yet whole."""

    settings: Settings
    games: int
    deals: int
    left_out: int
    bots: tuple[BotFigures, ...]
    pairs: tuple[PairFigures, ...]
    seats: tuple[SeatFigures, ...]
    share_of_the_deal: Estimate | None
    sprt: Standing | None
    machines: tuple[str, ...] = ()  # on which the games were played

    def ranking(self) -> list[BotFigures]:
        """The bots, the strongest first: by Elo or, alone, by their mean points, the lowest first."""
        alone = self.settings.players == 1
        return sorted(self.bots, key=lambda bot: bot.mean_vector if alone else (bot.elo.value,), reverse=True)


def summarise(
    settings: Settings,
    played: Mapping[Seating, Played],
    *,
    resamples: int = RESAMPLES,
    skill: bool = True,
) -> Summary:
    """The figures of these games, in whatever order they came. Without `skill`, OpenSkill is left out."""
    tables, sprt = counted(settings, played)
    if not tables:
        return Summary(settings, 0, 0, len(played), (), (), (), None, sprt)
    met = meetings(settings, tables)
    sums = add_up(settings.bots, met)
    games = sum(map(len, tables))
    return Summary(
        settings,
        games,
        len(sums.deals),
        len(played) - games,
        _bots(settings, tables, sums, resamples, openskill(settings.bots, met) if skill else {}),
        _pairs(settings, tables, sums, resamples),
        _seats(settings, tables, resamples),
        share_of_the_deal(settings, tables, resamples),
        sprt,
        tuple(sorted({game.machine for table in tables for game in table if game.machine})),
    )


def counted(settings: Settings, played: Mapping[Seating, Played]) -> tuple[Tables, Standing | None]:
    """The tables that count, and where the sequential test stands, if there is one.

    The test looks at the deals up to the first that is not whole. What was played after it had ended is not
    counted: that depends on how many games were under way just then.
    """
    tables = whole_tables(settings, played)
    if settings.sprt is None:
        return tables, None
    watch = Watch(settings.sprt)
    for deal, table in enumerate(tables):
        if table[0].deal != deal:
            break
        if watch.add(score_of_the_deal(settings, table)).accepted is not None:
            return tables[: deal + 1], watch.standing
    return tables, watch.standing


def score_of_the_deal(settings: Settings, table: list[Played]) -> float:
    """What the first bot scored on a deal, from 0 to 1."""
    first = settings.bots[0]
    shares = [
        share
        for met in meetings(settings, [table])
        for bot, share in zip(met.bots, met.shares, strict=True)
        if bot == first
    ]
    return sum(shares) / len(shares)


def _bots(
    settings: Settings, tables: Tables, sums: Sums, resamples: int, skills: Mapping[str, Skill]
) -> tuple[BotFigures, ...]:
    bootstrap = Bootstrap(len(sums.deals), resamples)
    wins = bootstrap.rates(sums.wins, sums.games)
    places = bootstrap.means(sums.places, sums.games)
    lowest = bootstrap.means(sums.lowest, sums.games)
    ratings = elo(sums.points, bootstrap)
    games = sums.games.sum(axis=0)
    clocks = _clocks(settings, tables)
    return tuple(
        BotFigures(
            bot,
            int(games[n]),
            wins[n],
            places[n],
            lowest[n],
            tuple((sums.vectors[n] / games[n]).tolist()),
            ratings[n],
            skills.get(bot),
            clocks[bot][0],
            clocks[bot][1] / max(1, clocks[bot][0]),
            clocks[bot][2],
        )
        for n, bot in enumerate(settings.bots)
    )


def _clocks(settings: Settings, tables: Tables) -> dict[str, tuple[int, float, float]]:
    """Moves, seconds, and seconds of the slowest move of each bot."""
    clocks = dict.fromkeys(settings.bots, (0, 0.0, 0.0))
    for game in (game for table in tables for game in table):
        for seat, bot in enumerate(game.seats):
            moves, seconds, slowest = clocks[bot]
            clocks[bot] = (
                moves + game.moves[seat],
                seconds + game.seconds[seat],
                max(slowest, game.slowest[seat]),
            )
    return clocks


def _pairs(settings: Settings, tables: Tables, sums: Sums, resamples: int) -> tuple[PairFigures, ...]:
    found = []
    apart = differences(settings, tables, resamples)
    for (i, one), (j, other) in combinations(enumerate(settings.bots), 2):
        ahead = sums.points[:, i, j]
        compared = ahead + sums.points[:, j, i]
        on = compared > 0  # deals on which both have played at the same tables
        if not on.any():
            continue
        (rate,) = Bootstrap(int(on.sum()), resamples).rates(ahead[on, None], compared[on, None])
        found.append(PairFigures((one, other), int(compared.sum()), rate, apart[one, other]))
    return tuple(found)


def _seats(settings: Settings, tables: Tables, resamples: int) -> tuple[SeatFigures, ...]:
    if settings.players == 1:
        return ()
    deals = {deal: row for row, deal in enumerate(dict.fromkeys(table[0].deal for table in tables))}
    won = np.zeros((len(deals), settings.players))
    for met in meetings(settings, tables):
        won[deals[met.deal]] += met.shares
    of = np.repeat(won.sum(axis=1, keepdims=True), settings.players, axis=1)
    rates = Bootstrap(len(deals), resamples).rates(won, of)
    return tuple(SeatFigures(seat, rate) for seat, rate in enumerate(rates))
