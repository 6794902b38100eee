"""Speeds on a GPU: whole games and steps, a profile of each kernel, and alternative launch configurations.

Each workload is measured in rounds. The report contains medians and quartiles.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from time import perf_counter
from typing import Protocol

import msgspec
import numpy as np

from axiogames.analysis.bench.measure import RunInfo, run_info
from axiogames.batch import Batch
from axiogames.batch.cuda import CudaBackend, find_cuda
from axiogames.batch.cuda_occupancy import DEFAULT_LAUNCH, MAX_REGISTERS, Kernel, LaunchConfig
from axiogames.games import GAMES
from benchmarks.peers.peer_program import Measurement
from benchmarks.peers.research import (
    MIN_ROUNDS,
    PLAYERS,
    SLICE,
    SQUARES,
    amount_for,
    quartiles,
    wall_rate,
)

WHOLE_GAMES = 1 << 20  # random games in a batch
STEPPED_GAMES = 1 << 17  # games in a batch whose masks and observations are written
COPIES = 100
COPY_BYTES = 1 << 30  # to measure the memory bandwidth

RANDOM, GREEDY = "random_games", "greedy_games"
WORKLOADS = {  # description and unit
    RANDOM: ("random games", "moves/s"),
    GREEDY: ("greedy games", "scored placements/s"),
    "steps": ("observation, mask, sampled move and checked step", "moves/s"),
}
WARM_UP_STEPS = 12  # until the games are past their openings
STEPS = ("observe", "masks", "sample", "find_illegal", "step")
TARGETS = {(SQUARES, RANDOM): 3e9, (SQUARES, GREEDY): 5e9}

# Configurations for random games of the first game: compact states or not, and the launch configuration.
GLOBAL = 1 << 30  # minimum of warps that never fit, so the states are in global memory
LAUNCHES: dict[str, tuple[bool, LaunchConfig]] = {
    "default: compact states in shared memory": (True, DEFAULT_LAUNCH),
    "compact states in global memory": (True, DEFAULT_LAUNCH._replace(min_warps=GLOBAL)),
    "full states in shared memory": (False, DEFAULT_LAUNCH),
    "full states in global memory": (False, DEFAULT_LAUNCH._replace(min_warps=GLOBAL)),
    "one warp per block, each with a copy of the constants": (True, DEFAULT_LAUNCH._replace(max_warps=1)),
    "96 registers": (True, DEFAULT_LAUNCH._replace(registers=96)),
    "128 registers": (True, DEFAULT_LAUNCH._replace(registers=128)),
    "no limit on registers": (True, DEFAULT_LAUNCH._replace(registers=MAX_REGISTERS)),
}


class GpuSpeed(msgspec.Struct, frozen=True):
    """Speed of whole games or steps: median and quartiles of the rounds."""

    game: str
    workload: str = msgspec.field(name="what")
    unit: str
    games: int  # in the batch
    state_bytes: int
    per_second: float
    low: float
    high: float
    target: float | None
    met: bool | None


class GpuKernel(msgspec.Struct, frozen=True):
    """Time and resources of one kernel, and its share of the memory bandwidth."""

    loop: str
    nanoseconds: float  # per move, or per scored placement
    share: float | None  # of the time of a step; `None` for whole games
    registers: int  # per thread
    shared_memory: int = msgspec.field(name="fast_memory")  # bytes per block
    local_memory: int = msgspec.field(name="slow_memory")  # bytes per thread
    block_size: int = msgspec.field(name="block")  # threads
    occupancy: float  # active warps per multiprocessor, as a share of the maximum
    min_bytes: float = msgspec.field(name="bytes_a_move")  # to read and write, per move or scored placement
    bandwidth_share: float = msgspec.field(name="of_bandwidth")  # that `min_bytes` use


class LaunchSpeed(msgspec.Struct, frozen=True):
    """Speed of random games in a launch configuration."""

    launch: str = msgspec.field(name="what")
    per_second: float
    low: float
    high: float
    occupancy: float


class GpuReport(RunInfo, frozen=True, tag_field="suite", tag="research on a GPU"):
    """Figures of one run on a GPU."""

    gpu: str
    numba_cuda: str
    rounds: int
    bandwidth: float  # bytes per second when memory is copied, reads and writes added
    speeds: tuple[GpuSpeed, ...]
    kernels: tuple[GpuKernel, ...]  # of the first game
    launches: tuple[LaunchSpeed, ...] = msgspec.field(name="tries")  # random games of the first game


class Gpu(Protocol):
    """A GPU, or the stand-in that tests use."""

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
    """The GPU of this machine. Raises `MissingDependency`, or `DeviceNotFound` if there is no GPU."""

    def __init__(self) -> None:
        self._cuda = find_cuda()
        name = self._cuda.get_current_device().name
        self.name = name.decode() if isinstance(name, bytes) else str(name)
        self.numba_cuda = version("numba-cuda")

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
        source, target = (self._cuda.device_array(COPY_BYTES, np.uint8) for _ in range(2))
        for _ in range(2):  # the first round warms the GPU up
            self._cuda.synchronize()
            start = perf_counter()
            for _ in range(COPIES):
                target.copy_to_device(source)
            self._cuda.synchronize()
            elapsed = perf_counter() - start
        return 2 * COPY_BYTES * COPIES / elapsed


def run(seconds: float, tick: Callable[[float], None], gpu: Gpu | None = None) -> GpuReport:
    """Measure each workload for about `seconds`. `tick` receives the completed share, in [0, 1]."""
    gpu = gpu or Nvidia()
    rounds = max(MIN_ROUNDS, round(seconds / SLICE))
    measure = partial(_measure, rounds=rounds, slice_seconds=min(SLICE, seconds / MIN_ROUNDS))
    stages = 2 * len(GAMES) + 1 + len(LAUNCHES)
    completed = iter(range(1, stages + 1))
    speeds, kernels, launches = [], [], []
    bandwidth = gpu.bandwidth()
    for loop, games, compact in ((RANDOM, WHOLE_GAMES, True), (GREEDY, STEPPED_GAMES, False)):
        for game in GAMES:
            batch = gpu.batch(game, games, compact)
            rates, amount = measure(whole_games(batch, loop))
            speeds.append(_speed(batch, loop, rates))
            if game == SQUARES:
                moves = batch.play_randomly() if loop == RANDOM else batch.play_greedily()[1]
                per_launch = amount * moves / batch.games
                kernels.append(
                    _kernel(gpu, batch, loop, seconds=1 / rates, units=per_launch, bandwidth=bandwidth)
                )
            tick(next(completed) / stages)
    batch = gpu.batch(SQUARES, STEPPED_GAMES, False)
    step_times = [time_step(batch) for _ in range(WARM_UP_STEPS + rounds)][WARM_UP_STEPS:]
    totals = np.sum([[times[loop] for loop in STEPS] for times in step_times], axis=1)
    speeds.append(_speed(batch, "steps", batch.games / totals))
    for loop in STEPS:
        elapsed = np.array([times[loop] for times in step_times])
        kernel = _kernel(gpu, batch, loop, seconds=elapsed / batch.games, units=1, bandwidth=bandwidth)
        kernels.append(msgspec.structs.replace(kernel, share=float(np.median(elapsed / totals))))
    tick(next(completed) / stages)
    for name, (compact, launch) in LAUNCHES.items():
        batch = gpu.batch(SQUARES, WHOLE_GAMES, compact, launch)
        rates, _ = measure(whole_games(batch, RANDOM))
        launches.append(LaunchSpeed(name, *quartiles(rates), gpu.kernel(batch, RANDOM).occupancy))
        tick(next(completed) / stages)
    return GpuReport(
        **run_info(PLAYERS, seconds),
        gpu=gpu.name,
        numba_cuda=gpu.numba_cuda,
        rounds=rounds,
        bandwidth=bandwidth,
        speeds=tuple(speeds),
        kernels=tuple(kernels),
        launches=tuple(launches),
    )


def whole_games(batch: Batch, loop: str) -> Callable[[int], Measurement]:
    """Return a workload of whole games. It counts the moves of random games, or the scored placements."""
    moves, scored = (batch.backend.zeros((batch.games,), np.int64) for _ in range(2))
    opening = batch.backend.to_device(batch.variant.opening)
    counted = moves if loop == RANDOM else scored

    def work(amount: int) -> Measurement:
        play = partial(batch.backend.run, loop, (opening, batch.states, batch.rngs), amount, moves, scored)
        elapsed = _elapsed(batch, play)
        return Measurement(float(batch.backend.to_host(counted).sum()), elapsed, elapsed)

    return work


def time_step(batch: Batch) -> dict[str, float]:
    """Return the seconds of each loop of a checked step with observation, mask and random choice."""
    found = {"observe": _elapsed(batch, batch.observe), "masks": _elapsed(batch, batch.masks)}
    found["sample"] = _elapsed(batch, batch.sample)
    actions = batch.sample()
    found["find_illegal"] = _elapsed(batch, partial(batch.check, actions))
    found["step"] = _elapsed(batch, partial(batch.step, actions, checked=False))
    return found


def bytes_of(batch: Batch, loop: str) -> int:
    """Return the bytes per game that a loop must read and write in global memory, each counted once."""
    state, observation = batch.variant.opening.dtype.itemsize, batch.observation
    action, rng, counts, tracks = 4, 2 * 8, 2 * 8, len(batch.variant.tracks)
    sizes: dict[str, int] = {
        "observe": state + 1 + observation.board.size + 2 * len(observation.names),
        "masks": state + batch.num_actions,
        "sample": state + rng + action,
        "find_illegal": state + action,
        "step": 2 * state + rng + action + 2 * tracks + 4 * batch.players + 1,
        RANDOM: state + rng + counts,
        GREEDY: state + rng + counts,
    }
    return sizes[loop]


def _measure(
    workload: Callable[[int], Measurement], rounds: int, slice_seconds: float
) -> tuple[np.ndarray, int]:
    """Return the speed in each round, and the amount of work per round."""
    amount = amount_for(workload, slice_seconds)
    return np.array([wall_rate(workload(amount)) for _ in range(rounds)]), amount


def _elapsed(batch: Batch, call: Callable[[], object]) -> float:
    """Return the seconds that a call takes on the device."""
    batch.backend.wait()
    start = perf_counter()
    call()
    batch.backend.wait()
    return perf_counter() - start


def _speed(batch: Batch, loop: str, rates: np.ndarray) -> GpuSpeed:
    game = batch.variant.game.id
    median, low, high = quartiles(rates)
    workload, unit = WORKLOADS[loop]
    target = TARGETS.get((game, loop))
    return GpuSpeed(
        game=game,
        workload=workload,
        unit=unit,
        games=batch.games,
        state_bytes=batch.variant.opening.dtype.itemsize,
        per_second=median,
        low=low,
        high=high,
        target=target,
        met=None if target is None else median >= target,
    )


def _kernel(
    gpu: Gpu, batch: Batch, loop: str, *, seconds: np.ndarray, units: float, bandwidth: float
) -> GpuKernel:
    """Return the profile of a kernel.

    Args:
        gpu: the GPU.
        batch: the batch that the kernel ran on.
        loop: name of the kernel.
        seconds: seconds per unit (move or scored placement), one for each round.
        units: number of units per game and launch.
        bandwidth: bandwidth of the global memory, in bytes per second.
    """
    kernel = gpu.kernel(batch, loop)
    median, min_bytes = float(np.median(seconds)), bytes_of(batch, loop) / units
    return GpuKernel(
        loop=loop,
        nanoseconds=median * 1e9,
        share=None,
        registers=kernel.registers,
        shared_memory=kernel.shared_memory,
        local_memory=kernel.local_memory,
        block_size=kernel.block,
        occupancy=kernel.occupancy,
        min_bytes=min_bytes,
        bandwidth_share=min_bytes / median / bandwidth,
    )
