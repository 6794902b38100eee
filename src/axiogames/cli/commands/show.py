"""`show`: a position of a recorded game, as text or as a picture."""

from __future__ import annotations

import json

import click

from ...drawing import svg
from ...errors import AxioError, InvalidRecord
from ...files import write_stdout
from ...model.record import replay
from ...model.table import Table
from ...model.view import View
from ..terminal.options import FILE, NUMBER, Chosen, Integer, choose
from ..terminal.result_text import explained, last_made, told, written
from ..terminal.screen import Screen
from ..terminal.text import count, one_line

WIDTH = 1200


@click.command("show")
@click.argument("file", type=FILE)
@click.option("--game", "number", type=NUMBER, default=1, show_default=True, help="Which game of the file.")
@click.option("--ply", type=NUMBER, help="After how many moves of players; all of them if not given.")
@click.option(
    "--svg", "svg_file", type=FILE, metavar="OUT", help="Write a picture as SVG; - is standard output."
)
@click.option(
    "--png", "png_file", type=FILE, metavar="OUT", help="Write a picture as PNG; - is standard output."
)
@click.option("--width", type=Integer(16, 16384), help=f"Pixels across a PNG.  [default: {WIDTH}]")
@click.option("--dark", is_flag=True, help="Draw the picture for a dark page.")
@click.option("--text", "plain", is_flag=True, help="Print text without colours.")
@click.option("--seat", type=NUMBER, help="Show only what this seat knew, counted from 0.")
@click.option("--spectator", is_flag=True, help="Show only what everybody knew.")
@click.option("--json", "as_json", is_flag=True, help="Print the facts of the position as JSON.")
def command(
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
    _one_of({"--svg": svg_file, "--png": png_file, "--text": plain, "--json": as_json})
    _one_of({"--seat": seat is not None, "--spectator": spectator})
    if width is not None and not png_file:
        raise click.UsageError("--width is for --png.")
    if dark and not (svg_file or png_file):
        raise click.UsageError("--dark is for --svg and --png.")
    chosen = choose(file, number)
    table = _table(chosen, ply)
    seen = table.view(seat) if seat is not None or spectator else table
    names = tuple(map(one_line, chosen.record.players))
    if svg_file or png_file:
        picture = svg.render(seen.scene(names), dark=dark)
        if svg_file:
            write_stdout(svg_file, picture.encode())
        if png_file:
            from ...drawing.svg import render_png

            write_stdout(png_file, render_png(picture, width=width or WIDTH))
    elif as_json:
        click.echo(json.dumps(_facts(table, seen, names), ensure_ascii=False))
    else:
        screen = Screen.of_terminal(plain=plain)
        click.echo(screen.drawn(seen, names), nl=False, color=screen.colour)
        for line in _caption(table, seen, names):
            click.echo(line)


def _one_of(given: dict[str, object]) -> None:
    both = [name for name, value in given.items() if value]
    if len(both) > 1:
        raise click.UsageError(f"{both[0]} and {both[1]} cannot be used together.")


def _table(chosen: Chosen, ply: int | None) -> Table:
    try:
        table = replay(chosen.record, upto=ply)
    except InvalidRecord as error:
        raise error.located(chosen.where) from None
    if ply is None:
        return table
    if not 0 <= ply <= table.plies:
        most = table.plies if ply > 0 else replay(chosen.record).plies
        raise AxioError(f"{chosen.where}: there is no ply {ply}: the game has 0 to {most}")
    while table.plies > ply:
        table.undo()  # a hand that was kept: a move, though no event of its own
    return table


def _caption(table: Table, seen: Table | View, names: tuple[str, ...]) -> list[str]:
    options = f" ({', '.join(table.options)})" if table.options else ""
    head = f"{table.variant.game.name}{options}: {', '.join(names)}; after {count(table.plies, 'move')}"
    if last := last_made(seen.events):
        head += f", the last: {names[last.p]} {told(last)}"
    if table.over:
        return [f"{head}.", *explained(table, names)]
    to_move = names[table.turn] if table.turn is not None else "chance"
    return [f"{head}.", f"The game is not over: {to_move} is to move."]


def _facts(table: Table, seen: Table | View, names: tuple[str, ...]) -> dict[str, object]:
    last, result = last_made(seen.events), table.result
    return {
        "game": table.game,
        "players": list(names),
        "options": table.options,
        "ply": table.plies,
        "turn": table.turn,
        "last": {"seat": last.p, "move": written(last)} if last else None,
        "scores": list(table.scores),
        "position": seen.position,
        "result": {"place": list(result.place), "winners": list(result.winners)} if result else None,
    }
