"""Speeds of the games and of other engines for research, measured in one run.

Each round measures a slice of every workload, so other load on the machine affects all of them. Ratios are
computed round by round; the report contains medians over the rounds, and quartiles. Workloads with one thread
are measured in CPU time, which depends least on other load.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, closing
from functools import partial
from importlib.metadata import version
from math import ceil
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from axiogames import __version__
from axiogames.analysis.bench.measure import RunInfo, run_info
from axiogames.batch import Batch
from axiogames.errors import MissingDependency
from axiogames.games import GAMES, find_variant
from axiogames.games.runtime.loops import random_playouts
from axiogames.games.runtime.state import allocate
from axiogames.games.runtime.xorshift import seed_state
from axiogames.optional_deps import install_command
from benchmarks.peers.peer_program import Measurement, Work, measure_work, steps_work
from benchmarks.peers.peers import C_PROGRAM, GAMES_COMPARED, MOMALAND, MOMALAND_STEPS, SkippedPeer, programs

SLICE = 0.1  # maximum seconds per workload and round
MIN_ROUNDS = 5
MAX_IDLE_LOAD = 1.5  # load average of an otherwise idle machine; the benchmark itself accounts for 1
CACHE_LINE = 16  # 64-bit numbers that span at least one cache line
NEAR_LINEAR = 1.8  # speed-up by two threads that counts as near-linear
PLAYERS = 2
BATCH_SIZE = 1024
SQUARES, HEXAGONS = GAMES[:2]

# Names of workloads and figures. Figures use CPU time unless their name says otherwise.
ENVIRONMENT = f"{HEXAGONS}, PettingZoo"
BATCH = f"{HEXAGONS}, batch of {BATCH_SIZE:,}"
BATCH_WALL = f"{BATCH}, wall clock"
BATCH_TWO_THREADS = f"{BATCH}, two threads"
BATCH_TWO_THREADS_CPU = f"{BATCH_TWO_THREADS}, CPU time"
GAMES_WALL = f"{HEXAGONS}, wall clock"
GAMES_TWO_THREADS = f"{HEXAGONS}, two threads"

TIME_BASES = {"processor": "CPU", "clock": "wall clock"}  # stored word to displayed word

Rate = Callable[[Measurement], float]


class Figure(msgspec.Struct, frozen=True):
    """Speed of one workload: median and quartiles of its rounds."""

    name: str
    work: str = msgspec.field(name="what")
    time_base: Literal["processor", "clock"] = msgspec.field(name="by")
    software: str = msgspec.field(name="of")  # with versions
    moves_per_second: float
    low: float
    high: float


class Ratio(msgspec.Struct, frozen=True):
    """Ratio of two speeds, with its target. Its figures are `None` if a peer was skipped."""

    name: str
    numerator: str = msgspec.field(name="of")
    denominator: str = msgspec.field(name="to")
    value: float | None = msgspec.field(name="times")
    low: float | None
    high: float | None
    target: float | None  # minimum; `None` if the ratio has no target
    met: bool | None


class ResearchReport(RunInfo, frozen=True, tag_field="suite", tag="research"):
    """Figures of one run on a CPU."""

    cores: int
    load_average: tuple[float, float] = msgspec.field(name="busy")  # of the last minute, before and after
    rounds: int
    games_compared: int  # between the C program and our rules, move by move
    pettingzoo: str
    figures: tuple[Figure, ...]
    ratios: tuple[Ratio, ...]
    skipped: tuple[SkippedPeer, ...] = msgspec.field(name="left_out")

    @property
    def was_busy(self) -> bool:
        """Whether other processes ran. They slow Python more than compiled code, and take the second core."""
        return max(self.load_average) > MAX_IDLE_LOAD

    @property
    def lacked_second_core(self) -> bool:
        """Whether even two independent threads were far from twice as fast as one."""
        speed_ups = [ratio.value for ratio in self.ratios if ratio.numerator == GAMES_TWO_THREADS]
        return any(speed_up is not None and speed_up < NEAR_LINEAR for speed_up in speed_ups)


class FigureSource(NamedTuple):
    """A figure to report from the rounds of a workload."""

    name: str
    work: str
    time_base: Literal["processor", "clock"]
    workload: str
    rate: Rate


class Target(NamedTuple):
    """A ratio to report, and its target."""

    name: str
    numerator: str
    denominator: str
    target: float | None


def cpu_rate(measurement: Measurement) -> float:
    """Return the moves per second of CPU time."""
    return measurement.moves / measurement.cpu_seconds


def wall_rate(measurement: Measurement) -> float:
    """Return the moves per second of wall-clock time."""
    return measurement.moves / measurement.wall_seconds


TARGETS = (
    Target("random games in compiled code", HEXAGONS, MOMALAND, 1500),
    Target("the same random games in compiled code", SQUARES, C_PROGRAM, 0.5),
    Target("a step with observation and mask", ENVIRONMENT, MOMALAND_STEPS, 25),
    Target("many games from Python, one thread", BATCH, MOMALAND, 150),
    Target("many games from Python, two threads", BATCH_TWO_THREADS, BATCH_WALL, NEAR_LINEAR),
    # The efficiency of a CPU second when two threads share the work.
    Target("many games from Python, two threads by CPU time", BATCH_TWO_THREADS_CPU, BATCH, None),
    # The speed-up by a second thread on this machine when the threads share nothing.
    Target("random games in compiled code, two threads", GAMES_TWO_THREADS, GAMES_WALL, None),
)

PLAYOUTS = "random games with the complete rules, in compiled code"
ENVIRONMENT_STEPS = "observation, mask and step through PettingZoo's interface, without choosing moves"
BATCH_STEPS = "observations, masks, sampling and steps, from Python"
PEER_WORK = {
    C_PROGRAM: f"the same random games of {SQUARES} with the complete rules",
    MOMALAND_STEPS: ENVIRONMENT_STEPS,
    MOMALAND: "random games through PettingZoo's interface, including the choice of moves",
    f"{MOMALAND}, rules only": "random games with masks, without observations",
}
ANOTHER_GAME = "another game: random games in the peer's compiled code"


def figure_sources(workloads: Sequence[str]) -> list[FigureSource]:
    """Return the figures to report from the workloads."""
    found = []
    for name in workloads:
        if name in GAMES:
            found.append(FigureSource(name, PLAYOUTS, "processor", name, cpu_rate))
            if name == HEXAGONS:
                found.append(FigureSource(GAMES_WALL, PLAYOUTS, "clock", name, wall_rate))
        elif name == ENVIRONMENT:
            found.append(FigureSource(name, ENVIRONMENT_STEPS, "processor", name, cpu_rate))
        elif name == GAMES_TWO_THREADS:
            found.append(FigureSource(name, PLAYOUTS, "clock", name, wall_rate))
        elif name == BATCH:
            found.append(FigureSource(name, BATCH_STEPS, "processor", name, cpu_rate))
            found.append(FigureSource(BATCH_WALL, BATCH_STEPS, "clock", name, wall_rate))
        elif name == BATCH_TWO_THREADS:
            found.append(FigureSource(name, BATCH_STEPS, "clock", name, wall_rate))
            found.append(FigureSource(BATCH_TWO_THREADS_CPU, BATCH_STEPS, "processor", name, cpu_rate))
        else:
            found.append(FigureSource(name, PEER_WORK.get(name, ANOTHER_GAME), "processor", name, cpu_rate))
    return found


def playouts(game: str) -> Work:
    """Return a workload of random games in compiled code, with compact states."""
    variant = find_variant(game, PLAYERS).compact
    loop = variant.kernels[random_playouts]
    # Padding on both sides: threads that write to the same cache line would slow each other down.
    states = allocate(variant.opening.dtype, 3)[1:2]
    rng = np.zeros(3 * CACHE_LINE, np.uint64)[CACHE_LINE : CACHE_LINE + 1]
    rng[:] = seed_state(1)
    return lambda games: loop(variant.constants, variant.opening, states, rng, games)


def concurrent_work(works: Sequence[Work], threads: Executor) -> Work:
    """Return a workload that runs each of `works` in a separate thread."""

    def work(amount: int) -> float:
        moves: list[float] = list(threads.map(lambda part: part(amount), works))
        return sum(moves)

    return work


def batch_work(batch: Batch) -> Work:
    """Return a workload of batch steps with observations, masks and sampled moves."""

    def work(steps: int) -> float:
        actions = batch.sample()
        for _ in range(steps):
            # Sampled actions are legal, so they need no check.
            actions = batch.step_and_observe(actions, checked=False, sample=True).sampled
        return steps * batch.games

    return work


def our_work(stack: ExitStack, skipped: list[SkippedPeer]) -> dict[str, Work]:
    """Return the workloads of this package. The environment is skipped if PettingZoo is missing."""
    found = {game: playouts(game) for game in GAMES}
    threads = stack.enter_context(ThreadPoolExecutor(2))
    found[GAMES_TWO_THREADS] = concurrent_work([playouts(HEXAGONS) for _ in range(2)], threads)
    for name, count in ((BATCH, 1), (BATCH_TWO_THREADS, 2)):
        batch = stack.enter_context(closing(Batch(HEXAGONS, PLAYERS, BATCH_SIZE, threads=count)))
        found[name] = batch_work(batch)
    try:
        from axiogames.envs import pettingzoo
    except MissingDependency as error:
        skipped.append(SkippedPeer(ENVIRONMENT, str(error), install_command("rl")))
    else:
        found[ENVIRONMENT] = steps_work(pettingzoo.raw_env(HEXAGONS, PLAYERS))
    return found


def run(seconds: float, tick: Callable[[float], None]) -> ResearchReport:
    """Measure each workload for about `seconds`. `tick` receives the completed share, in [0, 1]."""
    load_before = _load_average()
    with programs() as (peers, skipped), ExitStack() as stack:
        workloads: dict[str, Callable[[int], Measurement]] = {
            **{name: peer.work for name, peer in peers.items()},
            **{name: partial(measure_work, work) for name, work in our_work(stack, skipped).items()},
        }
        slice_seconds = min(SLICE, seconds / MIN_ROUNDS)
        amounts = {name: amount_for(workload, slice_seconds) for name, workload in workloads.items()}
        total = max(MIN_ROUNDS, round(seconds / SLICE))
        rounds: dict[str, list[Measurement]] = {name: [] for name in workloads}
        for n in range(total):
            for name, workload in workloads.items():
                rounds[name].append(workload(amounts[name]))
            tick((n + 1) / total)
        versions = {name: peer.version for name, peer in peers.items()}
    rates = {
        figure.name: (figure, np.array([figure.rate(measurement) for measurement in rounds[figure.workload]]))
        for figure in figure_sources(list(rounds))
    }
    own = f"axio {__version__}"
    return ResearchReport(
        **run_info(PLAYERS, seconds),
        cores=os.cpu_count() or 1,
        load_average=(load_before, _load_average()),
        rounds=total,
        games_compared=GAMES_COMPARED if C_PROGRAM in versions else 0,
        pettingzoo=version("pettingzoo") if ENVIRONMENT in rounds else "",
        figures=tuple(
            Figure(
                source.name,
                source.work,
                source.time_base,
                versions.get(source.workload, own),
                *quartiles(values),
            )
            for source, values in rates.values()
        ),
        ratios=tuple(
            ratio(target, {name: values for name, (_, values) in rates.items()}) for target in TARGETS
        ),
        skipped=tuple(skipped),
    )


def amount_for(workload: Callable[[int], Measurement], seconds: float) -> int:
    """Return the amount of work that takes about `seconds`."""
    workload(1)  # compiles, or loads from the compile cache
    amount = 1
    while (elapsed := workload(amount).wall_seconds) < seconds / 4:
        amount *= 2
    return max(1, ceil(amount * seconds / elapsed))


def quartiles(values: np.ndarray) -> tuple[float, float, float]:
    """Return median, lower quartile and upper quartile."""
    middle, low, high = np.percentile(values, (50, 25, 75)).tolist()
    return middle, low, high


def ratio(target: Target, rates: Mapping[str, np.ndarray]) -> Ratio:
    """Return a ratio of two speeds, computed round by round."""
    name, numerator, denominator, minimum = target
    if numerator not in rates or denominator not in rates:
        return Ratio(name, numerator, denominator, None, None, None, minimum, None)
    value, low, high = quartiles(rates[numerator] / rates[denominator])
    met = None if minimum is None else value >= minimum
    return Ratio(name, numerator, denominator, value, low, high, minimum, met)


def _load_average() -> float:
    """Return the load average of the last minute, 0 if the system does not provide it."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
