"""Solving one-player deals with known draws: the best line found by beam search, and a proven upper bound."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import msgspec
from msgspec import UNSET

from ...errors import AxioError, InvalidPlayers
from ...games import GAMES, find_variant
from ...games.dominoes.bound import Bound, upper_bound
from ...games.dominoes.variant import DominoVariant
from ...games.variant import Variant
from ...model.events import Draw
from ...model.record import Record, record_of, replay
from ...model.table import Table
from ...moves import Move
from ...rng import Generator, seed_bytes
from .beam import Beam, BeamResult

DEFAULT_WIDTH = 1000  # of the beam
FIRST_WIDTH = 16  # of the first beam if the time is limited
GROWTH = 2  # factor from one width to the next

# ---------------------------------------------------------------- deals


@dataclass(frozen=True)
class SoloDeal:
    """A position of a one-player game, and the kinds of all known draws since the start, in their order.

    A deal without a seed comes from a record; its draws after the end of the record are unknown.
    """

    variant: DominoVariant
    kinds: tuple[int, ...]
    seed: int | str | None
    moves: tuple[str, ...] = ()  # from the start of the game to the position
    played: Table | None = None  # the recorded game, at its end

    def table(self) -> Table:
        """Return a new table at this position. It draws the tiles of the deal."""
        table = Table(self.variant, self.seed)
        self._draw_known(table)
        for move in self.moves:
            self.play_at(table, move)
        return table

    def play_at(self, table: Table, move: Move | str) -> None:
        """Play a move at a table of this deal, and draw the next tile. Raises `IllegalMove`."""
        table.play(move)
        self._draw_known(table)

    def _draw_known(self, table: Table) -> None:
        """Draw the tiles that are due at a table without a seed, as far as they are known."""
        while table.draw_due and table.plies < len(self.kinds):
            table.draw(self.variant.kinds[self.kinds[table.plies]])


def deal_from_seed(name: str, seed: int | str) -> SoloDeal:
    """Return the deal of the one-player game `name` with a seed.

    Raises:
        AxioError: the game cannot be solved, or the seed is invalid.
    """
    variant = solvable_variant(find_variant(name, 1))
    seed_bytes(seed)  # raises for an invalid seed
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
    return SoloDeal(variant, tuple(kinds), seed)


def deal_from_record(record: Record, *, plies: int | None = None) -> SoloDeal:
    """Return the deal of a recorded game, at the position after `plies` moves (0 by default).

    Raises:
        InvalidRecord: the record breaks the rules.
        AxioError: the game cannot be solved, has several players, or has fewer than `plies` moves.
    """
    played = replay(record)
    if played.players != 1:
        raise InvalidPlayers(f"the game has {played.players} players: only one-player games can be solved")
    variant = solvable_variant(played.variant)
    moves = tuple(map(str, played.moves))
    plies = plies or 0
    if not 0 <= plies <= len(moves):
        raise AxioError(f"ply {plies} is out of range: the game has {len(moves)} moves")
    if record.seed is not UNSET:
        kinds = deal_from_seed(variant.game.id, record.seed).kinds
        return SoloDeal(variant, kinds, record.seed, moves[:plies], played)
    drawn = (tile for event in played.events if isinstance(event, Draw) for tile in event.tiles)
    return SoloDeal(variant, tuple(_kind(variant, tile) for tile in drawn), None, moves[:plies], played)


def solvable_variant(variant: Variant) -> DominoVariant:
    """Return `variant` if its games can be solved. Raises `AxioError` otherwise."""
    if not isinstance(variant, DominoVariant):
        solvable = [name for name in GAMES if isinstance(find_variant(name, 1), DominoVariant)]
        raise AxioError(
            f"games of {variant.game.id} cannot be solved: only domino games can: {', '.join(solvable)}"
        )
    return variant


def _kind(variant: Variant, tile: str) -> int:
    kind = variant.kind_of(tile)
    assert kind is not None, "the record has been replayed"
    return kind


# ---------------------------------------------------------------- solutions


class LineResult(msgspec.Struct, frozen=True):
    """The result of a line: points by colour, points in ascending order, and number of tiles placed."""

    scores: dict[str, int]
    points: tuple[int, ...]
    total: int
    tiles: int
    over: bool  # False if the line ends because no further draws are known
    moves: tuple[str, ...]

    @property
    def lowest(self) -> int:
        """Points of the lowest colour, which decides the game."""
        return self.points[0]


class ResultBound(msgspec.Struct, frozen=True):
    """An upper bound on all lines: the sorted points, compared lexicographically, and the total.

    If `exact`, the sorted points are the optimum, because all lines were searched.
    """

    points: tuple[int, ...]
    total: int
    exact: bool


class Solution(msgspec.Struct, frozen=True, kw_only=True):
    """The best known line of a deal, replayed at a table, and the upper bound."""

    game: str
    seed: str | None
    after: int  # number of moves before the position
    known: int  # number of known draws since the start of the game
    width: int  # width of the widest completed beam
    seconds: float
    best: LineResult
    bound: ResultBound
    gap: int  # bound minus best line, in points of the lowest colour
    played: LineResult | None = None  # the recorded game
    best_was_played: bool = False  # whether the recorded game is at least as good as every line found


def solve(
    deal: SoloDeal,
    *,
    width: int | None = None,
    seconds: float | None = None,
    threads: int = 1,
    on_progress: Callable[[float], None] = lambda share: None,
) -> tuple[Solution, Record]:
    """Find the best line of a deal by beam search.

    Args:
        deal: the deal to solve.
        width: width of the beam, by default `DEFAULT_WIDTH`; with `seconds`, the largest width.
        seconds: time limit for searching beams of increasing width. The result then depends on the speed of
            the machine.
        threads: number of threads; it does not affect the result.
        on_progress: called with the completed share of the work, from 0 to 1.

    Returns:
        The solution and a record of its best line.
    """
    start = deal.table()
    bound = upper_bound(deal.variant, start.state, deal.kinds[start.plies :])
    beam = Beam(deal.variant, start.state, start.plies, deal.kinds, threads)
    beam.search(1)  # compiles the loops if necessary; compilation does not count as search time
    started = time.monotonic()
    best, reached, exact = start, 0, start.over or start.plies == len(deal.kinds)
    if not exact:
        for found in _search_beams(beam, bound, width, seconds, on_progress):
            best = max(best, _replay_line(deal, found), key=_sorted_points)
            reached, exact = found.width, found.exact
    played = deal.played
    best_was_played = False
    if played is not None and _comparable(played, deal) and _sorted_points(played) >= _sorted_points(best):
        best, best_was_played = played, True
    result = line_result(best)
    proven = ResultBound(result.points if exact else bound.points, bound.total, exact)
    solution = Solution(
        game=deal.variant.game.id,
        seed=None if deal.seed is None else str(deal.seed),
        after=start.plies,
        known=len(deal.kinds),
        width=reached,
        seconds=round(time.monotonic() - started, 3),
        best=result,
        bound=proven,
        gap=proven.points[0] - result.lowest,
        played=None if played is None else line_result(played),
        best_was_played=best_was_played,
    )
    name = "the game as played" if best_was_played else f"a beam of width {reached}"
    return solution, record_of(best, [name], with_seed=deal.seed is not None)


def line_result(table: Table) -> LineResult:
    """Return the result at a one-player table."""
    scores = table.scores[0]
    return LineResult(
        scores=scores,
        points=_sorted_points(table),
        total=sum(scores.values()),
        tiles=table.plies,
        over=table.over,
        moves=tuple(map(str, table.moves)),
    )


class _OutOfTime(Exception):
    """Raised to abandon a beam search at its time limit."""


def _search_beams(
    beam: Beam,
    bound: Bound,
    width: int | None,
    seconds: float | None,
    on_progress: Callable[[float], None],
) -> Iterator[BeamResult]:
    """Yield the best line of a beam of this width or, with a time limit, of beams of increasing width."""
    if seconds is None:
        yield beam.search(width or DEFAULT_WIDTH, on_progress)
        return
    started = time.monotonic()
    current = min(FIRST_WIDTH, width or FIRST_WIDTH)

    def check_time(_: float) -> None:
        spent = (time.monotonic() - started) / seconds
        on_progress(min(spent, 1.0))
        if spent >= 1 and current > FIRST_WIDTH:  # the first beam is fast and is always completed
            raise _OutOfTime

    while True:
        try:
            found = beam.search(current, check_time)
        except _OutOfTime:
            return
        yield found
        if found.exact or found.points >= bound.points or current == width:
            return
        current = min(GROWTH * current, width or GROWTH * current)


def _replay_line(deal: SoloDeal, found: BeamResult) -> Table:
    """Replay a line at a table, so that the rules count its points, and return the table."""
    table = deal.table()
    for action in found.actions:
        deal.play_at(table, deal.variant.decode(table.state, action))
    assert _sorted_points(table) == found.points, "the table and the beam must count the same points"
    return table


def _comparable(played: Table, deal: SoloDeal) -> bool:
    """Return whether a recorded game is as long as the lines of its deal, so that their results compare."""
    return played.over or played.plies == len(deal.kinds)


def _sorted_points(table: Table) -> tuple[int, ...]:
    return tuple(sorted(table.scores[0].values()))
