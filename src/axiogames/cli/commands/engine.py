"""`engine`: one of our players as a process that other programs talk to."""

from __future__ import annotations

import sys

import click

from ...players import PLAYERS as BOTS
from ...players.engines.serve import Engine
from ..terminal.options import PLAYER_COUNT

STRONGEST = "sim" if "sim" in BOTS else list(BOTS)[-1]


@click.command("engine")
@click.argument("game")
@click.option("--player", default=STRONGEST, show_default=True, help="Who thinks, such as greedy or sim@1s.")
@click.option(
    "--players",
    type=PLAYER_COUNT,
    default=2,
    show_default=True,
    help="Seats, until a view or new_game says otherwise.",
)
@click.option("--option", "options", multiple=True, metavar="NAME", help="Switch a game's option on.")
def command(game: str, player: str, players: int, options: tuple[str, ...]) -> None:
    """Answer commands on standard input, a line each, in the manner of GTP.

    Other programs set up what a seat knows of a game and ask for a move. docs/reference/engine_protocol.md tells the protocol;
    list_commands lists the commands.
    """
    engine = Engine(game, player, players=players, options=options)
    engine.prepare()
    engine.serve(sys.stdin, sys.stdout)
