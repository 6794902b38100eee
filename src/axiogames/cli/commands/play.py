"""`play`: play a game in the terminal."""

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
from ..terminal import saved_game
from ..terminal.descriptions import explain_result
from ..terminal.input import DEFAULT_OPPONENT, ask_game, ask_resume, ask_seats
from ..terminal.interrupts import Interrupted
from ..terminal.options import FILE, SEED, YOU, parse_seats, variant_option
from ..terminal.saved_game import SavedGame
from ..terminal.screen import Screen
from ..terminal.session import Quit, Session

RESUME = f"{PROGRAM} play --resume"


@click.command("play")
@click.argument("game", required=False)
@click.option(
    "--seats",
    metavar="NAME,...",
    help=f"One name per seat: {YOU} for a person, or a bot.  [default: {YOU},{DEFAULT_OPPONENT}]",
)
@variant_option
@click.option("--seed", type=SEED, help="Random seed of the deal, a number or any text.  [default: random]")
@click.option("--resume", is_flag=True, help="Resume the saved game.")
@click.option("--record", type=FILE, metavar="FILE", help="Append the record of the finished game to FILE.")
def command(
    *,
    game: str | None,
    seats: str | None,
    options: tuple[str, ...],
    seed: str | None,
    resume: bool,
    record: str | None,
) -> None:
    """Play in the terminal, alone, against bots or with friends.

    Without GAME, a menu asks for the game and the opponents. A game that you quit is saved.
    """
    if record is not None:
        check_writable(record, "the record")
    with suppress(ImportError):
        import readline  # noqa: F401 - gives `input` line editing and a history
    saved = saved_game.load()
    if resume:
        if game or seats or options or seed is not None:
            raise click.UsageError("--resume cannot be combined with GAME, --seats, --option or --seed.")
        if saved is None:
            raise AxioError(f"there is no game to resume: `{PROGRAM} play` starts one")
        chosen = saved
    else:
        try:
            chosen = _choose_game(saved, game, seats, options, seed)
        except EOFError:
            click.echo()
            return
    _play(chosen, record)


def _choose_game(
    saved: SavedGame | None, game: str | None, seats: str | None, options: tuple[str, ...], seed: str | None
) -> SavedGame:
    """Return a new game or the saved one, asking where needed. Raise `EOFError` at the end of the input."""
    names = parse_seats(seats) if seats is not None else None
    if game is not None:
        names = names or parse_seats(f"{YOU},{DEFAULT_OPPONENT}")
        find_variant(game, len(names), dict.fromkeys(options, True))
        if saved is not None and ask_resume(saved):
            return saved
    else:
        game = ask_game(saved)
        if game is None and saved is not None:
            return saved
        assert game is not None, "without a saved game, a name is chosen"
        names = names or ask_seats()
    variant = find_variant(game, len(names), dict.fromkeys(options, True))
    return SavedGame(
        game=variant.game.id,
        players=names,
        options=variant.options,
        seed=secrets.token_hex(16) if seed is None else seed,
    )


def _play(chosen: SavedGame, record: str | None) -> None:
    screen = Screen.of_stdout()
    session = Session(chosen, screen)
    try:
        session.run()
    except Quit:
        screen.print(f"Your game is saved. Resume it with: {RESUME}")
        return
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted; the game is saved: {RESUME}") from None
    table, people = session.table, [seat for seat, name in enumerate(chosen.players) if name == YOU]
    screen.clear()
    screen.print(
        screen.render(table.view(people[0] if len(people) == 1 else None), session.names).rstrip("\n")
    )
    for line in explain_result(table, session.names):
        screen.print(line)
    if record is not None:
        append_line(record, record_of(table, session.names).to_json())
        screen.print(f"The record is in {record}.")
    else:
        _offer_record(table, session.names, screen)
    saved_game.delete()


def _offer_record(table: Table, names: tuple[str, ...], screen: Screen) -> None:
    while True:
        try:
            file = input("Save the record of this game? Type a file name, or Enter for no: ").strip()
        except EOFError:
            screen.print()
            return
        if not file:
            return
        try:
            append_line(file, record_of(table, names).to_json())
        except OSError as error:
            screen.print(f"{file}: {error.strerror or error}")
            continue
        except InvalidFile as error:
            screen.print(str(error))
            continue
        screen.print(f"The record is in {file}.")
        return
