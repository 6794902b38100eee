"""The report of the server benchmark, as JSON and as tables."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from msgspec import Struct
from rich.console import Console
from rich.table import Table

# Targets, for `TARGET_TABLES` tables on one core.
TARGET_TABLES = 200
MIN_MOVES_PER_SECOND = 1700
MAX_P99_SECONDS = 0.007
MAX_TABLE_BYTES = 60_000
MAX_START_SECONDS = 3.0


class Spread(Struct, frozen=True):
    """Median, p99 and maximum of a duration, in milliseconds."""

    p50: float
    p99: float
    max: float


class Played(Struct, frozen=True):
    """Measurements of tables in play, at full speed or at a fixed pace."""

    database: str
    layout: str  # of the cores
    tables: int
    paced: bool
    moves_per_second: float  # acknowledged; counted in the database afterwards
    lowest: float  # moves per second of the slowest round
    highest: float
    echoes_per_second: float  # of the echo server, in the same rounds
    ratio: float  # moves per echo; median over the rounds
    disk: Spread  # of an fsync of a page, in the same rounds
    sender: Spread  # from sending a move to its acknowledgement
    other: Spread  # from sending a move to the other seat's step
    server_cpu: float  # microseconds per move
    client_cpu: float
    moves: int  # all acknowledged moves, which were found in the database
    missing_spares: int  # games that ended when there was no spare table


class Memory(Struct, frozen=True):
    """Memory of idle tables, each with two sockets."""

    database: str
    tables: int
    bytes_per_table: float
    before: int  # bytes of the server without tables


class Page(Struct, frozen=True):
    """Time until the first page is served."""

    first_start: float  # seconds, with an empty folder
    start: float  # seconds, with an existing database
    page: float  # milliseconds for the page alone
    files: int
    kilobytes: float  # as sent, compressed
    all: float  # milliseconds for the page and all its files, one after the other


class Report(Struct, frozen=True):
    """Measurements of a whole run."""

    machine: str
    python: str
    game: str
    rounds: int
    played: list[Played]
    memory: list[Memory]
    page: Page | None


def spread(rounds: Sequence[Sequence[float]]) -> Spread:
    """Return the medians over the rounds of p50 and p99, and the maximum, for durations in seconds."""

    def quantile(share: float) -> float:
        found = [sorted(times)[min(len(times) - 1, int(share * len(times)))] for times in rounds if times]
        return 1000 * median(found) if found else 0.0

    maximum = max((max(times) for times in rounds if times), default=0.0)
    return Spread(quantile(0.5), quantile(0.99), 1000 * maximum)


def show(report: Report, console: Console) -> None:
    """Print the report as tables."""
    console.print(f"{report.machine}; Python {report.python}; game {report.game}, two players per table")
    if report.played:
        console.print(_playing(report.played))
        console.print(
            "Every acknowledged move was found in the database after the server had been killed. "
            "/echo: moves per echo of a server without games, with equal clients and cores. "
            "ack, step: ms until the sender's acknowledgement and until the other seat's step. "
            "fsync: ms for a synchronous write of a page. "
            "CPU: CPU time per move of the server and of both clients."
        )
    if report.memory or report.page:
        console.print(_idle(report))
    console.print(_targets(report))


def _playing(played: Sequence[Played]) -> Table:
    table = Table(title="Tables in play", title_justify="left")
    for name in ("database", "cores", "tables"):
        table.add_column(name)
    figures = ["moves/s", "low–high", "/echo", "ack p50", "p99", "max", "step p50", "p99", "max"]
    for name in (*figures, "fsync p50", "p99", "CPU µs"):
        table.add_column(name, justify="right")
    for run in played:
        table.add_row(
            run.database,
            run.layout,
            f"{run.tables} {'at 1 move/s' if run.paced else 'busy'}",
            f"{run.moves_per_second:,.0f}",
            f"{run.lowest:,.0f}–{run.highest:,.0f}",
            "" if run.paced else f"{run.ratio:.3f}",
            *(f"{value:.1f}" for s in (run.sender, run.other) for value in (s.p50, s.p99, s.max)),
            f"{run.disk.p50:.1f}",
            f"{run.disk.p99:.1f}",
            f"{run.server_cpu:.0f}+{run.client_cpu:.0f}",
        )
    return table


def _idle(report: Report) -> Table:
    table = Table(title="Memory and start", title_justify="left", show_header=False)
    table.add_column()
    table.add_column(justify="right")
    for memory in report.memory:
        name = f"memory of an idle table with its two sockets, {memory.database}, {memory.tables} more tables"
        table.add_row(name, f"{memory.bytes_per_table / 1000:.1f} KB")
        name = f"memory of the server without tables, {memory.database}"
        table.add_row(name, f"{memory.before / 1e6:.0f} MB")
    if page := report.page:
        table.add_row("start to first page, empty folder", f"{page.first_start:.2f} s")
        table.add_row("start to first page, warm", f"{page.start:.2f} s")
        table.add_row("the page alone", f"{page.page:.1f} ms")
        table.add_row(
            f"the page and its {page.files} files, {page.kilobytes:.0f} KB, one by one", f"{page.all:.1f} ms"
        )
    return table


def _targets(report: Report) -> Table:
    table = Table(title="Targets", title_justify="left")
    for name in ("figure", "target", "measured", ""):
        table.add_column(name)
    for what, target, measured, met in targets(report):
        table.add_row(what, target, measured, "[green]met[/]" if met else "[red]missed[/]")
    return table


def targets(report: Report) -> list[tuple[str, str, str, bool]]:
    """Return rows of figure, target, measured value, and whether the target was met."""
    rows = []
    for run in report.played:
        if run.tables != TARGET_TABLES or run.layout != "one core":
            continue
        conditions = f"{run.tables} tables, one core, {run.database}"
        if run.paced:
            worst = max(run.sender.p99, run.other.p99) / 1000
            figure = f"p99 at 1 move/s per table, {conditions}"
            rows.append(
                (
                    figure,
                    f"< {1000 * MAX_P99_SECONDS:.0f} ms",
                    f"{1000 * worst:.1f} ms",
                    worst < MAX_P99_SECONDS,
                )
            )
        else:
            rate = run.moves_per_second
            figure = f"moves/s, durable before acknowledgement, {conditions}"
            rows.append((figure, f"≥ {MIN_MOVES_PER_SECOND:,}", f"{rate:,.0f}", rate >= MIN_MOVES_PER_SECOND))
    for memory in report.memory:
        size = memory.bytes_per_table
        figure = f"memory of an idle table with its sockets, {memory.database}"
        rows.append(
            (figure, f"< {MAX_TABLE_BYTES // 1000} KB", f"{size / 1000:.1f} KB", size < MAX_TABLE_BYTES)
        )
    if report.page:
        start = report.page.start
        rows.append(
            (
                "start to first page, warm",
                f"< {MAX_START_SECONDS:.0f} s",
                f"{start:.2f} s",
                start < MAX_START_SECONDS,
            )
        )
    return rows
