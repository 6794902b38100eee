"""`engine`: run a bot as an engine for other programs."""

from __future__ import annotations

import sys

import click

from ...players import PLAYERS as BOTS
from ...players.engines.serve import Engine
from ..terminal.options import PLAYER_COUNT, variant_option

STRONGEST = "sim" if "sim" in BOTS else list(BOTS)[-1]


@click.command("engine")
@click.argument("game")
@click.option(
    "--bot", default=STRONGEST, show_default=True, help="Bot that chooses moves, such as greedy or sim@1s."
)
@click.option(
    "--players",
    type=PLAYER_COUNT,
    default=2,
    show_default=True,
    help="Number of players, until a view or new_game sets it.",
)
@variant_option
def command(*, game: str, bot: str, players: int, options: tuple[str, ...]) -> None:
    """Run a bot as an engine, which answers commands on standard input, one per line.

    Other programs set up the view of a seat and ask for a move. The protocol resembles GTP and is described
    in docs/reference/engine_protocol.md; list_commands lists the commands.
    """
    engine = Engine(game, bot, players=players, options=options)
    engine.prepare()
    engine.serve(sys.stdin, sys.stdout)
