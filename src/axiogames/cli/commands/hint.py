"""`hint`: find the best moves of a position, with their values and the reasons for them."""

from __future__ import annotations

import os

import click
import msgspec

from ...analysis.review.hints import Hint, best_moves
from ...analysis.review.remarks import Wording
from ...errors import ParseError
from ...files import MAX_LINE_BYTES
from ...model.position import Position
from ...model.record import replay
from ...model.view import View
from ...rng import Generator
from ..terminal.options import (
    NUMBER,
    STDIN,
    budget_options,
    input_lines,
    language_option,
    make_budget,
    read_record,
)
from ..terminal.text import format_points, format_table

DEFAULT_SECONDS = 1.0


@click.command("hint")
@click.argument("position", metavar="POSITION_OR_RECORD")
@click.option(
    "--game", "number", type=NUMBER, default=1, show_default=True, help="Number of the game in a file."
)
@budget_options(DEFAULT_SECONDS, "of search")
@language_option
@click.option("--json", "as_json", is_flag=True, help="Print the suggestions as JSON.")
def command(
    *,
    position: str,
    number: int,
    seconds: float | None,
    rollouts: int | None,
    threads: int,
    seed: str,
    language: str,
    as_json: bool,
) -> None:
    """Find the best moves of a position, or of the last position of an unfinished recorded game.

    A position is a line of text, as `axio show --json` prints it; - reads it from standard input. The search
    uses only information that the seat to move has.
    """
    budget = make_budget(seconds, rollouts, threads, DEFAULT_SECONDS)
    view, names = _view(position, number)
    found = best_moves(view, budget, Generator(seed).bits() >> 1)
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(found), indent=1))
        return
    _print_hint(view, found, Wording(language, found.scale, names))


def _view(text: str, number: int) -> tuple[View, tuple[str, ...]]:
    """Return the view of the seat to move, and the names of the seats, if known."""
    if text == STDIN:
        text = _first_line()
    # `exists` is also false if the text is not a valid file name.
    elif "=" not in text or os.path.exists(text):
        chosen = read_record(text, number)
        table = replay(chosen.record)
        return table.view(table.turn), chosen.record.players
    try:
        parsed = Position.parse(text)
    except ParseError as error:
        raise ParseError(f"{error}; expected a position, or a file with records") from None
    hidden = any("?" in parsed.hand(seat) for seat in range(parsed.players))
    state = parsed.state if hidden else parsed.variant.redact(parsed.state, parsed.turn)
    return View(parsed.variant, state, parsed.turn, ()), ()


def _first_line() -> str:
    """Return the first line of standard input. Raise `InvalidFile` or `ParseError`."""
    _, line = next(input_lines(STDIN))
    if len(line) > MAX_LINE_BYTES:
        raise ParseError(f"standard input: the line is longer than {MAX_LINE_BYTES} bytes")
    return line.decode("utf-8", "replace").strip()


def _print_hint(view: View, found: Hint, wording: Wording) -> None:
    if not found.suggestions:
        click.echo(wording.text("hint_only"))
        return
    rows = [
        (
            suggestion.candidate.move,
            format_points(dict(zip(found.tracks, suggestion.candidate.gain, strict=False)))
            if suggestion.candidate.gain
            else "",
            wording.value(suggestion.candidate.value),
            f"± {wording.change(suggestion.candidate.error)}",
        )
        for suggestion in found.suggestions
    ]
    lines = format_table(rows, right=(2, 3))
    for line, suggestion in zip(lines, found.suggestions, strict=True):
        click.echo(f"{line}  {' '.join(map(wording.remark, suggestion.remarks))}")
    click.echo(wording.text("thought", rollouts=found.rollouts))
