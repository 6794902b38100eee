"""`python -m benchmarks.peers --device cuda`: counts in its report, with the CPU in place of a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
import pytest

from axiogames.batch import Batch
from axiogames.batch.cuda import find_cuda
from axiogames.batch.cuda_occupancy import Kernel, LaunchConfig
from axiogames.errors import DeviceNotFound, MissingDependency
from axiogames.games import GAMES
from benchmarks.peers import gpu, gpu_page, plots
from benchmarks.peers.page import page, read
from benchmarks.peers.peer_program import Measurement
from tests.benchmarks.running import assert_refused, run

pytestmark = pytest.mark.slow

SOME = GAMES[:1]
(SQUARES,) = SOME


class StandIn:
    """The CPU in place of a GPU."""

    name, numba_cuda = "no GPU", "0"

    def __init__(self) -> None:
        self.requested: list[tuple[str, bool, LaunchConfig | None]] = []

    def batch(self, game: str, games: int, compact: bool, launch: LaunchConfig | None = None) -> Batch:
        """Return a batch of a few games, with full states, which other tests compile as well."""
        self.requested.append((game, compact, launch))
        return Batch(game, 2, 3)

    def kernel(self, batch: Batch, loop: str) -> Kernel:
        """Return any resources."""
        return Kernel(96, 40, 1000, 8, 16, 64)

    def bandwidth(self) -> float:
        """Return any bandwidth."""
        return 1e12


Measured = tuple[StandIn, gpu.GpuReport, list[float]]


@pytest.fixture(scope="module")
def measured() -> Iterator[Measured]:
    stand_in, shares = StandIn(), list[float]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gpu, "GAMES", SOME)
        yield stand_in, gpu.run(0.001, shares.append, stand_in), shares


def test_games_and_every_part_of_a_step_are_measured(measured: Measured) -> None:
    _, report, shares_done = measured
    assert shares_done == sorted(shares_done)
    assert shares_done[-1] == 1.0
    found = [(speed.game, speed.workload) for speed in report.speeds]
    whole = [gpu.WORKLOADS[loop][0] for loop in (gpu.RANDOM, gpu.GREEDY)]
    steps = gpu.WORKLOADS["steps"][0]
    assert found == [*((game, workload) for workload in whole for game in SOME), (SQUARES, steps)]
    for speed in report.speeds:
        assert 0 < speed.low <= speed.per_second <= speed.high
        assert speed.met == (None if speed.target is None else speed.per_second >= speed.target)
    assert [speed.target for speed in report.speeds if speed.target] == [3e9, 5e9]
    assert [kernel.loop for kernel in report.kernels] == [gpu.RANDOM, gpu.GREEDY, *gpu.STEPS]
    shares = [kernel.share for kernel in report.kernels if kernel.share is not None]
    assert len(shares) == len(gpu.STEPS)
    assert 0.5 < sum(shares) < 1.5  # the medians need not add up to 1
    for kernel in report.kernels:
        assert kernel.occupancy == 0.25
        assert kernel.bandwidth_share == pytest.approx(kernel.min_bytes / kernel.nanoseconds / 1e3)
    assert msgspec.json.decode(msgspec.json.encode(report), type=gpu.GpuReport) == report


def test_every_launch_configuration_is_measured(measured: Measured) -> None:
    stand_in, report, _ = measured
    assert [launch.launch for launch in report.launches] == list(gpu.LAUNCHES)
    requested = stand_in.requested[-len(gpu.LAUNCHES) :]
    assert requested == [(SQUARES, *launch) for launch in gpu.LAUNCHES.values()]
    assert len(set(gpu.LAUNCHES.values())) == len(gpu.LAUNCHES)


def test_moves_and_scored_placements_are_counted() -> None:
    batch = Batch(SQUARES, 2, 5, seed=3)
    same = Batch(SQUARES, 2, 5, seed=3)
    assert gpu.whole_games(batch, gpu.RANDOM)(2).moves == same.play_randomly(2)
    assert gpu.whole_games(batch, gpu.GREEDY)(2).moves == same.play_greedily(2)[1]


def test_compilation_is_not_measured() -> None:
    amounts: list[int] = []

    def work(amount: int) -> Measurement:
        amounts.append(amount)
        elapsed = 0.001 * amount if len(amounts) > 1 else 5.0
        return Measurement(100.0 * amount, elapsed, elapsed)

    rates, amount = gpu._measure(work, 3, 0.1)
    assert (rates.tolist(), amount) == (pytest.approx([1e5] * 3), 100)


def test_bytes_of_a_loop_are_the_sizes_of_its_arrays() -> None:
    batch = Batch(SQUARES, 2, 2)
    observation, step = batch.observe(), batch.step(batch.sample())
    state = batch.states.itemsize
    expected = {
        "observe": state + 1 + (observation.board.nbytes + observation.vector.nbytes) // 2,
        "masks": state + batch.masks().nbytes // 2,
        "sample": state + 16 + batch.sample().itemsize,
        "find_illegal": state + batch.sample().itemsize,
        "step": 2 * state + 16 + 4 + sum(array.nbytes for array in step) // 2,
    }
    assert {loop: gpu.bytes_of(batch, loop) for loop in gpu.STEPS} == expected


# ---------------------------------------------------------------- the command


def test_missing_gpu_is_reported() -> None:
    try:
        find_cuda()
    except (DeviceNotFound, MissingDependency) as error:
        assert_refused(run("peers", "--device", "cuda"), str(error))
    else:
        pytest.skip("this machine has a GPU")


def test_report_is_printed_as_tables(measured: Measured, monkeypatch: pytest.MonkeyPatch) -> None:
    def measured_report(*_: Any) -> gpu.GpuReport:
        return measured[1]

    monkeypatch.setattr(gpu, "run", measured_report)
    monkeypatch.setenv("COLUMNS", "200")
    ran = run("peers", "--device", "cuda")
    assert ran.code == 0, ran
    for words in (
        "scored placements/s",
        "3e+09: missed",
        "find_illegal",
        "25%",
        *(launch[:18] for launch in gpu.LAUNCHES),
    ):
        assert words in ran.out, words
    assert np.all([speed.game in ran.out for speed in measured[1].speeds])


def test_page_has_a_gpu_section(measured: Measured) -> None:
    report = measured[1]
    text = gpu_page.section(report)
    for speed in report.speeds:
        assert f"| {speed.game}: {speed.workload} |" in text
    assert text.count("**missed**") == sum(speed.met is False for speed in report.speeds)
    for kernel in report.kernels:
        assert f"| `{kernel.loop}` |" in text
    for launch in report.launches:
        assert f"| {launch.launch} |" in text
    whole = page(read(), report)
    assert text in whole
    assert "One of them is a GPU." in whole
    assert "No GPU has been measured yet." in page(read(), None)
    assert plots.launches(report).count("<rect") == len(gpu.LAUNCHES)
