"""The best that can be done alone with a known deal: a line that was found, and what no line passes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import msgspec

from ..games.dominoes.bound import Bound, upper_bound
from ..record import Record, record_of
from ..table import Table
from .beam import Beam, Found
from .deals import Deal

WIDTH = 1000  # of a beam, where nothing else is said
FIRST_WIDTH = 16  # of the beams that grow while there is time
GROWTH = 2


class Result(msgspec.Struct, frozen=True):
    """What a line came to: points by colour, the same sorted, and how many tiles it placed."""

    scores: dict[str, int]
    points: tuple[int, ...]
    total: int
    tiles: int
    over: bool  # the game has ended; otherwise the tiles that are known ran out, or it was not played on
    moves: tuple[str, ...]

    @property
    def lowest(self) -> int:
        """The colour that decides."""
        return self.points[0]


class Limit(msgspec.Struct, frozen=True):
    """What no line passes: the sorted points, compared as results are, and the points together.

    With `exact` the sorted points are not only a bound but the best there is: every line was tried.
    """

    points: tuple[int, ...]
    total: int
    exact: bool


class Solution(msgspec.Struct, frozen=True, kw_only=True):
    """The best line that is known for a deal, replayed at a table, beside what no line passes."""

    game: str
    seed: str | None
    after: int  # moves that had been made
    known: int  # tiles that are known, from the start of the game on
    width: int  # of the widest beam that came to its end
    seconds: float
    best: Result
    bound: Limit
    gap: int  # in the lowest colour
    played: Result | None = None  # the recorded game, from beginning to end
    best_was_played: bool = False  # no beam found anything better than that


class _OutOfTime(Exception):
    """A beam is given up, because the time is over."""


def solve(
    deal: Deal,
    *,
    width: int | None = None,
    seconds: float | None = None,
    threads: int = 1,
    tick: Callable[[float], None] = lambda share: None,
) -> tuple[Solution, Record]:
    """Find the best line of a deal by a beam of this width; its record comes with it.

    With `seconds` beams grow until that time is over or the width is reached, which then may depend on how
    fast this machine is. `tick` is told how much is done, 0 to 1.
    """
    start = deal.table()
    bound = upper_bound(deal.variant, start.state, deal.kinds[start.plies :])
    beam = Beam(deal.variant, start.state, start.plies, deal.kinds, threads)
    beam.search(1)  # compiles the loops where that has not been done yet: it is no part of the time to search
    begun = time.monotonic()
    best, reached, exact = start, 0, start.over or start.plies == len(deal.kinds)
    if not exact:
        for found in _beams(beam, bound, width, seconds, tick):
            best = max(best, _replayed(deal, found), key=_sorted_points)
            reached, exact = found.width, found.exact
    played = deal.played
    best_was_played = False
    if played is not None and _comparable(played, deal) and _sorted_points(played) >= _sorted_points(best):
        best, best_was_played = played, True
    result = result_of(best)
    limit = Limit(result.points if exact else bound.points, bound.total, exact)
    solution = Solution(
        game=deal.variant.game.id,
        seed=None if deal.seed is None else str(deal.seed),
        after=start.plies,
        known=len(deal.kinds),
        width=reached,
        seconds=round(time.monotonic() - begun, 3),
        best=result,
        bound=limit,
        gap=limit.points[0] - result.lowest,
        played=None if played is None else result_of(played),
        best_was_played=best_was_played,
    )
    name = "the game as played" if best_was_played else f"a beam of width {reached}"
    return solution, record_of(best, [name], with_seed=deal.seed is not None)


def result_of(table: Table) -> Result:
    """What has been reached at a table of one player."""
    scores = table.scores[0]
    return Result(
        scores=scores,
        points=_sorted_points(table),
        total=sum(scores.values()),
        tiles=table.plies,
        over=table.over,
        moves=tuple(map(str, table.moves)),
    )


def _beams(
    beam: Beam, bound: Bound, width: int | None, seconds: float | None, tick: Callable[[float], None]
) -> Iterator[Found]:
    """One beam of the given width, or beams that grow; what each of them found."""
    if seconds is None:
        yield beam.search(width or WIDTH, tick)
        return
    begun = time.monotonic()
    now = min(FIRST_WIDTH, width or FIRST_WIDTH)

    def watch(share: float) -> None:
        spent = (time.monotonic() - begun) / seconds
        tick(min(spent, 1.0))
        if spent >= 1 and now > FIRST_WIDTH:  # the first beam takes no time, and there has to be an answer
            raise _OutOfTime

    while True:
        try:
            found = beam.search(now, watch)
        except _OutOfTime:
            return
        yield found
        if found.exact or found.points >= bound.points or now == width:
            return
        now = min(GROWTH * now, width or GROWTH * now)


def _replayed(deal: Deal, found: Found) -> Table:
    """A table at which the tiles of the deal came and the moves that were found have been made.

    No result is told that a table did not count itself.
    """
    table = deal.table()
    for action in found.actions:
        deal.play_at(table, deal.variant.decode(table.state, action))
    assert _sorted_points(table) == found.points, "the table counts what the beam has counted"
    return table


def _comparable(played: Table, deal: Deal) -> bool:
    """Whether a recorded game was played as far as lines of its deal are."""
    return played.over or played.plies == len(deal.kinds)


def _sorted_points(table: Table) -> tuple[int, ...]:
    return tuple(sorted(table.scores[0].values()))
