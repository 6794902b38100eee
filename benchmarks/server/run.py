"""`python -m benchmarks.server`: throughput, latency, memory and start time of the server on this machine.

It starts real servers with real databases, lets real clients play, and counts the acknowledged moves in the
database. Figures vary with the load of the machine. The ratio to an echo server, measured in the same
rounds with the same kind of clients, is more stable.
"""

from __future__ import annotations

import platform
import sys
from pathlib import Path

import click
import msgspec
from rich.console import Console

from benchmarks.server import measures
from benchmarks.server.databases import has_postgresql
from benchmarks.server.processes import compile_rules, core_layouts
from benchmarks.server.report import Memory, Page, Played, Report, show

TABLES = (50, 200, 500)
PACED_TABLES = 200
IDLE_TABLES = 500
WIDTH = 150  # columns of the tables, if the output is not a terminal
PARTS = ("busy", "paced", "memory", "start")


@click.command()
@click.option("--quick", is_flag=True, help="Measure only the figures with targets, in few rounds.")
@click.option("--database", type=click.Choice(["sqlite", "postgresql", "both"]), default="both")
@click.option("--only", multiple=True, type=click.Choice(PARTS), help="Measure only this; may be repeated.")
@click.option("--game", default="axio", show_default=True, help="Game to play.")
@click.option(
    "--rounds", type=click.IntRange(1), help="Rounds per measurement.  [default: 7; 3 with --quick]"
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def main(
    *, quick: bool, database: str, only: tuple[str, ...], game: str, rounds: int | None, as_json: bool
) -> None:
    """Measure the server."""
    parts = only or PARTS
    rounds = rounds or (3 if quick else 7)
    layouts = core_layouts()[:1] if quick else core_layouts()
    kinds = ["sqlite", "postgresql"] if database == "both" else [database]
    if "postgresql" in kinds and not has_postgresql():
        raise click.ClickException("PostgreSQL is not installed; add --database sqlite")
    notes = Console(stderr=True)
    notes.print("compiling the rules …")
    compile_rules()
    played, memory = list[Played](), list[Memory]()
    for kind in kinds:
        for layout in layouts:
            for tables, pace in _loads(parts, quick):
                notes.print(f"{kind}, {layout.name}: {tables} tables{' at 1 move/s' if pace else ''} …")
                played.append(measures.play(kind, layout, game, tables, pace=pace, rounds=rounds))
        if "memory" in parts:
            notes.print(f"{kind}: memory …")
            memory.append(measures.idle_memory(kind, core_layouts()[0], game, IDLE_TABLES))
    page: Page | None = None
    if "start" in parts:
        notes.print("start to first page …")
        page = measures.first_page(core_layouts()[-1], 3)
    report = Report(_machine(), platform.python_version(), game, rounds, played, memory, page)
    if as_json:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(report), indent=1).decode() + "\n")
    else:
        console = Console()
        show(report, console if console.is_terminal else Console(width=WIDTH))


def _loads(parts: tuple[str, ...], quick: bool) -> list[tuple[int, float | None]]:
    busy = [PACED_TABLES] if quick else TABLES
    loads: list[tuple[int, float | None]] = [(tables, None) for tables in busy if "busy" in parts]
    return [*loads, (PACED_TABLES, 1.0)] if "paced" in parts else loads


def _machine() -> str:
    models = [
        line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")
    ]
    name = models[0].partition(":")[2].strip() if models else platform.processor()
    return f"{name}, {len(models)} cores, {platform.system()} {platform.release()}"


if __name__ == "__main__":
    main()
