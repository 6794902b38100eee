"""Speed of the rules: medians over short rounds that alternate between a reference game and the workloads.

The reference game runs right before each workload, so other load on the machine affects both. The ratio of
their speeds can be compared between machines and between days; the speeds themselves cannot.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from statistics import median
from time import perf_counter
from typing import Any

import msgspec

from ...games import find_variant
from ...games.runtime.loops import greedy_playouts, random_playouts
from ...games.runtime.xorshift import seed_state
from ...model.table import new_game
from ..provenance import describe_machine
from . import reference_game

Workload = Callable[[], tuple[float, ...]]  # does some work and returns the amount done, one number per unit
Names = tuple[tuple[str, str], ...]  # name and unit of each number that a workload returns
SLICE = 0.05  # seconds per workload and round
REFERENCE_NAME = "reference random"


class Speed(msgspec.Struct, frozen=True):
    """Speed of one workload: median and spread of its rounds."""

    name: str
    unit: str
    per_second: float
    spread: float  # half the interquartile range, relative to the median
    ratio: float  # to the reference game in the same round; median over all rounds


class RunInfo(msgspec.Struct, frozen=True):
    """Machine, versions and settings of a measurement."""

    machine: str
    python: str
    numpy: str
    numba: str
    players: int
    seconds: float


def run_info(players: int, seconds: float) -> dict[str, Any]:
    """Return the fields of `RunInfo` for a measurement on this machine."""
    info = RunInfo(
        describe_machine(),
        platform.python_version(),
        version("numpy"),
        version("numba"),
        players,
        seconds,
    )
    return msgspec.structs.asdict(info)


class Report(RunInfo, frozen=True, tag_field="suite", tag="rules"):
    """Speeds of the rules, as measured in one run."""

    speeds: tuple[Speed, ...]
    compile_seconds: float
    state_bytes: dict[str, int]


def reference_workload() -> Workload:
    """Return a workload of random playouts of the reference game."""
    states = reference_game.new_states()
    seeds = iter(range(1, 1 << 62, 1000))
    reference_game.playouts(reference_game.BOARD, states, 1, 0)
    return lambda: (reference_game.playouts(reference_game.BOARD, states, 200, next(seeds)),)


def random_workload(game: str, players: int) -> Workload:
    """Return a workload of random playouts in compiled code."""
    variant = find_variant(game, players)
    loop, states, rng = variant.kernels[random_playouts], variant.new_state(), seed_state(1)
    return lambda: (loop(variant.constants, variant.opening, states, rng, 100),)


def greedy_workload(game: str, players: int) -> Workload:
    """Return a workload of greedy playouts in compiled code. It counts moves and scored placements."""
    variant = find_variant(game, players)
    loop, states, rng = variant.kernels[greedy_playouts], variant.new_state(), seed_state(1)
    return lambda: tuple(loop(variant.constants, variant.opening, states, rng, 20))


def python_workload(game: str, players: int) -> Workload:
    """Return a workload of games through `Table`: list the legal moves, play the middle one, repeat."""
    seeds = iter(range(1 << 62))

    def play() -> tuple[float, ...]:
        table = new_game(game, players, seed=next(seeds))
        while moves := table.legal_moves():
            table.play(moves[len(moves) // 2])
        return (table.plies,)

    return play


def workloads(games: Sequence[str], players: int) -> dict[Names, Workload]:
    """Return all workloads, keyed by the names and units of their counts."""
    found: dict[Names, Workload] = {}
    for game in games:
        found[((f"{game} random", "moves/s"),)] = random_workload(game, players)
        found[((f"{game} greedy", "moves/s"), (f"{game} greedy", "placements scored/s"))] = greedy_workload(
            game, players
        )
        found[((f"{game} from Python", "plies/s"),)] = python_workload(game, players)
    return found


def run(games: Sequence[str], players: int, seconds: float, tick: Callable[[float], None]) -> Report:
    """Measure each workload for about `seconds`. `tick` receives the completed share, in [0, 1]."""
    start = perf_counter()
    reference = reference_workload()
    work = workloads(games, players)
    for workload in work.values():
        workload()
    compile_seconds = perf_counter() - start
    speeds = measure_speeds(work, reference, seconds, tick)
    return Report(
        **run_info(players, seconds),
        speeds=speeds,
        compile_seconds=compile_seconds,
        state_bytes={game: find_variant(game, players).opening.dtype.itemsize for game in games},
    )


def measure_speeds(
    work: Mapping[Names, Workload],
    reference: Workload,
    seconds: float,
    tick: Callable[[float], None],
) -> tuple[Speed, ...]:
    """Measure each workload for about `seconds`, in rounds. The first result is the reference game's."""
    rounds: dict[tuple[str, str], list[tuple[float, float]]] = {name: [] for names in work for name in names}
    reference_rounds: list[tuple[float, float]] = []
    total = max(3, round(seconds / SLICE))
    for n in range(total):
        for names, workload in work.items():
            # The reference runs right before each workload, so both meet the same load on the machine.
            (reference_rate,) = rates(reference, SLICE / 2)
            reference_rounds.append((reference_rate, 1.0))
            for name, rate in zip(names, rates(workload, SLICE), strict=True):
                rounds[name].append((rate, rate / reference_rate))
        tick((n + 1) / total)
    speeds = [summarise((REFERENCE_NAME, "moves/s"), reference_rounds)]
    speeds += [summarise(name, values) for name, values in rounds.items()]
    return tuple(speeds)


def rates(workload: Workload, seconds: float) -> tuple[float, ...]:
    """Return the amounts of work per second, measured for about `seconds`."""
    start = perf_counter()
    done = workload()
    while (elapsed := perf_counter() - start) < seconds:
        done = tuple(a + b for a, b in zip(done, workload(), strict=True))
    return tuple(n / elapsed for n in done)


def summarise(name: tuple[str, str], rounds: Sequence[tuple[float, float]]) -> Speed:
    """Return the medians and the spread of rounds of (rate, ratio)."""
    ordered = sorted(rate for rate, _ in rounds)
    middle = median(ordered)
    spread = (ordered[3 * len(ordered) // 4] - ordered[len(ordered) // 4]) / 2 / middle
    return Speed(*name, middle, spread, median(ratio for _, ratio in rounds))
