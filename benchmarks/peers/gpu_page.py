"""The GPU section of docs/explanation/benchmarks.md, generated from `benchmarks.peers --device cuda`."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.peers.gpu import GREEDY, STEPS, GpuKernel, GpuReport, GpuSpeed
from benchmarks.peers.plots import number

HEAD = """## GPU

`python -m benchmarks.peers --device cuda --seconds {seconds:g} --json` measured these figures on one {gpu}
(numba-cuda {numba_cuda}). They are stored in [cuda.json](../_data/benchmarks/cuda.json): medians of
{rounds} rounds, with quartiles in parentheses. Each workload is measured on its own, from the launch of its
first kernel to the end of the last one.
"""

KERNELS = """### Profile of the kernels

The table shows `{game}`, per move (for {greedy}: per scored placement). *Bytes* is the minimum that must be
read and written in global memory, each byte counted once. *Bandwidth* is the share of {bandwidth} bytes per
second, the measured bandwidth of a copy (reads and writes added). *Occupancy* is the number of active warps
per multiprocessor, as a share of the maximum.
"""

LAUNCHES = """### Launch configurations

Random games of `{game}`, with one thread per game. A game is a long chain of small dependent steps, so more
concurrent games hide more latency. Shared memory (for states) and registers limit their number. Whole games
hardly use the bandwidth of global memory.

A profiler confirms this (`ncu --set full`, a launch of 262,144 random games on an H200). Each scheduler of
a multiprocessor has five active warps and issues an instruction in 36 % of the cycles. On average, 15 of
the 32 threads of a warp are active, because games diverge. Bank conflicts make accesses to shared memory
1.7 times as slow. The utilisation of global memory is 0.6 %. Keeping the games of a warp in step by votes, so
that all draw or all move, had no effect and was dropped.
"""


def section(report: GpuReport) -> str:
    """Return the GPU section as Markdown."""
    game = report.speeds[0].game
    head = HEAD.format(
        seconds=report.seconds, gpu=report.gpu, numba_cuda=report.numba_cuda, rounds=report.rounds
    )
    kernels = KERNELS.format(game=game, greedy=GREEDY, bandwidth=_large(report.bandwidth))
    return "\n".join(
        [
            head,
            "| workload | per second | target | games in the batch | size of a state |",
            "|---|---|---|---|---|",
            *map(_speed, report.speeds),
            "",
            kernels,
            "| kernel | ns | share of a step | registers | shared memory | occupancy | bytes | bandwidth |",
            "|---|---|---|---|---|---|---|---|",
            *map(_kernel, report.kernels),
            "",
            LAUNCHES.format(game=game),
            "| configuration | moves/s | occupancy |",
            "|---|---|---|",
            *_launches(report),
            "",
            "![Random games by launch configuration](../_data/benchmarks/gpu.svg)\n",
        ]
    )


def _speed(speed: GpuSpeed) -> str:
    target = "" if speed.target is None else _large(speed.target) + ("" if speed.met else ": **missed**")
    figures = f"{_large(speed.per_second)} ({_large(speed.low)} to {_large(speed.high)}) {speed.unit[:-2]}"
    size = f"{speed.state_bytes:,} bytes"
    return f"| {speed.game}: {speed.workload} | {figures} | {target} | {speed.games:,} | {size} |"


def _kernel(kernel: GpuKernel) -> str:
    share = "" if kernel.share is None else f"{kernel.share:.0%}"
    memory = "none"
    if kernel.loop not in STEPS:
        memory = f"{kernel.shared_memory:,} bytes for {kernel.block_size} games"
    return (
        f"| `{kernel.loop}` | {number(kernel.nanoseconds)} | {share} | {kernel.registers} | {memory}"
        f" | {kernel.occupancy:.0%} | {number(kernel.min_bytes)} | {kernel.bandwidth_share:.1%} |"
    )


def _launches(report: GpuReport) -> Iterator[str]:
    for launch in report.launches:
        speed = f"{_large(launch.per_second)} ({_large(launch.low)} to {_large(launch.high)})"
        yield f"| {launch.launch} | {speed} | {launch.occupancy:.0%} |"


def _large(value: float) -> str:
    """Format a large number with three digits and an exponent."""
    power = max(len(f"{value:.0f}") - 1, 0) // 3 * 3
    return f"{value / 10**power:.3g}e{power}" if power else f"{value:.3g}"
