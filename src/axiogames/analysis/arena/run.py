"""Playing the remaining games of an arena, in one process or several."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from functools import partial

from ...parallel import BACKENDS, map_unordered
from .results import ArenaGame, ArenaResults, play_game, warm_up_bots
from .schedule import Schedule, Seating
from .sprt import SequentialTest
from .summary import deal_score


class ArenaRun:
    """An arena in progress: its remaining games, and the sequential test that may end it early."""

    def __init__(self, results: ArenaResults, deals: int) -> None:
        self.results = results
        self.settings = results.settings
        self.schedule = Schedule(self.settings.bots, self.settings.players)
        self.deals = deals
        self.test = SequentialTest(self.settings.sprt) if self.settings.sprt else None
        self._update_test()

    @property
    def total(self) -> int:
        """Number of games in the whole arena, including those already played."""
        return self.schedule.all_games_in(self.deals)

    @property
    def decided(self) -> bool:
        """Whether a sequential test has ended the arena early."""
        return self.test is not None and self.test.status.accepted is not None

    def remaining(self) -> Iterator[Seating]:
        """Yield the games that have not been played, in the order of the schedule."""
        for deal in range(self.deals):
            yield from (game for game in self.schedule.games(deal) if game not in self.results.played)

    def play(self, jobs: int = 1, backend: str = BACKENDS[0]) -> Generator[ArenaGame, None, None]:
        """Play the remaining games and yield each as it finishes; the caller adds it. Close it to stop."""
        remaining = list(self.remaining())
        if not remaining or self.decided:
            return
        warm_up_bots(self.settings)  # other processes then find the compiled rules in the cache
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
        """Feed the sequential test with the completed deals, in their order."""
        while self.test is not None and not self.decided:
            seatings = self.schedule.games(self.test.status.deals)
            if not all(seating in self.results.played for seating in seatings):
                return
            self.test.add(deal_score(self.settings, [self.results.played[s] for s in seatings]))
