"""The best that can be done alone with a known deal: a line that was found, and what no line passes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import UNSET

from ...errors import AxioError, InvalidPlayers
from ...games import find_variant
from ...games.dominoes.bound import Bound, upper_bound
from ...games.dominoes.variant import DominoVariant
from ...games.variant import Variant
from ...model.events import Draw
from ...model.record import Record, record_of, replay
from ...model.table import Table
from ...rng import Generator, seed_bytes
from .beam import Beam, Found


@dataclass(frozen=True)
class Deal:
    """A position of play alone and the kinds of tiles that come from the start of the game on.

    Without a seed the kinds are those of a record: what would have come after them, nobody knows.
    """

    variant: DominoVariant
    kinds: tuple[int, ...]
    seed: int | str | None
    moves: tuple[str, ...] = ()  # that have been made already
    played: Table | None = None  # the game that the deal was taken from

    def table(self) -> Table:
        """A new table at which these tiles come, with the moves made that have been."""
        table = Table(self.variant, self.seed)
        self.deal_to(table)
        for move in self.moves:
            self.play_at(table, move)
        return table

    def play_at(self, table: Table, move: Any) -> None:
        """Make a move at a table of this deal, and let the next tile come. Raises `IllegalMove`."""
        table.play(move)
        self.deal_to(table)

    def deal_to(self, table: Table) -> None:
        """Draw what is due at a table without a seed, as far as it is known."""
        while table.draw_due and table.plies < len(self.kinds):
            table.draw(self.variant.kinds[self.kinds[table.plies]])


def deal_of_seed(name: str, seed: int | str) -> Deal:
    """The deal that a table of this game for one player makes from a seed. Raises `AxioError`."""
    variant = solvable(find_variant(name, 1))
    seed_bytes(seed)  # raises for a seed that cannot be written
    bag = [variant.tileset[kind] for kind in variant.kinds]
    rng = Generator(f"{seed}/deal")
    kinds = []
    while left := sum(bag):
        nth, kind = rng.randint(left), 0
        while nth >= bag[kind]:
            nth -= bag[kind]
            kind += 1
        bag[kind] -= 1
        kinds.append(kind)
    return Deal(variant, tuple(kinds), seed)


def deal_of_record(record: Record, *, plies: int | None = None) -> Deal:
    """The deal of a recorded game, after the first so many of its moves (none, if nothing is said).

    Raises `InvalidRecord` for a record that the rules contradict, and `AxioError` for a game that is not
    one player's, or has not so many moves.
    """
    played = replay(record)
    if played.players != 1:
        raise InvalidPlayers(
            f"this is a game of {played.players} players; only games of one player can be solved"
        )
    variant = solvable(played.variant)
    moves = tuple(map(str, played.moves))
    plies = plies or 0
    if not 0 <= plies <= len(moves):
        raise AxioError(f"there is no move {plies} in this game: 0 to {len(moves)}")
    if record.seed is not UNSET:
        kinds = deal_of_seed(variant.game.id, record.seed).kinds
        return Deal(variant, kinds, record.seed, moves[:plies], played)
    drawn = (tile for event in played.events if isinstance(event, Draw) for tile in event.tiles)
    return Deal(variant, tuple(_kind(variant, tile) for tile in drawn), None, moves[:plies], played)


def solvable(variant: Variant) -> DominoVariant:
    """The variant, if its games can be solved. Raises `AxioError`."""
    if not isinstance(variant, DominoVariant):
        raise AxioError(f"games of {variant.game.id} cannot be solved yet, only those with dominoes")
    return variant


def _kind(variant: Variant, tile: str) -> int:
    kind = variant.kind_of(tile)
    assert kind is not None, "the record has been replayed"
    return kind


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
