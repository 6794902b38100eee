"""`play`: a game in the terminal."""

from __future__ import annotations

import secrets
from contextlib import suppress

import click

from ... import PROGRAM
from ...errors import AxioError, InvalidFile
from ...files import append_line, check_writable
from ...games import find_variant
from ...model.record import record_of
from ...model.table import Table
from ..terminal import input as menu
from ..terminal import saved_game
from ..terminal.interrupts import Interrupted
from ..terminal.options import FILE, SEED, YOU, seats
from ..terminal.result_text import explained
from ..terminal.saved_game import Saved
from ..terminal.screen import Screen
from ..terminal.session import Quit, Session

RESUME = f"{PROGRAM} play --resume"


@click.command("play")
@click.argument("game", required=False)
@click.option("--players", help="Who plays: you (once or more) and programs.  [default: you,balanced]")
@click.option("--option", "options", multiple=True, metavar="NAME", help="Switch a game's option on.")
@click.option("--seed", type=SEED, help="A number or any text that decides the deal.")
@click.option("--resume", is_flag=True, help="Go on with the game you left.")
@click.option("--record", type=FILE, metavar="FILE", help="Add the record of the finished game to this file.")
def command(
    game: str | None,
    players: str | None,
    options: tuple[str, ...],
    seed: str | None,
    resume: bool,
    record: str | None,
) -> None:
    """Play in the terminal, alone, against programs or with friends.

    Without GAME you are asked what to play. A game that you quit is saved.
    """
    if record is not None:
        check_writable(record, "the record")
    with suppress(ImportError):
        import readline  # noqa: F401 - lets people edit what they type and call it back
    left = saved_game.load()
    if resume:
        if game or players or options or seed is not None:
            raise click.UsageError("--resume goes on with the game as it is: it takes no other choices.")
        if left is None:
            raise AxioError(f"there is no game to resume: {PROGRAM} play starts one")
        chosen = left
    else:
        try:
            chosen = _choose(left, game, players, options, seed)
        except EOFError:
            click.echo()
            return
    _play(chosen, record)


def _choose(
    left: Saved | None, game: str | None, players: str | None, options: tuple[str, ...], seed: str | None
) -> Saved:
    """The game to play, new or left before. Raises `EOFError` where nobody answers."""
    names = seats(players) if players is not None else None
    if game is not None:
        names = names or seats(f"{YOU},{menu.OPPONENT}")
        find_variant(game, len(names), dict.fromkeys(options, True))
        if left is not None and menu.wants_to_resume(left):
            return left
    else:
        game = menu.game(left)
        if game is None and left is not None:
            return left
        assert game is not None, "only a game that was left is chosen by no name"
        names = names or menu.players()
    variant = find_variant(game, len(names), dict.fromkeys(options, True))
    return Saved(
        game=variant.game.id,
        players=names,
        options=variant.options,
        seed=secrets.token_hex(16) if seed is None else seed,
    )


def _play(chosen: Saved, record: str | None) -> None:
    screen = Screen.of_terminal()
    session = Session(chosen, screen)
    try:
        session.run()
    except Quit:
        screen.say(f"Your game is saved. Go on with it by: {RESUME}")
        return
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted; the game is saved: {RESUME}") from None
    table, people = session.table, [seat for seat, name in enumerate(chosen.players) if name == YOU]
    screen.clear()
    screen.say(screen.drawn(table.view(people[0] if len(people) == 1 else None), session.names).rstrip("\n"))
    for line in explained(table, session.names):
        screen.say(line)
    if record is not None:
        append_line(record, record_of(table, session.names).to_json())
        screen.say(f"The record is in {record}.")
    else:
        _offer_record(table, session.names, screen)
    saved_game.forget()


def _offer_record(table: Table, names: tuple[str, ...], screen: Screen) -> None:
    while True:
        try:
            file = input("Save the record of this game? Type a file name, or Enter for no: ").strip()
        except EOFError:
            screen.say()
            return
        if not file:
            return
        try:
            append_line(file, record_of(table, names).to_json())
        except OSError as error:
            screen.say(f"{file}: {error.strerror or error}")
            continue
        except InvalidFile as error:
            screen.say(str(error))
            continue
        screen.say(f"The record is in {file}.")
        return
