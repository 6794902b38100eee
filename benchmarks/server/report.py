"""What was measured, for programs and for people."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from msgspec import Struct
from rich.console import Console
from rich.table import Table

MOVES_A_SECOND = 1700
SLOWEST = 0.007
LARGEST = 60_000
LATEST = 3.0
TARGET_TABLES = 200


class Spread(Struct, frozen=True):
    """How long it took: in the middle, for one in a hundred, and at most. Milliseconds."""

    p50: float
    p99: float
    max: float


class Played(Struct, frozen=True):
    """Moves at tables, either as fast as they go or at a pace."""

    database: str
    placing: str
    tables: int
    paced: bool
    moves_a_second: float  # acknowledged, and counted in the database afterwards
    lowest: float  # of the rounds
    highest: float
    echoes_a_second: float  # of the yardstick in the same rounds
    ratio: float  # moves to echoes, the median of the rounds
    disk: Spread  # what the disk alone takes to keep a page, in the same rounds
    sender: Spread  # from sending a move to its acknowledgement
    other: Spread  # from sending a move to the other seat's step
    server_cpu: float  # microseconds of processor time a move
    client_cpu: float
    moves: int  # all that were acknowledged and found in the database
    short: int  # games after which there was no table to go on at


class Memory(Struct, frozen=True):
    """What idle tables take, each with two sockets."""

    database: str
    tables: int
    bytes_a_table: float
    before: int  # what the server takes without any table


class Page(Struct, frozen=True):
    """How soon there is a page."""

    first_start: float  # seconds, with an empty folder
    start: float  # seconds, with a database that is there already
    page: float  # milliseconds for the page alone
    files: int
    kilobytes: float  # as sent, compressed
    all: float  # milliseconds for the page and all its files, one after the other


class Report(Struct, frozen=True):
    """A whole run."""

    machine: str
    python: str
    game: str
    rounds: int
    played: list[Played]
    memory: list[Memory]
    page: Page | None


def spread(rounds: Sequence[Sequence[float]]) -> Spread:
    """The medians over the rounds of what was measured in each, in seconds."""

    def at(share: float) -> float:
        found = [sorted(one)[min(len(one) - 1, int(share * len(one)))] for one in rounds if one]
        return 1000 * median(found) if found else 0.0

    return Spread(at(0.5), at(0.99), 1000 * max((max(one) for one in rounds if one), default=0.0))


def show(report: Report, console: Console) -> None:
    """Print it."""
    console.print(f"{report.machine}; Python {report.python}; game {report.game}, two players a table")
    if report.played:
        console.print(_playing(report.played))
        console.print(
            "Every acknowledged move was counted in the database, after the server had been killed. "
            "/echo: moves for each echo of a server without a game, clients and cores the same. "
            "ack and seen: ms until the sender's acknowledgement and until the other seat's step. "
            "fsync: ms that the disk alone takes to keep a page. "
            "CPU: processor time of a move, server and both clients."
        )
    if report.memory or report.page:
        console.print(_rest(report))
    console.print(_targets(report))


def _playing(played: Sequence[Played]) -> Table:
    table = Table(title="Tables in play", title_justify="left")
    for name in ("database", "cores", "tables"):
        table.add_column(name)
    figures = ["moves/s", "low–high", "/echo", "ack p50", "p99", "max", "seen p50", "p99", "max"]
    for name in (*figures, "fsync p50", "p99", "CPU µs"):
        table.add_column(name, justify="right")
    for one in played:
        table.add_row(
            one.database,
            one.placing,
            f"{one.tables} {'at 1 move/s' if one.paced else 'busy'}",
            f"{one.moves_a_second:,.0f}",
            f"{one.lowest:,.0f}–{one.highest:,.0f}",
            "" if one.paced else f"{one.ratio:.3f}",
            *(f"{value:.1f}" for s in (one.sender, one.other) for value in (s.p50, s.p99, s.max)),
            f"{one.disk.p50:.1f}",
            f"{one.disk.p99:.1f}",
            f"{one.server_cpu:.0f}+{one.client_cpu:.0f}",
        )
    return table


def _rest(report: Report) -> Table:
    table = Table(title="At rest", title_justify="left", show_header=False)
    table.add_column()
    table.add_column(justify="right")
    for one in report.memory:
        kb = f"{one.bytes_a_table / 1000:.1f} KB"
        table.add_row(f"memory of an idle table with its two sockets, {one.database}, {one.tables} more", kb)
        table.add_row(f"memory of the server without tables, {one.database}", f"{one.before / 1e6:.0f} MB")
    if page := report.page:
        table.add_row("start to first page, empty folder", f"{page.first_start:.2f} s")
        table.add_row("start to first page, warm", f"{page.start:.2f} s")
        table.add_row("the page alone", f"{page.page:.1f} ms")
        table.add_row(
            f"the page and its {page.files} files, {page.kilobytes:.0f} KB, one by one", f"{page.all:.1f} ms"
        )
    return table


def _targets(report: Report) -> Table:
    table = Table(title="What we want", title_justify="left")
    for name in ("what", "target", "measured", ""):
        table.add_column(name)
    for what, target, measured, met in targets(report):
        table.add_row(what, target, measured, "[green]met[/]" if met else "[red]missed[/]")
    return table


def targets(report: Report) -> list[tuple[str, str, str, bool]]:
    """The targets: what, how much, what was measured, whether it was met."""
    rows = []
    for one in report.played:
        if one.tables != TARGET_TABLES or one.placing != "one core":
            continue
        where = f"{one.tables} tables, one core, {one.database}"
        if one.paced:
            worst = max(one.sender.p99, one.other.p99) / 1000
            what = f"p99 at 1 move/s a table, {where}"
            rows.append((what, f"< {1000 * SLOWEST:.0f} ms", f"{1000 * worst:.1f} ms", worst < SLOWEST))
        else:
            rate = one.moves_a_second
            what = f"moves/s durable before acknowledged, {where}"
            rows.append((what, f"≥ {MOVES_A_SECOND:,}", f"{rate:,.0f}", rate >= MOVES_A_SECOND))
    for memory in report.memory:
        size = memory.bytes_a_table
        what = f"memory of an idle table with its sockets, {memory.database}"
        rows.append((what, f"< {LARGEST // 1000} KB", f"{size / 1000:.1f} KB", size < LARGEST))
    if report.page:
        start = report.page.start
        rows.append(("start to first page, warm", f"< {LATEST:.0f} s", f"{start:.2f} s", start < LATEST))
    return rows
