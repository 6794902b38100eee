"""The reports of `python -m benchmarks.peers` as terminal tables."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from axiogames.cli.commands.bench import new_table
from benchmarks.peers.gpu import GpuReport
from benchmarks.peers.research import NEAR_LINEAR, TIME_BASES, ResearchReport


def show_research(console: Console, report: ResearchReport) -> None:
    """Print speeds, ratios and targets of a run on a CPU, and the peers that were skipped."""
    console.print(figures_table(report))
    console.print(ratios_table(report))
    for peer in report.skipped:
        console.print(f"Skipped: {peer.name} ({peer.reason}). To install it: {peer.install}", markup=False)
    if report.games_compared:
        console.print(f"The C program played the same {report.games_compared} games as our rules.")
    missed = [f"{ratio.numerator} to {ratio.denominator}" for ratio in report.ratios if ratio.met is False]
    console.print(f"Targets missed: {'; '.join(missed)}." if missed else "No measured target was missed.")
    if report.was_busy:
        console.print(
            "The machine was busy: ratios to MOMAland are too high, and those of two threads mean nothing."
        )
    if report.lacked_second_core:
        console.print(f"Two cores were not free: even independent threads gained less than {NEAR_LINEAR}x.")
    before, after = report.load_average
    console.print(f"{report.rounds} rounds; load average {before:.1f} before and {after:.1f} after them.")
    console.print(f"{', '.join(dict.fromkeys(figure.software for figure in report.figures))}.")


def show_gpu(console: Console, report: GpuReport) -> None:
    """Print the speeds on a GPU, the profile of each kernel, and the launch configurations."""
    console.print(gpu_speeds_table(report))
    console.print(kernels_table(report))
    console.print(launches_table(report))
    console.print(
        f"{report.rounds} rounds. Copies reach {report.bandwidth:,.3g} bytes/s, reads and writes added."
        f" numba-cuda {report.numba_cuda}."
    )


def gpu_speeds_table(report: GpuReport) -> Table:
    """Return a table of the speeds of whole games and of steps on a GPU."""
    title = f"{report.gpu}; {report.players} players"
    columns = ("workload", "speed", "unit", "±", "games", "state", "target")
    table = new_table(title, *columns, text=("workload", "unit"))
    for speed in report.speeds:
        result = {True: "met", False: "missed", None: ""}[speed.met]
        table.add_row(
            f"{speed.game}: {speed.workload}",
            f"{speed.per_second:,.3g}",
            speed.unit,
            f"{(speed.high - speed.low) / 2 / speed.per_second:.0%}",
            f"{speed.games:,}",
            f"{speed.state_bytes:,} bytes",
            f"{speed.target:,.3g}: {result}" if result else "",
        )
    return table


def kernels_table(report: GpuReport) -> Table:
    """Return a table of the time and the resources of each kernel."""
    columns = ("ns", "share of a step", "registers", "shared memory", "occupancy", "bytes", "bandwidth")
    table = new_table("Time per move or scored placement", "kernel", *columns, text=("kernel",))
    for kernel in report.kernels:
        table.add_row(
            kernel.loop,
            f"{kernel.nanoseconds:.3g}",
            "" if kernel.share is None else f"{kernel.share:.0%}",
            f"{kernel.registers}",
            f"{kernel.shared_memory:,} for {kernel.block_size} games",
            f"{kernel.occupancy:.0%}",
            f"{kernel.min_bytes:,.0f}",
            f"{kernel.bandwidth_share:.1%}",
        )
    return table


def launches_table(report: GpuReport) -> Table:
    """Return a table of the speed of random games by launch configuration."""
    columns = ("configuration", "moves/s", "±", "occupancy")
    table = new_table("Random games by launch configuration", *columns, text=("configuration",))
    for launch in report.launches:
        spread = (launch.high - launch.low) / 2 / launch.per_second
        table.add_row(launch.launch, f"{launch.per_second:,.3g}", f"{spread:.0%}", f"{launch.occupancy:.0%}")
    return table


def figures_table(report: ResearchReport) -> Table:
    """Return a table of speeds with half the interquartile range of the rounds."""
    title = f"{report.machine}; {report.players} players"
    table = new_table(title, "workload", "moves/s", "±", "time", text=("workload", "time"))
    for figure in report.figures:
        spread = (figure.high - figure.low) / 2 / figure.moves_per_second
        time_base = TIME_BASES[figure.time_base]
        table.add_row(figure.name, f"{figure.moves_per_second:,.0f}", f"{spread:.0%}", time_base)
    return table


def ratios_table(report: ResearchReport) -> Table:
    """Return a table of ratios to the peers and their targets."""
    table = new_table("Ratios", "speeds", "ratio", "quartiles", "target", text=("speeds",))
    for ratio in report.ratios:
        compared = f"{ratio.numerator} to {ratio.denominator}"
        target = "" if ratio.target is None else f"{ratio.target:,g}"
        if ratio.value is None:
            table.add_row(compared, "not measured", "", target)
            continue
        spread = f"{ratio.low:,.3f} to {ratio.high:,.3f}"
        result = {True: f"{target}: met", False: f"{target}: missed", None: ""}[ratio.met]
        table.add_row(compared, f"{ratio.value:,.3f} ×", spread, result)
    return table
