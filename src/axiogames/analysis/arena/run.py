"""Playing the games of an arena, in one process or several."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, cycle, islice
from time import perf_counter

import numpy as np

from ...model.events import Result
from ...model.position import Position
from ...model.view import View
from ...parallel import BACKENDS, map_unordered
from ...players import Budget, Choice, Player
from ...players.bulk.games import bulk_games, policies_of
from ...players.engines.specs import open_players, warm_up
from ...players.match import play_match
from ...rng import Generator as RandomGenerator
from ..provenance import describe_machine
from .results import ArenaGame, ArenaResults
from .schedule import ArenaSettings, Schedule, Seating
from .sprt import SequentialTest
from .summary import deal_score

BULK_GAMES_PER_PIECE = 32


@dataclass(slots=True)
class TimedPlayer:
    """A player whose thinking time is measured."""

    player: Player
    moves: int = 0
    seconds: float = 0.0
    slowest: float = 0.0

    @property
    def name(self) -> str:
        return self.player.name

    def choose(self, view: View, budget: Budget, rng: RandomGenerator) -> Choice:
        start = perf_counter()
        choice = self.player.choose(view, budget, rng)
        elapsed = perf_counter() - start
        self.moves += 1
        self.seconds += elapsed
        self.slowest = max(self.slowest, elapsed)
        return choice


def play_games(settings: ArenaSettings, seatings: Sequence[Seating]) -> list[ArenaGame]:
    """Play scheduled games."""
    return [play_game(settings, seating) for seating in seatings]


def play_game(settings: ArenaSettings, seating: Seating) -> ArenaGame:
    """Play a scheduled game. Settings and seating determine the result, except for thinking times.

    Deal d has the seed SEED/d for all line-ups. Each seat has its own random generator.
    """
    warm_up_bots(settings)
    policies = policies_of(seating.seats)
    if policies is not None:
        return play_in_bulk(settings, seating, policies)
    return play_at_table(settings, seating)


def play_in_bulk(settings: ArenaSettings, seating: Seating, policies: np.ndarray) -> ArenaGame:
    """Play a game of simple bots in compiled code.

    Compiled code reads no clock. The time of the game, rules included, is divided among the seats by moves,
    and the slowest move is stored as 0.
    """
    bulk = bulk_games(settings.variant)
    start = perf_counter()
    played = bulk.play(f"{settings.seed}/{seating.deal}", policies)
    moves = played.moves_by_seat()
    per_move = (perf_counter() - start) / sum(moves)
    thinking = [(count, count * per_move, 0.0) for count in moves]
    return _arena_game(seating, Position(settings.variant, played.states[-1:]).result, thinking)


def play_at_table(settings: ArenaSettings, seating: Seating) -> ArenaGame:
    """Play a game of any players and measure their thinking times."""
    options = dict.fromkeys(settings.options, True)
    with open_players(seating.seats) as players:
        timed = [TimedPlayer(player) for player in players]
        table = play_match(settings.game, timed, f"{settings.seed}/{seating.deal}", options=options)
    thinking = [(player.moves, player.seconds, player.slowest) for player in timed]
    return _arena_game(seating, table.result, thinking)


def _arena_game(
    seating: Seating, result: Result | None, thinking: Sequence[tuple[int, float, float]]
) -> ArenaGame:
    """Return a finished game. `thinking` has a row per seat: moves, their seconds, those of the slowest."""
    assert result is not None, "a match is played to its end"
    moves, seconds, slowest = zip(*thinking, strict=True)
    return ArenaGame(
        seating.deal,
        seating.seats,
        tuple(tuple(points.values()) for points in result.scores),
        result.place,
        moves,
        tuple(round(total, 6) for total in seconds),
        tuple(round(longest, 6) for longest in slowest),
        describe_machine(),
    )


@cache
def warm_up_bots(settings: ArenaSettings) -> None:
    """Let every bot choose a move once in this process, so that compiling and loading are not timed."""
    specs = [bot for bot in settings.bots if policies_of((bot,)) is None]
    simple = tuple(bot for bot in settings.bots if bot not in specs)
    if simple:
        seats = tuple(islice(cycle(simple), settings.players))
        policies = policies_of(seats)
        assert policies is not None, "all of them are simple bots"
        bulk_games(settings.variant).play("warm-up", policies)
    warm_up(settings.variant, settings.bots if specs else ())


class ArenaRun:
    """An arena in progress: its remaining games and, optionally, a sequential test that may end it early.

    Args:
        results: results of the games played so far.
        deals: number of deals of the whole arena.
    """

    def __init__(self, results: ArenaResults, deals: int) -> None:
        self.results = results
        self.settings = results.settings
        self.schedule = Schedule(self.settings.bots, self.settings.players)
        self.deals = deals
        self.test = SequentialTest(self.settings.sprt) if self.settings.sprt else None
        self._update_test()

    @property
    def total(self) -> int:
        """Number of games of the whole arena, including those already played."""
        return self.schedule.total_games_in(self.deals)

    @property
    def decided(self) -> bool:
        """Whether a sequential test has ended the arena early."""
        return self.test is not None and self.test.status.accepted is not None

    def remaining(self) -> Iterator[Seating]:
        """Yield the games that have not been played, in schedule order."""
        for deal in range(self.deals):
            yield from (game for game in self.schedule.games(deal) if game not in self.results.played)

    def play(self, jobs: int = 1, backend: str = BACKENDS[0]) -> Generator[ArenaGame, None, None]:
        """Play the remaining games and yield each one when it finishes.

        The caller passes it to `add`. Close the generator to stop early.
        """
        remaining = list(self.remaining())
        if not remaining or self.decided:
            return
        warm_up_bots(self.settings)  # fills the compile cache, which other processes use
        pieces = list(self._pieces(remaining, jobs))
        with closing(map_unordered(partial(play_games, self.settings), pieces, jobs, backend)) as played:
            for game in chain.from_iterable(played):
                yield game
                if self.decided:
                    return

    def _pieces(self, remaining: Sequence[Seating], jobs: int) -> Iterator[Sequence[Seating]]:
        """Yield the games that a process plays before it returns their results.

        Games of simple bots take less time than sending a result, so a process plays several.
        """
        size = 1 if jobs == 1 or policies_of(self.settings.bots) is None else BULK_GAMES_PER_PIECE
        for start in range(0, len(remaining), size):
            yield remaining[start : start + size]

    def add(self, game: ArenaGame) -> None:
        """Store a game and update the sequential test."""
        self.results.add(game)
        self._update_test()

    def _update_test(self) -> None:
        """Add the completed deals to the sequential test, in schedule order."""
        while self.test is not None and not self.decided:
            seatings = self.schedule.games(self.test.status.deals)
            if not all(seating in self.results.played for seating in seatings):
                return
            self.test.add(deal_score(self.settings, [self.results.played[s] for s in seatings]))
