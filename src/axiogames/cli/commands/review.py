"""`review`: review a recorded game: the value of each move, mistakes and luck."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

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
from ...model.record import Record, replay
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
    *,
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
    """Review a recorded game: the value of each move, mistakes and luck.

    Each move is evaluated from the view of its player, without hidden tiles. The same --seed and --rollouts
    give the same review. docs/guides/review.md explains the figures.
    """
    budget = make_budget(seconds, rollouts, threads, DEFAULT_SECONDS)
    chosen = read_record(file, number)
    record = replace(chosen.record, players=tuple(map(one_line, chosen.record.players)))
    if seat is not None and not 0 <= seat < len(record.players):
        raise AxioError(f"there is no seat {seat} in this game: 0 to {len(record.players) - 1}")
    try:
        all_decisions = list(decisions(record))
    except InvalidRecord as error:
        raise error.located(chosen.location) from None
    review = _review(record, all_decisions, budget, seed)
    wording = Wording(language, review.scale, record.players)
    if html_file:
        write_output(html_file, render_page(review, replay(record), all_decisions, wording).encode())
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(review), indent=1))
    elif html_file != "-":
        _print_review(review, wording, seat)


def _review(record: Record, all_decisions: Sequence[Decision], budget: Budget, seed: str) -> Review:
    judgements = []
    with progress("review", len(all_decisions)) as advance:
        start = start_values(record, budget, seed)
        for decision in all_decisions:
            judgements.append(judge_decision(decision, budget, seed))
            advance(1)
    return assemble_review(record, all_decisions, judgements, start, seed)


def _print_review(review: Review, wording: Wording, seat: int | None) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=False)
    if not console.is_terminal:
        console.width = DEFAULT_WIDTH
    text = wording.text

    def table(titles: Iterable[str], left: Iterable[int]) -> Table:
        left_columns = set(left)
        result = Table(box=None, pad_edge=False, header_style="dim")
        for column, title in enumerate(titles):
            justify: Literal["left", "right"] = "left" if column in left_columns else "right"
            result.add_column(Text(title), justify=justify, no_wrap=title != "")
        return result

    names = ", ".join(review_seat.name for review_seat in review.seats)
    unfinished = "" if review.over else f" {text('unfinished')}"
    console.print(
        Text(f"{text('title', game=review.name)}. {names}; {count(len(review.moves), 'move')}.{unfinished}")
    )
    console.print(Text(text(f"meaning.{review.scale.kind}")))
    moves = table(
        ("", text("player"), text("move"), text("rating"), text("value"), text("gave_up"), text("luck"), ""),
        (1, 2, 3, 7),
    )
    for move in review.moves:
        if seat is not None and move.seat != seat:
            continue
        evaluated = bool(move.candidates)
        moves.add_row(
            str(move.ply),
            Text(review.seats[move.seat].name),
            Text(move.move),
            Text(
                f"{RATING_SYMBOLS[move.rating]} {text(f'rating.{move.rating}')}",
                style=STYLES.get(move.rating, ""),
            ),
            wording.bare(move.candidates[move.chosen_index].value) if evaluated else "",
            wording.change(move.loss) if move.loss else "",
            wording.change(move.luck.change, signed=True) if evaluated else "",
            Text(wording.remark(move.remark)),
        )
    console.print()
    console.print(moves)
    turns = [turn for turn in review.turning_points if seat is None or turn.seat == seat]
    console.print()
    console.print(Text(f"{text('turning')}:" if turns else text("no_turning")))
    for turn in turns:
        console.print(Text(f"  {turning_point_text(turn, review, wording)}"))
    head, *rows = summary_rows(review, wording)
    summary = table(head, (0,))
    for row in rows:
        summary.add_row(*map(Text, row))
    console.print()
    console.print(summary)
    error = wording.change(SIGNIFICANCE * max(review_seat.account.error for review_seat in review.seats))
    console.print(Text(text("adds_up", error=error)))
