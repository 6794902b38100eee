"""`solve`: the best that can be done where nothing is left to chance."""

from __future__ import annotations

from contextlib import nullcontext

import click
import msgspec

from ...analysis.solve.solo import WIDTH, Deal, Result, Solution, deal_of_record, deal_of_seed, solve
from ...errors import InvalidRecord
from ...files import STDOUT, LineWriter
from ...games import GAMES
from ..terminal.options import FILE, NUMBER, PLY, SEED, THREADS, Integer, Real, choose
from ..terminal.progress import progress
from ..terminal.text import count, in_columns

STEPS = 1000  # of the progress bar


@click.group("solve")
def command() -> None:
    """Find the best that can be done where nothing is left to chance."""


@command.command("solo")
@click.argument("source", required=False, metavar="[FILE_OR_GAME]")
@click.option(
    "--seed", type=SEED, help="A number or any text: the deal that `new_game` and `play` make from it."
)
@click.option("--game", "number", type=NUMBER, default=1, show_default=True, help="Which game of the file.")
@click.option("--ply", type=PLY, help="Start after so many moves of the recorded game.")
@click.option("--width", type=Integer(1, 1_000_000), help=f"Of the beam.  [default: {WIDTH}]")
@click.option(
    "--seconds",
    type=Real(0, 86_400, low_open=True),
    help="Widen the beam until this time is over (or --width is reached).",
)
@click.option("--threads", type=THREADS, default=1, show_default=True, help="The answer is the same.")
@click.option(
    "--out", type=FILE, metavar="FILE", help="Write the best line as a record; - is standard output."
)
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def solo(
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
    """The best result of a solo deal whose draws are all known, beside a proven bound.

    The deal comes from --seed (of GAME, if one is named), or from a recorded game of one player, which is
    then compared with the best line found. Every line has been replayed at a table before it is told. The
    same deal and --width give the same answer; with --seconds it may depend on the machine. docs/guides/solving.md
    tells how lines are found, and why nothing passes the bound.
    """
    if as_json and out == STDOUT:
        raise click.UsageError("--json and the record cannot both go to standard output.")
    deal = _deal(source, seed, number, ply)
    with LineWriter(out, force=force) if out else nullcontext() as file:
        with progress("solve", STEPS) as advance:
            done = 0

            def tick(share: float) -> None:
                nonlocal done
                steps = max(int(share * STEPS) - done, 0)
                done += steps
                advance(steps)

            solution, record = solve(deal, width=width, seconds=seconds, threads=threads, tick=tick)
        if file:
            file.write(record.to_json())
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(solution), indent=1))
        return
    for line in report(solution):
        click.echo(line, err=out == STDOUT)


def _deal(source: str | None, seed: str | None, number: int, ply: int | None) -> Deal:
    if source is None or source in GAMES:
        if seed is None:
            raise click.UsageError("Name the deal: by --seed, or by a file with a recorded game.")
        if ply is not None:
            raise click.UsageError("--ply is for recorded games.")
        return deal_of_seed(source or GAMES[0], seed)
    if seed is not None:
        raise click.UsageError("--seed and a file cannot be used together: the file has its own deal.")
    chosen = choose(source, number)
    try:
        return deal_of_record(chosen.record, plies=ply)
    except InvalidRecord as error:
        raise error.located(chosen.where) from None


def report(solution: Solution) -> list[str]:
    """The solution in words and columns."""
    tracks = tuple(solution.best.scores)
    rows = [("", "lowest", "total", "sorted", *tracks, "tiles")]
    if solution.played is not None:
        rows.append(_row("played", solution.played))
    rows.append(_row("best found", solution.best))
    bound = solution.bound
    rows.append(
        ("bound", str(bound.points[0]), str(bound.total), _written(bound.points), *("" for _ in tracks), "")
    )
    lines = in_columns(rows, right=(1, 2, *range(4, len(rows[0]))))
    return [*lines, *_remarks(solution)]


def _row(name: str, result: Result) -> tuple[str, ...]:
    shown = (str(points) for points in result.scores.values())
    return name, str(result.points[0]), str(result.total), _written(result.points), *shown, str(result.tiles)


def _written(points: tuple[int, ...]) -> str:
    return " ".join(map(str, points))


def _remarks(solution: Solution) -> list[str]:
    best, bound = solution.best, solution.bound
    said = []
    if solution.best_was_played:
        said.append("The game as it was played is as good as anything found.")
    elif solution.played is not None and not solution.played.over:
        said.append("The recorded game is not over.")
    if bound.exact:
        said.append("Every line was tried: nothing better is possible.")
    elif best.points == bound.points:
        said.append("Nothing better is possible: the bound is reached.")
    else:
        said.append(
            f"The gap is {count(solution.gap, 'point')} in the lowest colour"
            f" and {bound.total - best.total} in all: the best possible lies in it."
        )
    if solution.seed is None:
        said.append(f"Only the {count(solution.known, 'tile')} of the record are known; lines end with them.")
    if solution.width:
        said.append(f"A beam of width {solution.width}, {solution.seconds:.1f} s.")
    return said
