"""`hint`: the best moves of a position, with what they are worth and what speaks for them."""

from __future__ import annotations

import os

import click
import msgspec

from ...analysis.review.hints import Hint, hint
from ...analysis.review.remarks import Wording
from ...errors import ParseError
from ...files import LONGEST_LINE
from ...model.position import Position
from ...model.record import replay
from ...model.view import View
from ...rng import Generator
from ..terminal.options import NUMBER, STDIN, budget_of, choose, language_option, lines_of, thinking_options
from ..terminal.text import in_columns, points

SECONDS = 1.0


@click.command("hint")
@click.argument("position", metavar="POSITION_OR_RECORD")
@click.option("--game", "number", type=NUMBER, default=1, show_default=True, help="Which game of a file.")
@thinking_options(SECONDS, "to think")
@language_option
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def command(
    position: str,
    number: int,
    seconds: float | None,
    rollouts: int | None,
    threads: int,
    seed: str,
    language: str,
    as_json: bool,
) -> None:
    """The best moves of a position, or of the end of a recorded game that is not over.

    A position is a line of text, as `show --json` prints it; - reads it from standard input. Only what the
    seat to move may know is used.
    """
    budget = budget_of(seconds, rollouts, threads, SECONDS)
    view, names = _view(position, number)
    found = hint(view, budget, Generator(seed).bits() >> 1)
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(found), indent=1))
        return
    _report(view, found, Wording(language, found.terms, names))


def _view(text: str, number: int) -> tuple[View, tuple[str, ...]]:
    """What the seat to move knows, and the names of the seats, where they are known."""
    if text == STDIN:
        text = _first_line()
    elif "=" not in text or os.path.exists(
        text
    ):  # which is False, too, for a text that no file can have as its name
        chosen = choose(text, number)
        table = replay(chosen.record)
        return table.view(table.turn), chosen.record.players
    try:
        seen = Position.parse(text)
    except ParseError as error:
        raise ParseError(f"{error}; a file with a record would do, too") from None
    hidden = any("?" in seen.hand(seat) for seat in range(seen.players))
    state = seen.state if hidden else seen.variant.redact(seen.state, seen.turn)
    return View(seen.variant, state, seen.turn, ()), ()


def _first_line() -> str:
    """The line with a position on standard input. Raises `InvalidFile` or `ParseError`."""
    _, line = next(lines_of(STDIN))
    if len(line) > LONGEST_LINE:
        raise ParseError(f"standard input: the line is longer than {LONGEST_LINE} bytes")
    return line.decode("utf-8", "replace").strip()


def _report(view: View, found: Hint, wording: Wording) -> None:
    if not found.suggestions:
        click.echo(wording.say("hint_only"))
        return
    rows = [
        (
            one.candidate.move,
            points(dict(zip(found.tracks, one.candidate.gain, strict=False))) if one.candidate.gain else "",
            wording.value(one.candidate.value),
            f"± {wording.change(one.candidate.error)}",
        )
        for one in found.suggestions
    ]
    lines = in_columns(rows, right=(2, 3))
    for line, one in zip(lines, found.suggestions, strict=True):
        click.echo(f"{line}  {' '.join(map(wording.remark, one.remarks))}")
    click.echo(wording.say("thought", rollouts=found.rollouts))
