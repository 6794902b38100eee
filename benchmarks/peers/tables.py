"""The reports of `python -m benchmarks.peers` as tables on a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from axiogames.cli.commands.bench import new_table
from benchmarks.peers.gpu import GpuReport
from benchmarks.peers.research import ResearchReport


def show_research(console: Console, report: ResearchReport) -> None:
    """Print speeds, ratios and targets of a run on a CPU, and the peers that were not measured."""
    console.print(figures_table(report))
    console.print(ratios_table(report))
    for left in report.left_out:
        console.print(f"Left out: {left.name} ({left.why}). To get it: {left.get}", markup=False)
    if report.games_compared:
        console.print(f"The C program played the same {report.games_compared} games as our rules.")
    missed = [f"{ratio.of} to {ratio.to}" for ratio in report.ratios if ratio.met is False]
    console.print(f"Targets missed: {'; '.join(missed)}." if missed else "No measured target is missed.")
    if report.was_busy:
        console.print(
            "The machine was busy: ratios to MOMAland are too high, those of two threads mean nothing."
        )
    if report.lacked_a_core:
        console.print("Two cores were not free: even independent threads gained less than 1.8 times.")
    before, after = report.busy
    console.print(f"{report.rounds} rounds; load average {before:.1f} before them, {after:.1f} after.")
    console.print(f"{', '.join(dict.fromkeys(figure.of for figure in report.figures))}.")


def show_gpu(console: Console, report: GpuReport) -> None:
    """Print the speeds on a GPU, the profile of each kernel, and the alternatives that were tried."""
    console.print(gpu_speeds_table(report))
    console.print(kernels_table(report))
    console.print(tries_table(report))
    console.print(
        f"{report.rounds} rounds. The memory copies {report.bandwidth:,.3g} bytes/s, read and written."
        f" Warps: share of the most that a multiprocessor can hold. numba-cuda {report.numba_cuda}."
    )


def gpu_speeds_table(report: GpuReport) -> Table:
    """Return a table of the speeds of whole games and of steps on a GPU."""
    title = f"{report.gpu}; {report.players} players"
    table = new_table(title, "what", "speed", "unit", "±", "games", "state", "target", text=("what", "unit"))
    for speed in report.speeds:
        result = {True: "met", False: "missed", None: ""}[speed.met]
        table.add_row(
            f"{speed.game}: {speed.what}",
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
    columns = ("ns", "of a step", "registers", "fast memory", "warps", "bytes", "of the bandwidth")
    table = new_table("Time per move or scored placement", "loop", *columns, text=("loop",))
    for kernel in report.kernels:
        table.add_row(
            kernel.loop,
            f"{kernel.nanoseconds:.3g}",
            "" if kernel.share is None else f"{kernel.share:.0%}",
            f"{kernel.registers}",
            f"{kernel.fast_memory:,} for {kernel.block} games",
            f"{kernel.occupancy:.0%}",
            f"{kernel.bytes_a_move:,.0f}",
            f"{kernel.of_bandwidth:.1%}",
        )
    return table


def tries_table(report: GpuReport) -> Table:
    """Return a table of the launch configurations that were tried for random games."""
    table = new_table("Random games in other configurations", "how", "moves/s", "±", "warps", text=("how",))
    for tried in report.tries:
        spread = (tried.high - tried.low) / 2 / tried.per_second
        table.add_row(tried.what, f"{tried.per_second:,.3g}", f"{spread:.0%}", f"{tried.occupancy:.0%}")
    return table


def figures_table(report: ResearchReport) -> Table:
    """Return a table of speeds with half the interquartile range of the rounds."""
    title = f"{report.machine}; {report.players} players"
    table = new_table(title, "what", "moves/s", "±", "by time of", text=("what", "by time of"))
    for figure in report.figures:
        spread = (figure.high - figure.low) / 2 / figure.moves_per_second
        table.add_row(figure.name, f"{figure.moves_per_second:,.0f}", f"{spread:.0%}", f"the {figure.by}")
    return table


def ratios_table(report: ResearchReport) -> Table:
    """Return a table of ratios to the peers and their targets."""
    table = new_table("Ratios", "what", "times", "quartiles", "target", text=("what",))
    for ratio in report.ratios:
        compared = f"{ratio.of} to {ratio.to}"
        target = "" if ratio.target is None else f"{ratio.target:,g}"
        if ratio.times is None:
            table.add_row(compared, "not measured", "", target)
            continue
        spread = f"{ratio.low:,.3f} to {ratio.high:,.3f}"
        result = {True: f"{target}: met", False: f"{target}: missed", None: ""}[ratio.met]
        table.add_row(compared, f"{ratio.times:,.3f} ×", spread, result)
    return table
