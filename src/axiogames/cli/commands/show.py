"""`show`: show a position of a recorded game as text or as a picture."""

from __future__ import annotations

import json

import click

from ...drawing import svg
from ...errors import AxioError, InvalidRecord
from ...files import write_output
from ...model.record import replay
from ...model.table import Table
from ...model.view import View
from ..terminal.descriptions import describe_move, explain_result, last_move, notation
from ..terminal.options import FILE, NUMBER, Integer, RecordInFile, read_record
from ..terminal.screen import Screen
from ..terminal.text import count, one_line

DEFAULT_WIDTH = 1200  # pixels


@click.command("show")
@click.argument("file", type=FILE)
@click.option(
    "--game", "number", type=NUMBER, default=1, show_default=True, help="Number of the game in the file."
)
@click.option("--ply", type=NUMBER, help="Number of moves before the position.  [default: all]")
@click.option("--svg", "svg_file", type=FILE, metavar="OUT", help="Write an SVG; - is standard output.")
@click.option("--png", "png_file", type=FILE, metavar="OUT", help="Write a PNG; - is standard output.")
@click.option(
    "--width", type=Integer(16, 16384), help=f"Width of the PNG in pixels.  [default: {DEFAULT_WIDTH}]"
)
@click.option("--dark", is_flag=True, help="Use the dark theme for the picture.")
@click.option("--plain", is_flag=True, help="Print text without colours.")
@click.option("--seat", type=NUMBER, help="Show only what this seat knows, counted from 0.")
@click.option("--spectator", is_flag=True, help="Show only what is public.")
@click.option("--json", "as_json", is_flag=True, help="Print the position as JSON.")
def command(
    *,
    file: str,
    number: int,
    ply: int | None,
    svg_file: str | None,
    png_file: str | None,
    width: int | None,
    dark: bool,
    plain: bool,
    seat: int | None,
    spectator: bool,
    as_json: bool,
) -> None:
    """Show a position of a recorded game, in the terminal or as a picture."""
    _check_exclusive({"--svg": svg_file, "--png": png_file, "--plain": plain, "--json": as_json})
    _check_exclusive({"--seat": seat is not None, "--spectator": spectator})
    if width is not None and not png_file:
        raise click.UsageError("--width needs --png.")
    if dark and not (svg_file or png_file):
        raise click.UsageError("--dark needs --svg or --png.")
    chosen = read_record(file, number)
    table = _replay(chosen, ply)
    view = table.view(seat) if seat is not None or spectator else table
    names = tuple(map(one_line, chosen.record.players))
    if svg_file or png_file:
        picture = svg.render(view.scene(names), dark=dark)
        if svg_file:
            write_output(svg_file, picture.encode())
        if png_file:
            from ...drawing.svg import render_png

            write_output(png_file, render_png(picture, width=width or DEFAULT_WIDTH))
    elif as_json:
        click.echo(json.dumps(_summary(table, view, names), ensure_ascii=False))
    else:
        screen = Screen.of_stdout(plain=plain)
        click.echo(screen.render(view, names), nl=False, color=screen.colour)
        for line in _caption(table, view, names):
            click.echo(line)


def _check_exclusive(options: dict[str, object]) -> None:
    used = [name for name, value in options.items() if value]
    if len(used) > 1:
        raise click.UsageError(f"{used[0]} and {used[1]} cannot be used together.")


def _replay(chosen: RecordInFile, ply: int | None) -> Table:
    try:
        table = replay(chosen.record, upto=ply)
    except InvalidRecord as error:
        raise error.located(chosen.location) from None
    if ply is None:
        return table
    if not 0 <= ply <= table.plies:
        last = table.plies if ply > 0 else replay(chosen.record).plies
        raise AxioError(f"{chosen.location}: there is no ply {ply}: the game has 0 to {last}")
    while table.plies > ply:
        table.undo()  # keeping a hand is a move without an event
    return table


def _caption(table: Table, view: Table | View, names: tuple[str, ...]) -> list[str]:
    options = f" ({', '.join(table.options)})" if table.options else ""
    head = f"{table.variant.game.name}{options}: {', '.join(names)}; after {count(table.plies, 'move')}"
    if last := last_move(view.events):
        head += f", the last: {names[last.p]} {describe_move(last)}"
    if table.over:
        return [f"{head}.", *explain_result(table, names)]
    to_move = names[table.turn] if table.turn is not None else "chance"
    return [f"{head}.", f"The game is not over: {to_move} is to move."]


def _summary(table: Table, view: Table | View, names: tuple[str, ...]) -> dict[str, object]:
    last, result = last_move(view.events), table.result
    return {
        "game": table.game,
        "players": list(names),
        "options": table.options,
        "ply": table.plies,
        "turn": table.turn,
        "last": {"seat": last.p, "move": notation(last)} if last else None,
        "scores": list(table.scores),
        "position": view.position,
        "result": {"place": list(result.place), "winners": list(result.winners)} if result else None,
    }
