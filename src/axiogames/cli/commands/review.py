"""`review`: review a recorded game: the value of each move, mistakes and luck."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import click
import msgspec
from msgspec.structs import replace

from ...analysis.review.page import render_page
from ...analysis.review.remarks import Wording
from ...analysis.review.review import (
    RATING_SYMBOLS,
    Decision,
    Review,
    assemble_review,
    decisions,
    judge_decision,
    start_values,
    summary_rows,
    turning_point_text,
)
from ...analysis.review.values import SIGNIFICANCE
from ...errors import AxioError, InvalidRecord
from ...files import write_output
from ...model.record import Record
from ...model.record import replay as replayed
from ...players import Budget
from ..terminal.options import FILE, NUMBER, budget_options, language_option, make_budget, read_record
from ..terminal.progress import progress
from ..terminal.text import count, one_line

DEFAULT_SECONDS = 0.5  # per move
DEFAULT_WIDTH = 110  # columns, without a terminal
STYLES = {"best": "green", "inaccuracy": "yellow", "mistake": "red", "blunder": "bold red"}


@click.command("review")
@click.argument("file", type=FILE)
@click.option(
    "--game", "number", type=NUMBER, default=1, show_default=True, help="Number of the game in the file."
)
@budget_options(DEFAULT_SECONDS, "per move")
@click.option("--seat", type=NUMBER, help="Show only the moves of this seat, counted from 0.")
@language_option
@click.option(
    "--html", "html_file", type=FILE, metavar="OUT", help="Write an HTML page; - is standard output."
)
@click.option("--json", "as_json", is_flag=True, help="Print the review as JSON.")
def command(
    file: str,
    number: int,
    seconds: float | None,
    rollouts: int | None,
    threads: int,
    seed: str,
    seat: int | None,
    language: str,
    html_file: str | None,
    as_json: bool,
) -> None:
    """Go through a recorded game: what each move was worth and gave up, and what was luck.

    Every move is judged from what its player knew, never from hidden tiles. The same seed and --rollouts give
    the same review. What the figures mean is told in docs/guides/review.md.
    """
    budget = make_budget(seconds, rollouts, threads, DEFAULT_SECONDS)
    chosen = read_record(file, number)
    record = replace(chosen.record, players=tuple(map(one_line, chosen.record.players)))
    if seat is not None and not 0 <= seat < len(record.players):
        raise AxioError(f"there is no seat {seat} in this game: 0 to {len(record.players) - 1}")
    try:
        made = list(decisions(record))
    except InvalidRecord as error:
        raise error.located(chosen.where) from None
    reviewed = _reviewed(record, made, budget, seed)
    wording = Wording(language, reviewed.terms, record.players)
    if html_file:
        write_output(html_file, render_page(reviewed, replayed(record), made, wording).encode())
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(reviewed), indent=1))
    elif html_file != "-":
        _report(reviewed, wording, seat)


def _reviewed(record: Record, made: Sequence[Decision], budget: Budget, seed: str) -> Review:
    judgements = []
    with progress("review", len(made)) as advance:
        start = start_values(record, budget, seed)
        for decision in made:
            judgements.append(judge_decision(decision, budget, seed))
            advance(1)
    return assemble_review(record, made, judgements, start, seed)


def _report(review: Review, wording: Wording, seat: int | None) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=False)
    if not console.is_terminal:
        console.width = DEFAULT_WIDTH
    say = wording.text

    def table(titles: Iterable[str], left: Iterable[int]) -> Table:
        columns = set(left)
        made = Table(box=None, pad_edge=False, header_style="dim")
        for at, title in enumerate(titles):
            to_left = at in columns
            made.add_column(Text(title), justify="left" if to_left else "right", no_wrap=title != "")
        return made

    names = ", ".join(one.name for one in review.seats)
    over = "" if review.over else f" {say('unfinished')}"
    console.print(
        Text(f"{say('title', game=review.name)}. {names}; {count(len(review.moves), 'move')}.{over}")
    )
    console.print(Text(say(f"meaning.{review.terms.kind}")))
    moves = table(
        ("", say("player"), say("move"), say("rating"), say("value"), say("gave_up"), say("luck"), ""),
        (1, 2, 3, 7),
    )
    for move in review.moves:
        if seat is not None and move.seat != seat:
            continue
        judged_at_all = bool(move.candidates)
        moves.add_row(
            str(move.ply),
            Text(review.seats[move.seat].name),
            Text(move.move),
            Text(
                f"{RATING_SYMBOLS[move.rating]} {say(f'rating.{move.rating}')}",
                style=STYLES.get(move.rating, ""),
            ),
            wording.bare(move.candidates[move.made].value) if judged_at_all else "",
            wording.change(move.given_up) if move.given_up else "",
            wording.change(move.luck.change, signed=True) if judged_at_all else "",
            Text(wording.remark(move.remark)),
        )
    console.print()
    console.print(moves)
    turns = [turn for turn in review.turning if seat is None or turn.seat == seat]
    console.print()
    console.print(Text(f"{say('turning')}:" if turns else say("no_turning")))
    for turn in turns:
        console.print(Text(f"  {turning_point_text(turn, review, wording)}"))
    head, *rows = summary_rows(review, wording)
    summary = table(head, (0,))
    for row in rows:
        summary.add_row(*map(Text, row))
    console.print()
    console.print(summary)
    error = wording.change(SIGNIFICANCE * max(one.account.error for one in review.seats))
    console.print(Text(say("adds_up", error=error)))
