"""Speed of the search: rollouts and their profile, threads, `instant`, and memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from time import perf_counter

import msgspec

from axiogames.analysis.bench.measure import (
    Names,
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
from axiogames.players.search import search_loops
from axiogames.players.search.rollouts import FULL
from axiogames.rng import Generator
from benchmarks.search.memory import MAX_MEGABYTES, peak_of_a_game
from benchmarks.search.positions import SearchPosition, rollouts_work, views_by_stage
from benchmarks.search.profile import Profile, RolloutProfiler, profiles
from benchmarks.search.threads import SpeedUp, speed_ups

DETERMINIZATIONS = 8  # per position; about as many as `sim` uses between two checks of the clock
INSTANT = "instant"

Stages = Mapping[str, Sequence[SearchPosition]]


class InstantTime(msgspec.Struct, frozen=True):
    """Time of `instant` per move."""

    game: str
    microseconds: float


class MemoryUse(msgspec.Struct, frozen=True):
    """Peak memory of a process that plays a game of `sim` against itself, and the target."""

    game: str
    megabytes: float
    limit: float = msgspec.field(name="most")
    met: bool


class SearchReport(RunInfo, frozen=True, tag_field="suite", tag="thinking"):
    """Figures of one run."""

    cores: int
    speeds: tuple[Speed, ...]
    profiles: tuple[Profile, ...]
    threads: tuple[SpeedUp, ...]
    instant: tuple[InstantTime, ...]
    memory: tuple[MemoryUse, ...]
    compile_seconds: float


def run(games: Sequence[str], players: int, seconds: float, tick: Callable[[float], None]) -> SearchReport:
    """Measure each workload for about `seconds`. `tick` receives the completed share, in [0, 1]."""
    start = perf_counter()
    for game in games:
        find_variant(game, players).kernels.compile((*loops.LOOPS, *rollout_loops.LOOPS, *search_loops.LOOPS))
    positions = {game: positions_of(game, players) for game in games}
    profilers = {
        game: {stage: list(map(RolloutProfiler, at_stage)) for stage, at_stage in stages.items()}
        for game, stages in positions.items()
    }
    reference = reference_workload()
    compile_seconds = perf_counter() - start
    ticks = split_progress(tick, (3.0 * len(games), *(1.0 for _ in range(3 * len(games)))))
    speeds = measure_speeds(search_workloads(positions), reference, seconds, next(ticks))
    found_profiles = [profiles(game, profilers[game], seconds, next(ticks)) for game in games]
    threads = [speed_ups(game, positions[game]["middle"], seconds, next(ticks)) for game in games]
    return SearchReport(
        **run_info(players, seconds),
        cores=os.cpu_count() or 1,
        speeds=speeds,
        profiles=tuple(chain.from_iterable(found_profiles)),
        threads=tuple(chain.from_iterable(threads)),
        instant=tuple(InstantTime(game, 1e6 / speed_of(speeds, f"{game} {INSTANT}")) for game in games),
        memory=tuple(memory_of(game, players, next(ticks)) for game in games),
        compile_seconds=compile_seconds,
    )


def split_progress(
    tick: Callable[[float], None], sizes: Sequence[float]
) -> Iterator[Callable[[float], None]]:
    """Yield a `tick` for each stage of the run, which maps the stage's progress to that of the whole run."""
    before = 0.0
    for size in sizes:
        yield partial(_scaled_tick, tick, before / sum(sizes), size / sum(sizes))
        before += size


def _scaled_tick(tick: Callable[[float], None], before: float, size: float, completed: float) -> None:
    tick(before + size * completed)


def positions_of(game: str, players: int) -> Stages:
    """Return the positions of a game, by stage."""
    return {
        stage: [SearchPosition(view) for view in views]
        for stage, views in views_by_stage(game, players).items()
    }


def search_workloads(positions: Mapping[str, Stages]) -> dict[Names, Workload]:
    """Return the workloads of one thread, keyed by the names and units of their counts."""
    work: dict[Names, Workload] = {}
    for game, stages in positions.items():
        for stage, at_stage in stages.items():
            work[((f"{game} {stage}, fast", "rollouts/s"),)] = rollouts_work(at_stage, DETERMINIZATIONS)
            work[((f"{game} {stage}, full", "rollouts/s"),)] = rollouts_work(
                [SearchPosition(position.view, FULL) for position in at_stage], 1
            )
        work[((f"{game} {INSTANT}", "moves/s"),)] = instant_work(
            [position for at_stage in stages.values() for position in at_stage]
        )
    return work


def instant_work(positions: Sequence[SearchPosition]) -> Workload:
    """Return a workload of one move of `instant` in each position."""
    views, instant = [position.view for position in positions], player(INSTANT)
    rng, budget = Generator("bench"), Budget()

    def choose() -> tuple[float, ...]:
        for view in views:
            instant.choose(view, budget, rng)
        return (len(views),)

    return choose


def speed_of(speeds: Sequence[Speed], name: str) -> float:
    """Return the speed with this name."""
    return next(speed.per_second for speed in speeds if speed.name == name)


def memory_of(game: str, players: int, tick: Callable[[float], None]) -> MemoryUse:
    """Play a game in a separate process and return its peak memory."""
    megabytes = peak_of_a_game(game, players)
    tick(1.0)
    return MemoryUse(game, megabytes, MAX_MEGABYTES, megabytes <= MAX_MEGABYTES)
