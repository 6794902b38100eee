"""Speeds of the games beside other engines for research, in one run.

Everything is measured in rounds, a slice of each in turn, so that what else the machine does falls on all
alike. A ratio is taken in every round; what is told is the median of the rounds, and their quartiles. Work of
one thread is measured in time of the processor, which a busy machine changes least.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, closing
from functools import partial
from math import ceil
from typing import NamedTuple

import msgspec
import numpy as np

from axiogames import __version__
from axiogames.analysis.bench.measure import RunInfo, run_info
from axiogames.analysis.platform_info import package_version
from axiogames.batch import Batch
from axiogames.errors import MissingDependency
from axiogames.games import GAMES, find_variant
from axiogames.games.runtime.loops import random_playouts
from axiogames.games.runtime.state import allocate
from axiogames.games.runtime.xorshift import seed_state
from axiogames.optional_deps import install_command
from benchmarks.peers.peer_program import Done, Work, steps_work, timed
from benchmarks.peers.peers import C_PROGRAM, GAMES_COMPARED, MOMALAND, MOMALAND_STEPS, LeftOut, programs

SLICE = 0.1  # seconds of each piece of work in a round, at most
FEWEST = 5  # rounds
QUIET = 1.5  # processes that want a core: the benchmark itself is one of them
LINE = 16  # numbers that are together longer than a line of a cache
LINEAR = 1.8  # times as fast: what is called near-linear on two threads
PLAYERS = 2
AT_ONCE = 1024  # games of a batch
SQUARES, HEXAGONS = GAMES[:2]

ENVIRONMENT = f"{HEXAGONS}, PettingZoo"
BATCH = f"{HEXAGONS}, batch of {AT_ONCE:,}"
CLOCKED = f"{BATCH}, by the clock"
BATCH_OF_TWO = f"{BATCH}, two threads"
WORKED = f"{BATCH_OF_TWO}, by the processor"
GAMES_CLOCKED = f"{HEXAGONS}, by the clock"
GAMES_OF_TWO = f"{HEXAGONS}, two threads"

Rate = Callable[[Done], float]


class Figure(msgspec.Struct, frozen=True):
    """Speed of one workload: median and quartiles of its rounds."""

    name: str
    what: str  # is done
    by: str  # seconds of the processor, or of the clock
    of: str  # whose it is, with versions
    moves_per_second: float
    low: float
    high: float


class Ratio(msgspec.Struct, frozen=True):
    """Ratio of two speeds and its target; `None` where a peer was left out."""

    name: str
    of: str
    to: str
    times: float | None
    low: float | None
    high: float | None
    target: float | None  # at least; none for orientation
    met: bool | None


class ResearchReport(RunInfo, frozen=True, tag_field="suite", tag="research"):
    """Figures of one run on a CPU."""

    cores: int
    busy: tuple[float, float]  # processes that wanted a core, before and after
    rounds: int
    games_compared: int  # with the C program, move by move
    pettingzoo: str
    figures: tuple[Figure, ...]
    ratios: tuple[Ratio, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def was_busy(self) -> bool:
        """True if other processes ran: they slow Python more than compiled code, and leave no second core."""
        return max(self.busy) > QUIET

    @property
    def lacked_a_core(self) -> bool:
        """True if even two independent threads were far from twice as fast as one."""
        times = [ratio.times for ratio in self.ratios if ratio.of == GAMES_OF_TWO]
        return any(gained is not None and gained < LINEAR for gained in times)


class FigureSource(NamedTuple):
    """A figure to report from the rounds of a workload."""

    name: str
    what: str
    by: str
    source: str  # the work
    rate: Rate


class Target(NamedTuple):
    """A ratio to report, and its target."""

    name: str
    of: str
    to: str
    target: float | None


def by_processor(done: Done) -> float:
    """Moves per second of CPU time."""
    return done.moves / done.processor


def by_clock(done: Done) -> float:
    """Moves per second of wall-clock time."""
    return done.moves / done.clock


ASKED = (
    Target("random games in compiled code", HEXAGONS, MOMALAND, 1500),
    Target("the same random games in compiled code", SQUARES, C_PROGRAM, 0.5),
    Target("a step with observation and mask", ENVIRONMENT, MOMALAND_STEPS, 25),
    Target("many games from Python, one thread", BATCH, MOMALAND, 150),
    Target("many games from Python, two threads", BATCH_OF_TWO, CLOCKED, LINEAR),
    # What a second of the processor is still worth when two threads share the work.
    Target("many games from Python, a thread of two", WORKED, BATCH, None),
    # What a second thread is worth on this machine where nothing is shared.
    Target("random games in compiled code, two threads", GAMES_OF_TWO, GAMES_CLOCKED, None),
)

PLAYOUTS = "random games by the complete rules, in compiled code"
SEEN = "observation, mask and step through PettingZoo's interface, moves chosen before"
MANY = "observations, masks, sampling and steps, from Python"
THEIRS = {
    C_PROGRAM: f"the same random games of {SQUARES} by the complete rules",
    MOMALAND_STEPS: SEEN,
    MOMALAND: "random games through PettingZoo's interface, choosing included",
    f"{MOMALAND}, rules only": "random games with masks, nothing observed",
}
ANOTHER_GAME = "another game: random games in their compiled code"


def shown(sources: Sequence[str]) -> list[FigureSource]:
    """Return the figures to report from the workloads."""
    found = []
    for source in sources:
        if source in GAMES:
            found.append(FigureSource(source, PLAYOUTS, "processor", source, by_processor))
            if source == HEXAGONS:
                found.append(FigureSource(GAMES_CLOCKED, PLAYOUTS, "clock", source, by_clock))
        elif source == ENVIRONMENT:
            found.append(FigureSource(source, SEEN, "processor", source, by_processor))
        elif source == GAMES_OF_TWO:
            found.append(FigureSource(source, PLAYOUTS, "clock", source, by_clock))
        elif source == BATCH:
            found.append(FigureSource(source, MANY, "processor", source, by_processor))
            found.append(FigureSource(CLOCKED, MANY, "clock", source, by_clock))
        elif source == BATCH_OF_TWO:
            found.append(FigureSource(source, MANY, "clock", source, by_clock))
            found.append(FigureSource(WORKED, MANY, "processor", source, by_processor))
        else:
            found.append(
                FigureSource(source, THEIRS.get(source, ANOTHER_GAME), "processor", source, by_processor)
            )
    return found


def playouts(game: str) -> Work:
    """Return a workload of random games in compiled code, with compact states."""
    variant = find_variant(game, PLAYERS).compact
    loop = variant.kernels[random_playouts]
    # Room on both sides: threads that write to one line of a cache would wait for each other.
    states, rng = allocate(variant.opening.dtype, 3)[1:2], np.zeros(3 * LINE, np.uint64)[LINE : LINE + 1]
    rng[:] = seed_state(1)
    return lambda games: loop(variant.constants, variant.opening, states, rng, games)


def side_by_side(works: Sequence[Work], threads: Executor) -> Work:
    """Return a workload that runs each of `works` in a thread of its own."""

    def work(amount: int) -> float:
        moves: list[float] = list(threads.map(lambda do: do(amount), works))
        return sum(moves)

    return work


def batch_work(batch: Batch) -> Work:
    """Return a workload of batch steps with observations, masks and sampled moves."""

    def work(steps: int) -> float:
        chosen = batch.sample()
        for _ in range(steps):
            chosen = batch.step_and_observe(chosen, checked=False, sample=True).sampled  # those are legal
        return steps * batch.games

    return work


def our_work(stack: ExitStack, left_out: list[LeftOut]) -> dict[str, Work]:
    """Return the workloads of this package; the environment is left out if PettingZoo is missing."""
    found = {game: playouts(game) for game in GAMES}
    threads = stack.enter_context(ThreadPoolExecutor(2))
    found[GAMES_OF_TWO] = side_by_side([playouts(HEXAGONS) for _ in range(2)], threads)
    for name, count in ((BATCH, 1), (BATCH_OF_TWO, 2)):
        batch = stack.enter_context(closing(Batch(HEXAGONS, PLAYERS, AT_ONCE, threads=count)))
        found[name] = batch_work(batch)
    try:
        from axiogames.envs import pettingzoo
    except MissingDependency as error:
        left_out.append(LeftOut(ENVIRONMENT, str(error), install_command("rl")))
    else:
        found[ENVIRONMENT] = steps_work(pettingzoo.raw_env(HEXAGONS, PLAYERS))
    return found


def run(seconds: float, tick: Callable[[float], None]) -> ResearchReport:
    """Measure each workload for about `seconds`. `tick` receives the completed share, in [0, 1]."""
    before = _busy()
    with programs() as (theirs, left_out), ExitStack() as stack:
        work: dict[str, Callable[[int], Done]] = {
            **{name: program.work for name, program in theirs.items()},
            **{name: partial(timed, do) for name, do in our_work(stack, left_out).items()},
        }
        amounts = {name: amount_for(do, min(SLICE, seconds / FEWEST)) for name, do in work.items()}
        total = max(FEWEST, round(seconds / SLICE))
        rounds: dict[str, list[Done]] = {name: [] for name in work}
        for n in range(total):
            for name, do in work.items():
                rounds[name].append(do(amounts[name]))
            tick((n + 1) / total)
        versions = {name: program.version for name, program in theirs.items()}
    rates = {
        figure.name: (figure, np.array([figure.rate(done) for done in rounds[figure.source]]))
        for figure in shown(list(rounds))
    }
    own = f"axio {__version__}"
    return ResearchReport(
        **run_info(PLAYERS, seconds),
        cores=os.cpu_count() or 1,
        busy=(before, _busy()),
        rounds=total,
        games_compared=GAMES_COMPARED if C_PROGRAM in versions else 0,
        pettingzoo=package_version("pettingzoo") if ENVIRONMENT in rounds else "",
        figures=tuple(
            Figure(found.name, found.what, found.by, versions.get(found.source, own), *quartiles(values))
            for found, values in rates.values()
        ),
        ratios=tuple(ratio(asked, {name: values for name, (_, values) in rates.items()}) for asked in ASKED),
        left_out=tuple(left_out),
    )


def amount_for(do: Callable[[int], Done], seconds: float) -> int:
    """Return the amount of work that takes about `seconds`."""
    do(1)  # compiles, or loads what was compiled
    amount = 1
    while (clock := do(amount).clock) < seconds / 4:
        amount *= 2
    return max(1, ceil(amount * seconds / clock))


def quartiles(values: np.ndarray) -> tuple[float, float, float]:
    """Return median, lower quartile and upper quartile."""
    middle, low, high = np.percentile(values, (50, 25, 75)).tolist()
    return middle, low, high


def ratio(asked: Target, rates: Mapping[str, np.ndarray]) -> Ratio:
    """Return a ratio of two speeds, computed round by round."""
    if asked.of not in rates or asked.to not in rates:
        return Ratio(asked.name, asked.of, asked.to, None, None, None, asked.target, None)
    times, low, high = quartiles(rates[asked.of] / rates[asked.to])
    met = None if asked.target is None else times >= asked.target
    return Ratio(asked.name, asked.of, asked.to, times, low, high, asked.target, met)


def _busy() -> float:
    """Load average of the last minute, 0 where the system has none."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
