"""Playing one game of an arena, and what is kept of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from time import perf_counter

from msgspec import Struct

from ..chance import Generator
from ..games import find_variant
from ..machine import machine
from ..match import play_match
from ..players import Budget, Choice, Player
from ..talk.players import seated, warm_up
from ..view import View
from .schedule import Seating
from .settings import Settings


class Played(Struct, frozen=True):
    """A game that was played: for each seat its points by track, its place, and how long its bot thought."""

    deal: int
    seats: tuple[str, ...]
    scores: tuple[tuple[int, ...], ...]
    place: tuple[int, ...]
    moves: tuple[int, ...]
    seconds: tuple[float, ...]
    slowest: tuple[float, ...]
    machine: str = ""  # where it was played

    @property
    def seating(self) -> Seating:
        """The game of the schedule that this is."""
        return Seating(self.deal, self.seats)


@dataclass(slots=True)
class Timed:
    """A player with a clock beside it."""

    player: Player
    moves: int = 0
    seconds: float = 0.0
    slowest: float = 0.0

    @property
    def name(self) -> str:
        return self.player.name

    def choose(self, view: View, budget: Budget, lots: Generator) -> Choice:
        start = perf_counter()
        choice = self.player.choose(view, budget, lots)
        took = perf_counter() - start
        self.moves += 1
        self.seconds += took
        self.slowest = max(self.slowest, took)
        return choice


def play(settings: Settings, seating: Seating) -> Played:
    """Play a game. Everything in it follows from the settings and the seating, but for the time it takes.

    Deal d has the seed SEED/d, whoever sits at the table. Every seat's bot has chance of its own.
    """
    warm(settings)
    options = dict.fromkeys(settings.options, True)
    with seated(seating.seats) as players:
        timed = [Timed(player) for player in players]
        table = play_match(settings.game, timed, f"{settings.seed}/{seating.deal}", options=options)
    result = table.result
    assert result is not None, "a match is played to its end"
    return Played(
        seating.deal,
        seating.seats,
        tuple(tuple(points.values()) for points in result.scores),
        result.place,
        tuple(clock.moves for clock in timed),
        tuple(round(clock.seconds, 6) for clock in timed),
        tuple(round(clock.slowest, 6) for clock in timed),
        machine(),
    )


@cache
def warm(settings: Settings) -> None:
    """Let every bot choose once in this process, so that compiling and loading do not count as thinking."""
    options = dict.fromkeys(settings.options, True)
    warm_up(find_variant(settings.game, settings.players, options), settings.bots)
