"""The section of docs/explanation/benchmarks.md about a GPU, from `benchmarks.peers --device cuda`."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.peers.gpu import GREEDY, STEPS, GpuKernel, GpuReport, GpuSpeed
from benchmarks.peers.plots import number

HEAD = """## On a GPU

`python -m benchmarks.peers --device cuda --seconds {seconds:g} --json` measured this on one {gpu}
(numba-cuda {numba_cuda}); it is kept in [cuda.json](../_data/benchmarks/cuda.json). Medians of {rounds}
rounds and, in brackets, quartiles. Each thing is measured by itself, from the start of its kernels until
the last of them has ended.
"""

KERNELS = """### Where the time goes

Of `{game}`, for a move (in {greedy}: for a rated placement). *Bytes* is what has to be read and written
in the memory of the GPU at least, each byte counted once; *of the bandwidth* compares that with
{bandwidth} bytes a second, read and written, which the memory reaches when it is copied.
*Warps* is how many groups of 32 threads a multiprocessor can have at once, as a share of the most.
"""

TRIES = """### What was tried

Random games of `{game}`, a thread a game. A game is a long chain of small steps that depend on each
other, so the GPU waits less the more games it has at once: what limits it are fast memory (for states)
and registers. Whole games hardly use the memory's bandwidth.

A profiler says the same (`ncu --set full`, a launch of 262,144 random games on an H200): each quarter of a
multiprocessor has five warps and issues an instruction in 36 % of its cycles; of the 32 threads of a warp
15 are at work on average, since games differ in what comes next; reading fast memory takes 1.7 times as
long as it would if no two threads asked the same bank; the memory of the GPU is used to 0.6 %. Keeping the
games of a warp in step by votes, so that all draw or all move, changed nothing and was given up.
"""


def section(report: GpuReport) -> str:
    """Return the section."""
    game = report.speeds[0].game
    head = HEAD.format(
        seconds=report.seconds, gpu=report.gpu, numba_cuda=report.numba_cuda, rounds=report.rounds
    )
    kernels = KERNELS.format(game=game, greedy=GREEDY, bandwidth=_large(report.bandwidth))
    return "\n".join(
        [
            head,
            "| | a second | asked: at least | games side by side | a state |",
            "|---|---|---|---|---|",
            *map(_speed, report.speeds),
            "",
            kernels,
            "| loop | ns | of a step | registers | fast memory | warps | bytes | of the bandwidth |",
            "|---|---|---|---|---|---|---|---|",
            *map(_kernel, report.kernels),
            "",
            TRIES.format(game=game),
            "| | moves/s | warps |",
            "|---|---|---|",
            *_tries(report),
            "",
            "![Random games in other ways](../_data/benchmarks/gpu.svg)\n",
        ]
    )


def _speed(speed: GpuSpeed) -> str:
    said = "" if speed.target is None else _large(speed.target) + ("" if speed.met else ": **missed**")
    figures = f"{_large(speed.per_second)} ({_large(speed.low)} to {_large(speed.high)}) {speed.unit[:-2]}"
    return (
        f"| {speed.game}: {speed.what} | {figures} | {said} | {speed.games:,} | {speed.state_bytes:,} bytes |"
    )


def _kernel(kernel: GpuKernel) -> str:
    share = "" if kernel.share is None else f"{kernel.share:.0%}"
    memory = f"{kernel.fast_memory:,} bytes for {kernel.block} games" if kernel.loop not in STEPS else "none"
    return (
        f"| `{kernel.loop}` | {number(kernel.nanoseconds)} | {share} | {kernel.registers} | {memory}"
        f" | {kernel.occupancy:.0%} | {number(kernel.bytes_a_move)} | {kernel.of_bandwidth:.1%} |"
    )


def _tries(report: GpuReport) -> Iterator[str]:
    for tried in report.tries:
        speed = f"{_large(tried.per_second)} ({_large(tried.low)} to {_large(tried.high)})"
        yield f"| {tried.what} | {speed} | {tried.occupancy:.0%} |"


def _large(value: float) -> str:
    """Format a large number with a power of ten."""
    power = max(len(f"{value:.0f}") - 1, 0) // 3 * 3
    return f"{value / 10**power:.3g}e{power}" if power else f"{value:.3g}"
