"""`python -m benchmarks.peers`: compare the speed of the games with other engines, on a CPU or a GPU."""

from __future__ import annotations

import sys

import click
from rich.console import Console

from axiogames.cli.commands.bench import check_seconds, print_json, progress_bar
from axiogames.cli.terminal.options import Real
from benchmarks.command import main
from benchmarks.peers import gpu, research, tables

DEVICES = ("cpu", "cuda")


@click.command()
@click.option(
    "--seconds",
    type=Real(-1e9, 1e9),
    default=2.0,
    show_default=True,
    help="Approximate duration of each measurement.",
)
@click.option(
    "--device", type=click.Choice(DEVICES), default=DEVICES[0], show_default=True, help="CPU or NVIDIA GPU."
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(*, seconds: float, device: str, as_json: bool) -> None:
    """Compare random games and environments with other engines, for two players.

    On a CPU, the peers are MOMAland's Ingenious, a C program, and games of OpenSpiel and pgx, if they are
    installed. With `--device cuda`, random and greedy games of all four games run on a GPU, and each kernel
    is profiled.
    """
    check_seconds(seconds)
    with progress_bar() as tick:
        report: research.ResearchReport | gpu.GpuReport
        report = gpu.run(seconds, tick) if device == "cuda" else research.run(seconds, tick)
    if as_json:
        print_json(report)
        return
    console = Console()
    if isinstance(report, gpu.GpuReport):
        tables.show_gpu(console, report)
    else:
        tables.show_research(console, report)
    console.print(f"Python {report.python}, NumPy {report.numpy}, Numba {report.numba}.")


if __name__ == "__main__":
    sys.exit(main(command, "python -m benchmarks.peers"))
