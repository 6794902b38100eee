"""How fast players think: rollouts, where their time goes, threads, looks at a glance, and memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from time import perf_counter

import msgspec

from axiogames.analysis.bench.measure import (
    RunInfo,
    Speed,
    Workload,
    measure_speeds,
    reference_workload,
    run_info,
)
from axiogames.games import find_variant
from axiogames.games.runtime import loops
from axiogames.players import Budget, player
from axiogames.players.evaluation import rollout_loops
from axiogames.players.search.rollouts import FULL
from axiogames.rng import Generator
from benchmarks.search.exercises import Exercise, rollouts_work
from benchmarks.search.memory import MOST_MEGABYTES, peak_of_a_game
from benchmarks.search.positions import positions
from benchmarks.search.profile import Dissection, Profile, profiles
from benchmarks.search.threads import SpeedUp, speed_ups

GUESSES = 8  # from each position: about as many as `sim` plays between two looks at the clock
INSTANT = "instant"

Stages = Mapping[str, Sequence[Exercise]]


class AtAGlance(msgspec.Struct, frozen=True):
    """How long `instant` takes for a move."""

    game: str
    microseconds: float


class Memory(msgspec.Struct, frozen=True):
    """The peak of a process that plays a game of `sim` against itself, and what it may be at most."""

    game: str
    megabytes: float
    most: float
    met: bool


class ThinkingReport(RunInfo, frozen=True, tag_field="suite", tag="thinking"):
    """All that was measured of thinking in one run."""

    cores: int
    speeds: tuple[Speed, ...]
    profiles: tuple[Profile, ...]
    threads: tuple[SpeedUp, ...]
    instant: tuple[AtAGlance, ...]
    memory: tuple[Memory, ...]
    compile_seconds: float


def run(games: Sequence[str], players: int, seconds: float, tick: Callable[[float], None]) -> ThinkingReport:
    """Measure these games for about so many seconds each; `tick` hears how much of it all is done."""
    start = perf_counter()
    for game in games:
        find_variant(game, players).kernels.compile((*loops.LOOPS, *rollout_loops.LOOPS))
    exercises = {game: exercises_of(game, players) for game in games}
    dissections = {
        game: {stage: [Dissection(exercise) for exercise in some] for stage, some in stages.items()}
        for game, stages in exercises.items()
    }
    beside = reference_workload()
    compile_seconds = perf_counter() - start
    shared = shares_of(tick, (3.0 * len(games), *(1.0 for _ in range(3 * len(games)))))
    speeds = measure_speeds(rollouts_and_looks(exercises), beside, seconds, next(shared))
    taken_apart = [profiles(game, dissections[game], seconds, next(shared)) for game in games]
    threads = [speed_ups(game, exercises[game]["middle"], seconds, next(shared)) for game in games]
    return ThinkingReport(
        **run_info(players, seconds),
        cores=os.cpu_count() or 1,
        speeds=speeds,
        profiles=tuple(profile for some in taken_apart for profile in some),
        threads=tuple(speed_up for some in threads for speed_up in some),
        instant=tuple(AtAGlance(game, 1e6 / speed_of(speeds, f"{game} {INSTANT}")) for game in games),
        memory=tuple(memory_of(game, players, next(shared)) for game in games),
        compile_seconds=compile_seconds,
    )


def shares_of(tick: Callable[[float], None], sizes: Sequence[float]) -> Iterator[Callable[[float], None]]:
    """For one piece of work after the other: what is to hear how much of it is done."""
    before = 0.0
    for size in sizes:
        yield partial(_tell, tick, before / sum(sizes), size / sum(sizes))
        before += size


def _tell(tick: Callable[[float], None], before: float, size: float, done: float) -> None:
    tick(before + size * done)


def exercises_of(game: str, players: int) -> Stages:
    """The positions of a game to think about."""
    return {stage: [Exercise(view) for view in views] for stage, views in positions(game, players).items()}


def rollouts_and_looks(exercises: Mapping[str, Stages]) -> dict[tuple[tuple[str, str], ...], Workload]:
    """The names and units of what is measured in one thread, and the work."""
    work: dict[tuple[tuple[str, str], ...], Workload] = {}
    for game, stages in exercises.items():
        for stage, some in stages.items():
            work[((f"{game} {stage}", "rollouts/s"),)] = rollouts_work(some, GUESSES)
            work[((f"{game} {stage}, thorough", "rollouts/s"),)] = rollouts_work(
                [Exercise(exercise.view, FULL) for exercise in some], 1
            )
        work[((f"{game} {INSTANT}", "moves/s"),)] = instant_work(
            [exercise for some in stages.values() for exercise in some]
        )
    return work


def instant_work(exercises: Sequence[Exercise]) -> Workload:
    """A move by a look at what the best ones lead to, in each position."""
    views, looking = [exercise.view for exercise in exercises], player(INSTANT)
    rng, budget = Generator("bench"), Budget()

    def choose() -> tuple[float, ...]:
        for view in views:
            looking.choose(view, budget, rng)
        return (len(views),)

    return choose


def speed_of(speeds: Sequence[Speed], name: str) -> float:
    """What was measured under this name, in a second."""
    return next(speed.per_second for speed in speeds if speed.name == name)


def memory_of(game: str, players: int, tick: Callable[[float], None]) -> Memory:
    """Play a game in a process of its own, and see whether it kept within bounds."""
    megabytes = peak_of_a_game(game, players)
    tick(1.0)
    return Memory(game, megabytes, MOST_MEGABYTES, megabytes <= MOST_MEGABYTES)
