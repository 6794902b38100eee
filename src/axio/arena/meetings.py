"""From games to what figures are made of: who met whom on which deal, and how it ended.

Only whole tables count: the games of a line-up on a deal, all of them. In anything less the luck of the deal
and of the seats would not have cancelled.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from .games import Played
from .schedule import Schedule, Seating
from .settings import Settings

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
