"""The report of `python -m benchmarks.search` as tables on a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from axiogames.cli.commands.bench import new_table, speeds_table
from benchmarks.search.measure import SearchReport


def show(console: Console, report: SearchReport) -> None:
    """Print the speeds, the profiles, and the figures about whole players."""
    console.print(speeds_table(f"{report.machine}; one core, {report.players} players", report.speeds))
    console.print(profile_table(report))
    console.print(players_table(report))
    console.print(f"Compilation, positions and warm-up: {report.compile_seconds:.1f} s.")
    console.print(f"Python {report.python}, NumPy {report.numpy}, Numba {report.numba}.")


def profile_table(report: SearchReport) -> Table:
    """Return a table of the share of each part in the time of a rollout, by stage of the game."""
    stages = tuple(dict.fromkeys(profile.stage for profile in report.profiles))
    table = new_table("Profile of a rollout", "game", "part", *stages, text=("game", "part"))
    for name in dict.fromkeys(profile.game for profile in report.profiles):
        own = [profile for profile in report.profiles if profile.game == name]
        for parts in zip(*(profile.parts for profile in own), strict=True):
            table.add_row(name, parts[0].part, *(f"{part.share:.1%}" for part in parts))
        explained = (f"{profile.explained:.0%}" for profile in own)
        table.add_row(name, "all parts, of the measured whole", *explained)
        whole = (f"{profile.microseconds:,.1f} µs" for profile in own)
        table.add_row(name, "one rollout", *whole, end_section=True)
    return table


def players_table(report: SearchReport) -> Table:
    """Return a table of the speed-up by threads, the time of `instant`, and the memory of a game."""
    workloads = tuple(dict.fromkeys(speed_up.workload for speed_up in report.threads))
    threads = report.threads[0].threads
    title = f"Players; {report.cores} cores"
    columns = (*(f"{threads} threads, {name}" for name in workloads), "instant, per move", "memory", "limit")
    table = new_table(title, "game", *columns, text=("game",))
    for instant, memory in zip(report.instant, report.memory, strict=True):
        speed_ups = [speed_up for speed_up in report.threads if speed_up.game == instant.game]
        table.add_row(
            instant.game,
            *(f"{speed_up.ratio:.2f} × ± {speed_up.spread:.0%}" for speed_up in speed_ups),
            f"{instant.microseconds:,.0f} µs",
            f"{memory.megabytes:,.0f} MB",
            f"{memory.limit:,.0f} MB: {'met' if memory.met else 'missed'}",
        )
    return table
