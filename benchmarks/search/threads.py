"""Speed-up by threads: alternating rounds with one thread and with several, on the same positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import cycle
from time import perf_counter

import msgspec

from axiogames.analysis.bench.measure import summarise
from axiogames.players.search.analysis import analyse
from axiogames.players.search.rollouts import CHUNK
from benchmarks.search.positions import SEED, SearchPosition

THREADS = 2
DETERMINIZATIONS = 4 * CHUNK  # threads divide the work by chunks, several for each
SECONDS = 0.2  # thinking time of `sim`


class SpeedUp(msgspec.Struct, frozen=True):
    """Rollouts with several threads relative to one thread; median over pairs of rounds."""

    game: str
    threads: int
    workload: str = msgspec.field(name="what")
    ratio: float = msgspec.field(name="times")
    spread: float  # half the interquartile range, relative to the median


def speed_ups(
    game: str, positions: Sequence[SearchPosition], seconds: float, tick: Callable[[float], None]
) -> tuple[SpeedUp, ...]:
    """Return the speed-up of rollouts alone, and of `sim` with a short thinking time."""
    return (
        speed_up(
            game,
            "rollouts alone",
            count_rollouts,
            positions,
            seconds=seconds,
            tick=lambda completed: tick(completed / 2),
        ),
        speed_up(
            game,
            f"sim@{SECONDS:g}s",
            count_searched_rollouts,
            positions,
            seconds=seconds,
            tick=lambda completed: tick(0.5 + completed / 2),
        ),
    )


def speed_up(
    game: str,
    workload: str,
    rollouts: Callable[[SearchPosition, int], float],
    positions: Sequence[SearchPosition],
    *,
    seconds: float,
    tick: Callable[[float], None],
) -> SpeedUp:
    """Measure one thread and several threads in turn, position by position."""
    pairs: list[tuple[float, float]] = []
    start = perf_counter()
    for position in cycle(positions):
        single, multiple = (_rate(rollouts, position, threads) for threads in (1, THREADS))
        pairs.append((multiple / single, multiple / single))
        spent = (perf_counter() - start) / seconds
        tick(min(1.0, spent))
        if spent >= 1:
            break
    ratios = summarise((workload, "times"), pairs)
    return SpeedUp(game, THREADS, workload, ratios.per_second, ratios.spread)


def _rate(rollouts: Callable[[SearchPosition, int], float], position: SearchPosition, threads: int) -> float:
    start = perf_counter()
    return rollouts(position, threads) / (perf_counter() - start)


def count_rollouts(position: SearchPosition, threads: int) -> float:
    """Run enough rollouts to keep every thread busy, and return their number."""
    with closing(position.rollouts(threads)) as rollouts:
        return position.play(rollouts, DETERMINIZATIONS)


def count_searched_rollouts(position: SearchPosition, threads: int) -> float:
    """Search for a short time, and return the number of rollouts."""
    return analyse(position.view, seed=SEED, seconds=SECONDS, threads=threads).rollouts
