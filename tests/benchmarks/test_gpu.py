"""`python -m benchmarks.peers --device cuda`: reported counts, tried with the CPU in place of a GPU."""

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
from benchmarks.peers.peer_program import Done
from tests.benchmarks.running import assert_refused, run

pytestmark = pytest.mark.slow

SOME = GAMES[:1]
(SQUARES,) = SOME


class StandIn:
    """The processor in the place of a GPU."""

    name, numba_cuda = "no GPU", "0"

    def __init__(self) -> None:
        self.asked: list[tuple[str, bool, LaunchConfig | None]] = []

    def batch(self, game: str, games: int, compact: bool, launch: LaunchConfig | None = None) -> Batch:
        """A few games, always of the state that other tests compile, too."""
        self.asked.append((game, compact, launch))
        return Batch(game, 2, 3)

    def kernel(self, batch: Batch, loop: str) -> Kernel:
        """Any."""
        return Kernel(96, 40, 1000, 8, 16, 64)

    def bandwidth(self) -> float:
        """Any."""
        return 1e12


Measured = tuple[StandIn, gpu.GpuReport, list[float]]


@pytest.fixture(scope="module")
def measured() -> Iterator[Measured]:
    stand_in, told = StandIn(), list[float]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gpu, "GAMES", SOME)
        yield stand_in, gpu.run(0.001, told.append, stand_in), told


def test_games_and_every_part_of_a_step_are_measured(measured: Measured) -> None:
    _, report, told = measured
    assert told == sorted(told)
    assert told[-1] == 1.0
    found = [(speed.game, speed.what) for speed in report.speeds]
    whole = [gpu.SAID[loop][0] for loop in (gpu.RANDOM, gpu.GREEDY)]
    assert found == [*((game, what) for what in whole for game in SOME), (SQUARES, gpu.SAID["steps"][0])]
    for speed in report.speeds:
        assert 0 < speed.low <= speed.per_second <= speed.high
        assert speed.met == (None if speed.target is None else speed.per_second >= speed.target)
    assert [speed.target for speed in report.speeds if speed.target] == [3e9, 5e9]
    assert [kernel.loop for kernel in report.kernels] == [gpu.RANDOM, gpu.GREEDY, *gpu.STEPS]
    shares = [kernel.share for kernel in report.kernels if kernel.share is not None]
    assert len(shares) == len(gpu.STEPS)
    assert 0.5 < sum(shares) < 1.5  # medians, each of its own
    for kernel in report.kernels:
        assert kernel.occupancy == 0.25
        assert kernel.of_bandwidth == pytest.approx(kernel.bytes_a_move / kernel.nanoseconds / 1e3)
    assert msgspec.json.decode(msgspec.json.encode(report), type=gpu.GpuReport) == report


def test_what_was_tried_is_tried(measured: Measured) -> None:
    stand_in, report, _ = measured
    assert [tried.what for tried in report.tries] == list(gpu.TRIES)
    assert stand_in.asked[-len(gpu.TRIES) :] == [(SQUARES, *how) for how in gpu.TRIES.values()]
    assert len(set(gpu.TRIES.values())) == len(gpu.TRIES)


def test_moves_and_rated_placements_are_counted() -> None:
    batch = Batch(SQUARES, 2, 5, seed=3)
    again = Batch(SQUARES, 2, 5, seed=3)
    assert gpu.whole_games(batch, gpu.RANDOM)(2).moves == again.play_randomly(2)
    assert gpu.whole_games(batch, gpu.GREEDY)(2).moves == again.play_greedily(2)[1]


def test_compiling_is_not_measured() -> None:
    asked: list[int] = []

    def do(amount: int) -> Done:
        asked.append(amount)
        clock = 0.001 * amount if len(asked) > 1 else 5.0
        return Done(100.0 * amount, clock, clock)

    rates, amount = gpu._measured(do, 3, 0.1)
    assert (rates.tolist(), amount) == (pytest.approx([1e5] * 3), 100)


def test_the_bytes_of_a_loop_are_those_of_its_arrays() -> None:
    batch = Batch(SQUARES, 2, 2)
    seen, taken = batch.observe(), batch.step(batch.sample())
    state = batch.states.itemsize
    each = {
        "observe": state + 1 + (seen.board.nbytes + seen.vector.nbytes) // 2,
        "masks": state + batch.masks().nbytes // 2,
        "sample": state + 16 + batch.sample().itemsize,
        "find_illegal": state + batch.sample().itemsize,
        "step": 2 * state + 16 + 4 + sum(array.nbytes for array in taken) // 2,
    }
    assert {loop: gpu.bytes_of(batch, loop) for loop in gpu.STEPS} == each


# ---------------------------------------------------------------- the command


def test_without_a_gpu_the_command_says_so() -> None:
    try:
        find_cuda()
    except (DeviceNotFound, MissingDependency) as error:
        assert_refused(run("peers", "--device", "cuda"), str(error))
    else:
        pytest.skip("here is a GPU")


def test_the_report_of_a_gpu_as_tables(measured: Measured, monkeypatch: pytest.MonkeyPatch) -> None:
    def known(*_: Any) -> gpu.GpuReport:
        return measured[1]

    monkeypatch.setattr(gpu, "run", known)
    monkeypatch.setenv("COLUMNS", "200")
    ran = run("peers", "--device", "cuda")
    assert ran.code == 0, ran
    for words in (
        "rated placements/s",
        "3e+09: missed",
        "find_illegal",
        "25%",
        *(what[:18] for what in gpu.TRIES),
    ):
        assert words in ran.out, words
    assert np.all([speed.game in ran.out for speed in measured[1].speeds])


def test_the_part_of_the_page_about_a_gpu(measured: Measured) -> None:
    report = measured[1]
    text = gpu_page.section(report)
    for speed in report.speeds:
        assert f"| {speed.game}: {speed.what} |" in text
    assert text.count("**missed**") == sum(speed.met is False for speed in report.speeds)
    for kernel in report.kernels:
        assert f"| `{kernel.loop}` |" in text
    for tried in report.tries:
        assert f"| {tried.what} |" in text
    whole = page(read(), report)
    assert text in whole
    assert "What a GPU does is at the end." in whole
    assert "No GPU has been measured yet." in page(read(), None)
    assert plots.tries(report).count("<rect") == len(gpu.TRIES)
