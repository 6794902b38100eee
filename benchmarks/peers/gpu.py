"""Speeds on a GPU: whole games and single steps, a profile of each kernel, and what limits it.

Like the suite on the processor it is measured in rounds, a slice of each piece of work in turn, and told by
medians and quartiles.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Protocol

import msgspec
import numpy as np

from axiogames.analysis.bench.measure import RunInfo, run_info
from axiogames.analysis.platform_info import package_version
from axiogames.batch import Batch
from axiogames.batch.cuda import CudaBackend, find_cuda
from axiogames.batch.cuda_occupancy import DEFAULT_LAUNCH, MAX_REGISTERS, Kernel, LaunchConfig
from axiogames.games import GAMES
from benchmarks.peers.peer_program import Done
from benchmarks.peers.research import FEWEST, PLAYERS, SLICE, SQUARES, amount_for, quartiles

SIDE_BY_SIDE = 1 << 20
STEPPED = 1 << 17  # games whose masks and observations are written
COPIES = 100
COPIED = 1 << 30  # bytes, to find out how fast the memory is

RANDOM, GREEDY = "random_games", "greedy_games"
SAID = {
    RANDOM: ("random games", "moves/s"),
    GREEDY: ("greedy games", "rated placements/s"),
    "steps": ("observation, mask, choice and checked step", "moves/s"),
}
WARMING = 12  # steps, until games are well under way
STEPS = ("observe", "masks", "sample", "find_illegal", "step")
TARGETS = {(SQUARES, RANDOM): 3e9, (SQUARES, GREEDY): 5e9}

# What was tried for random games of the first game, each beside what is done.
NEVER = 1 << 30  # so many warps never have room
TRIES: dict[str, tuple[bool, LaunchConfig]] = {
    "as it is done: lean states in fast memory": (True, DEFAULT_LAUNCH),
    "with lean states in the memory of the GPU": (True, DEFAULT_LAUNCH._replace(min_warps=NEVER)),
    "with the usual states in fast memory": (False, DEFAULT_LAUNCH),
    "with the usual states in the memory of the GPU": (False, DEFAULT_LAUNCH._replace(min_warps=NEVER)),
    "with a warp a block, each with its copy of the tables": (True, DEFAULT_LAUNCH._replace(max_warps=1)),
    "with 96 registers": (True, DEFAULT_LAUNCH._replace(registers=96)),
    "with 128 registers": (True, DEFAULT_LAUNCH._replace(registers=128)),
    "with as many registers as the compiler likes": (True, DEFAULT_LAUNCH._replace(registers=MAX_REGISTERS)),
}


class GpuSpeed(msgspec.Struct, frozen=True):
    """Speed of whole games or steps: median and quartiles of the rounds."""

    game: str
    what: str
    unit: str
    games: int  # side by side
    state_bytes: int
    per_second: float
    low: float
    high: float
    target: float | None
    met: bool | None


class GpuKernel(msgspec.Struct, frozen=True):
    """Time and resources of one kernel, and its share of the memory bandwidth."""

    loop: str
    nanoseconds: float  # for a move, or for a rated placement
    share: float | None  # of a step; none for whole games
    registers: int
    fast_memory: int  # bytes of a block
    slow_memory: int  # bytes of a thread
    block: int
    occupancy: float  # warps that a multiprocessor can have at once, as a share of the most there can be
    bytes_a_move: float  # or placement: that have to be read and written at least
    of_bandwidth: float  # what that is of the memory's speed


class GpuTry(msgspec.Struct, frozen=True):
    """Speed of random games in another launch configuration."""

    what: str
    per_second: float
    low: float
    high: float
    occupancy: float


class GpuReport(RunInfo, frozen=True, tag_field="suite", tag="research on a GPU"):
    """Figures of one run on a GPU."""

    gpu: str
    numba_cuda: str
    rounds: int
    bandwidth: float  # bytes a second, read and written, when memory is copied
    speeds: tuple[GpuSpeed, ...]
    kernels: tuple[GpuKernel, ...]  # of the first game
    tries: tuple[GpuTry, ...]  # random games of the first game


class Gpu(Protocol):
    """A GPU, or what tests use in its place."""

    name: str
    numba_cuda: str

    def batch(self, game: str, games: int, compact: bool, launch: LaunchConfig | None = None) -> Batch:
        """Return a batch of `games` games on this GPU."""
        ...

    def kernel(self, batch: Batch, loop: str) -> Kernel:
        """Return the compiled kernel of a loop that has run."""
        ...

    def bandwidth(self) -> float:
        """Return the memory bandwidth in bytes per second, reads and writes added."""
        ...


class Nvidia:
    """The GPU of this machine. Raises `MissingDependency`, or `DeviceNotFound` where there is none."""

    def __init__(self) -> None:
        self._cuda = find_cuda()
        name = self._cuda.get_current_device().name
        self.name = name.decode() if isinstance(name, bytes) else str(name)
        self.numba_cuda = package_version("numba-cuda")

    def batch(self, game: str, games: int, compact: bool, launch: LaunchConfig | None = None) -> Batch:
        """Return a batch of `games` games on this GPU."""
        batch = Batch(game, PLAYERS, games, seed=1, device="cuda", compact=compact)
        batch.backend = CudaBackend(batch.variant, games, launch)
        return batch

    def kernel(self, batch: Batch, loop: str) -> Kernel:
        """Return the compiled kernel of a loop that has run."""
        assert isinstance(batch.backend, CudaBackend)
        return batch.backend.kernel(loop)

    def bandwidth(self) -> float:
        """Return the memory bandwidth in bytes per second, reads and writes added."""
        one, other = (self._cuda.device_array(COPIED, np.uint8) for _ in range(2))
        for _ in range(2):  # the first time wakes the GPU up
            self._cuda.synchronize()
            began = perf_counter()
            for _ in range(COPIES):
                other.copy_to_device(one)
            self._cuda.synchronize()
            taken = perf_counter() - began
        return 2 * COPIED * COPIES / taken


def run(seconds: float, tick: Callable[[float], None], gpu: Gpu | None = None) -> GpuReport:
    """Measure each workload for about `seconds`. `tick` receives the completed share, in [0, 1]."""
    gpu = gpu or Nvidia()
    rounds = max(FEWEST, round(seconds / SLICE))
    measure = partial(_measured, rounds=rounds, slice_seconds=min(SLICE, seconds / FEWEST))
    pieces = 2 * len(GAMES) + 1 + len(TRIES)
    told = iter(range(1, pieces + 1))
    speeds, kernels, tries = [], [], []
    bandwidth = gpu.bandwidth()
    for loop, games, compact in ((RANDOM, SIDE_BY_SIDE, True), (GREEDY, STEPPED, False)):
        for game in GAMES:
            batch = gpu.batch(game, games, compact)
            rates, times = measure(whole_games(batch, loop))
            speeds.append(_speed(batch, loop, rates))
            if game == SQUARES:
                moves = batch.play_randomly() if loop == RANDOM else batch.play_greedily()[1]
                kernels.append(
                    _kernel(gpu, batch, loop, 1 / rates, times * moves / batch.games, None, bandwidth)
                )
            tick(next(told) / pieces)
    batch = gpu.batch(SQUARES, STEPPED, False)
    parts = [step(batch) for _ in range(WARMING + rounds)][WARMING:]
    whole = np.sum([[part[loop] for loop in STEPS] for part in parts], axis=1)
    speeds.append(_speed(batch, "steps", batch.games / whole))
    for loop in STEPS:
        taken = np.array([part[loop] for part in parts])
        share = float(np.median(taken / whole))
        kernels.append(_kernel(gpu, batch, loop, taken / batch.games, 1, share, bandwidth))
    tick(next(told) / pieces)
    for what, (compact, launch) in TRIES.items():
        batch = gpu.batch(SQUARES, SIDE_BY_SIDE, compact, launch)
        rates, _ = measure(whole_games(batch, RANDOM))
        tries.append(GpuTry(what, *quartiles(rates), gpu.kernel(batch, RANDOM).occupancy))
        tick(next(told) / pieces)
    return GpuReport(
        **run_info(PLAYERS, seconds),
        gpu=gpu.name,
        numba_cuda=gpu.numba_cuda,
        rounds=rounds,
        bandwidth=bandwidth,
        speeds=tuple(speeds),
        kernels=tuple(kernels),
        tries=tuple(tries),
    )


def whole_games(batch: Batch, loop: str) -> Callable[[int], Done]:
    """Return a workload of whole games: counts moves of random games, or scored placements of greedy ones."""
    moves, rated = (batch.backend.zeros((batch.games,), np.int64) for _ in range(2))
    opening = batch.backend.to_device(batch.variant.opening)
    counted = moves if loop == RANDOM else rated

    def do(times: int) -> Done:
        games = (opening, batch.states, batch.rngs)
        play = partial(batch.backend.run, loop, games, times, moves, rated)
        clock = _clocked(batch, play)
        return Done(float(batch.backend.to_host(counted).sum()), clock, clock)

    return do


def step(batch: Batch) -> dict[str, float]:
    """Return the seconds of each loop of a checked step with observation, mask and random choice."""
    found = {"observe": _clocked(batch, batch.observe), "masks": _clocked(batch, batch.masks)}
    found["sample"] = _clocked(batch, batch.sample)
    numbers = batch.sample()
    found["find_illegal"] = _clocked(batch, partial(batch.check, numbers))
    found["step"] = _clocked(batch, partial(batch.step, numbers, checked=False))
    return found


def bytes_of(batch: Batch, loop: str) -> int:
    """Return the bytes per game that a loop must read and write in GPU memory, each counted once."""
    state, seen = batch.variant.opening.dtype.itemsize, batch.observation
    number, rng, counts, tracks = 4, 2 * 8, 2 * 8, len(batch.variant.tracks)
    sizes: dict[str, int] = {
        "observe": state + 1 + seen.board.size + 2 * len(seen.names),
        "masks": state + batch.num_actions,
        "sample": state + rng + number,
        "find_illegal": state + number,
        "step": 2 * state + rng + number + 2 * tracks + 4 * batch.players + 1,
        RANDOM: state + rng + counts,
        GREEDY: state + rng + counts,
    }
    return sizes[loop]


def _measured(do: Callable[[int], Done], rounds: int, slice_seconds: float) -> tuple[np.ndarray, int]:
    """Return the speed in each round and the amount of work per round."""
    amount = amount_for(do, slice_seconds)
    return np.array([(done := do(amount)).moves / done.clock for _ in range(rounds)]), amount


def _clocked(batch: Batch, do: Callable[[], object]) -> float:
    batch.backend.wait()
    began = perf_counter()
    do()
    batch.backend.wait()
    return perf_counter() - began


def _speed(batch: Batch, loop: str, rates: np.ndarray) -> GpuSpeed:
    game = batch.variant.game.id
    middle, low, high = quartiles(rates)
    what, unit = SAID[loop]
    target = TARGETS.get((game, loop))
    return GpuSpeed(
        game=game,
        what=what,
        unit=unit,
        games=batch.games,
        state_bytes=batch.variant.opening.dtype.itemsize,
        per_second=middle,
        low=low,
        high=high,
        target=target,
        met=None if target is None else middle >= target,
    )


def _kernel(
    gpu: Gpu,
    batch: Batch,
    loop: str,
    seconds: np.ndarray,
    in_a_game: float,
    share: float | None,
    bandwidth: float,
) -> GpuKernel:
    made = gpu.kernel(batch, loop)
    each, bytes_a_move = float(np.median(seconds)), bytes_of(batch, loop) / in_a_game
    return GpuKernel(
        loop=loop,
        nanoseconds=each * 1e9,
        share=share,
        registers=made.registers,
        fast_memory=made.shared_memory,
        slow_memory=made.local_memory,
        block=made.block,
        occupancy=made.occupancy,
        bytes_a_move=bytes_a_move,
        of_bandwidth=bytes_a_move / each / bandwidth,
    )
