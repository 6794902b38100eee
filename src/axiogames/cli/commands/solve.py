"""`solve`: find the best line of a deal whose draws are known."""

from __future__ import annotations

from contextlib import nullcontext

import click
import msgspec

from ...analysis.solve.solo import (
    DEFAULT_WIDTH,
    LineResult,
    SoloDeal,
    Solution,
    deal_from_record,
    deal_from_seed,
    solve,
)
from ...errors import InvalidRecord
from ...files import STDOUT, LineWriter
from ...games import GAMES
from ..terminal.options import FILE, NUMBER, PLY, SEED, THREADS, Integer, Real, force_option, read_record
from ..terminal.progress import progress
from ..terminal.text import count, format_table

PROGRESS_STEPS = 1000


@click.group("solve")
def command() -> None:
    """Find the best line of a deal whose draws are known."""


@command.command("solo")
@click.argument("source", required=False, metavar="[FILE_OR_GAME]")
@click.option("--seed", type=SEED, help="Seed of the deal, as in `axio play` and `new_game`.")
@click.option(
    "--game", "number", type=NUMBER, default=1, show_default=True, help="Number of the game in the file."
)
@click.option("--ply", type=PLY, help="Start after this number of moves of the recorded game.")
@click.option("--width", type=Integer(1, 1_000_000), help=f"Width of the beam.  [default: {DEFAULT_WIDTH}]")
@click.option(
    "--seconds",
    type=Real(0, 86_400, low_open=True),
    help="Widen the beam for this time, up to --width.",
)
@click.option(
    "--threads",
    type=THREADS,
    default=1,
    show_default=True,
    help="Number of threads. Results do not depend on it.",
)
@click.option(
    "--out", type=FILE, metavar="FILE", help="Write the best line as a record; - is standard output."
)
@force_option
@click.option("--json", "as_json", is_flag=True, help="Print the solution as JSON.")
def solo(
    *,
    source: str | None,
    seed: str | None,
    number: int,
    ply: int | None,
    width: int | None,
    seconds: float | None,
    threads: int,
    out: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Find the best line of a one-player deal.

    All draws of the deal are known. The solver also proves an upper bound. The deal is that of --seed (and
    GAME), or of a recorded game of one player, which is compared with the best line found. The line is
    replayed by the rules before it is reported. The same deal and --width give the same result; with
    --seconds it depends on the machine. docs/guides/solving.md describes the search and proves the bound.
    """
    if as_json and out == STDOUT:
        raise click.UsageError("--json and the record cannot both go to standard output.")
    deal = _deal(source, seed, number, ply)
    with LineWriter(out, force=force) if out else nullcontext() as file:
        with progress("solve", PROGRESS_STEPS) as advance:
            done = 0

            def update(share: float) -> None:
                nonlocal done
                steps = max(int(share * PROGRESS_STEPS) - done, 0)
                done += steps
                advance(steps)

            solution, record = solve(deal, width=width, seconds=seconds, threads=threads, on_progress=update)
        if file:
            file.write(record.to_json())
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(solution), indent=1))
        return
    for line in format_solution(solution):
        click.echo(line, err=out == STDOUT)


def _deal(source: str | None, seed: str | None, number: int, ply: int | None) -> SoloDeal:
    if source is None or source in GAMES:
        if seed is None:
            raise click.UsageError("Name the deal with --seed, or with a file that has a recorded game.")
        if ply is not None:
            raise click.UsageError("--ply needs a file with a recorded game.")
        return deal_from_seed(source or GAMES[0], seed)
    if seed is not None:
        raise click.UsageError("--seed and a file cannot be used together: the record has its own deal.")
    chosen = read_record(source, number)
    try:
        return deal_from_record(chosen.record, plies=ply)
    except InvalidRecord as error:
        raise error.located(chosen.location) from None


def format_solution(solution: Solution) -> list[str]:
    """Return the solution as lines of text."""
    tracks = tuple(solution.best.scores)
    rows = [("", "lowest", "total", "sorted", *tracks, "tiles")]
    if solution.played is not None:
        rows.append(_row("played", solution.played))
    rows.append(_row("best found", solution.best))
    bound = solution.bound
    rows.append(
        ("bound", str(bound.points[0]), str(bound.total), _join(bound.points), *("" for _ in tracks), "")
    )
    lines = format_table(rows, right=(1, 2, *range(4, len(rows[0]))))
    return [*lines, *_remarks(solution)]


def _row(name: str, result: LineResult) -> tuple[str, ...]:
    shown = (str(points) for points in result.scores.values())
    return name, str(result.points[0]), str(result.total), _join(result.points), *shown, str(result.tiles)


def _join(points: tuple[int, ...]) -> str:
    return " ".join(map(str, points))


def _remarks(solution: Solution) -> list[str]:
    best, bound = solution.best, solution.bound
    lines = list[str]()
    if solution.best_was_played:
        lines.append("The recorded game is as good as the best line found.")
    elif solution.played is not None and not solution.played.over:
        lines.append("The recorded game is unfinished.")
    if bound.exact:
        lines.append("All lines were searched: nothing better is possible.")
    elif best.points == bound.points:
        lines.append("Nothing better is possible: the bound is reached.")
    else:
        lines.append(
            f"The gap is {count(solution.gap, 'point')} in the lowest colour"
            f" and {bound.total - best.total} in total: the optimum lies within it."
        )
    if solution.seed is None:
        lines.append(
            f"Only the {count(solution.known, 'tile')} of the record are known; lines end with them."
        )
    if solution.width:
        lines.append(f"A beam of width {solution.width}, {solution.seconds:.1f} s.")
    return lines
