"""Playing what is left of an arena, in this process or in many."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from functools import partial

from ...parallel import BACKENDS, map_unordered
from .results import Played, Results, play, warm
from .schedule import Schedule, Seating
from .sprt import Watch
from .summary import score_of_the_deal


class Run:
    """An arena being played: which games are left, and whether a sequential test has ended it."""

    def __init__(self, results: Results, deals: int) -> None:
        self.results = results
        self.settings = results.settings
        self.schedule = Schedule(self.settings.bots, self.settings.players)
        self.deals = deals
        self.watch = Watch(self.settings.sprt) if self.settings.sprt else None
        self._follow()

    @property
    def total(self) -> int:
        """All games, those played before included."""
        return self.schedule.all_games_in(self.deals)

    @property
    def decided(self) -> bool:
        """Whether a sequential test has ended the arena early."""
        return self.watch is not None and self.watch.standing.accepted is not None

    def left(self) -> Iterator[Seating]:
        """The games that have not been played, in the order of the schedule."""
        for deal in range(self.deals):
            yield from (game for game in self.schedule.games(deal) if game not in self.results.played)

    def play(self, jobs: int = 1, backend: str = BACKENDS[0]) -> Generator[Played, None, None]:
        """Play the games that are left and give each to whoever asks, to `add` it. Close it to stop."""
        left = list(self.left())
        if not left or self.decided:
            return
        warm(self.settings)  # other processes then find the compiled rules in the cache
        with closing(map_unordered(partial(play, self.settings), left, jobs, backend)) as games:
            for game in games:
                yield game
                if self.decided:
                    return

    def add(self, game: Played) -> None:
        """Keep a game that was played."""
        self.results.add(game)
        self._follow()

    def _follow(self) -> None:
        """Tell the sequential test of the deals that are whole, in their order."""
        while self.watch is not None and not self.decided:
            seatings = self.schedule.games(self.watch.standing.deals)
            if not all(seating in self.results.played for seating in seatings):
                return
            self.watch.add(score_of_the_deal(self.settings, [self.results.played[s] for s in seatings]))
