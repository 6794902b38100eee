"""Playing the games of an arena, in one process or several."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cache, partial
from time import perf_counter

from ...model.view import View
from ...parallel import BACKENDS, map_unordered
from ...players import Budget, Choice, Player
from ...players.engines.specs import open_players, warm_up
from ...players.match import play_match
from ...rng import Generator as RandomGenerator
from ..provenance import describe_machine
from .results import ArenaGame, ArenaResults
from .schedule import ArenaSettings, Schedule, Seating
from .sprt import SequentialTest
from .summary import deal_score


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


def play_game(settings: ArenaSettings, seating: Seating) -> ArenaGame:
    """Play a scheduled game. Settings and seating determine the result, except for thinking times.

    Deal d has the seed SEED/d for all line-ups. Each seat has its own random generator.
    """
    warm_up_bots(settings)
    options = dict.fromkeys(settings.options, True)
    with open_players(seating.seats) as players:
        timed = [TimedPlayer(player) for player in players]
        table = play_match(settings.game, timed, f"{settings.seed}/{seating.deal}", options=options)
    result = table.result
    assert result is not None, "a match is played to its end"
    return ArenaGame(
        seating.deal,
        seating.seats,
        tuple(tuple(points.values()) for points in result.scores),
        result.place,
        tuple(player.moves for player in timed),
        tuple(round(player.seconds, 6) for player in timed),
        tuple(round(player.slowest, 6) for player in timed),
        describe_machine(),
    )


@cache
def warm_up_bots(settings: ArenaSettings) -> None:
    """Let every bot choose a move once in this process, so that compiling and loading are not timed."""
    warm_up(settings.variant, settings.bots)


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
        with closing(map_unordered(partial(play_game, self.settings), remaining, jobs, backend)) as games:
            for game in games:
                yield game
                if self.decided:
                    return

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
