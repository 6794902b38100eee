"""Player specs: names of players and commands of external engines, with optional budgets.

Examples: `balanced`, `sim@1s`, `engine:./my_engine --fast@1s`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ...errors import InvalidPlayers
from ...games.variant import Variant
from ...model.table import Table
from ...rng import Generator
from .. import Budget, Player, player
from ..interface import FixedBudget, parse_budget
from .external import ExternalEngine

PREFIX = "engine:"
WARM_UP = Budget(seconds=0.05, rollouts=16)

# Running engines between games, by spec: the start of an engine takes longer than many games.
_idle: dict[str, list[ExternalEngine]] = {}


def parse_player(spec: str) -> Player:
    """Return a player.

    Args:
        spec: the name of a player, or `engine:` and a command line.

    Raises:
        InvalidPlayers: the spec is invalid.
    """
    return external_engine(spec) if spec.startswith(PREFIX) else player(spec)


def external_engine(spec: str) -> ExternalEngine:
    """Return the external engine of a spec such as `engine:./my_engine --fast@1s`.

    The text after the last `@` is the budget if it is a valid one, otherwise part of the command.

    Raises:
        InvalidPlayers: the command is empty or malformed.
    """
    command, at, limit = spec.removeprefix(PREFIX).rpartition("@")
    try:
        budget = parse_budget(limit) if at else None
    except InvalidPlayers:
        budget = None
    if budget is None:
        command = spec.removeprefix(PREFIX)
    return ExternalEngine(command, budget=budget, name=spec)


@contextmanager
def open_players(specs: Sequence[str]) -> Iterator[list[Player]]:
    """Provide a player for each seat of a game. Engines keep running for the next game.

    Two seats never share a process, even with the same command: the process would know both hands.
    """
    players = [_idle[spec].pop() if _idle.get(spec) else parse_player(spec) for spec in specs]
    engines = [engine for engine in players if isinstance(engine, ExternalEngine)]
    try:
        yield players
    except BaseException:
        for engine in engines:
            engine.close()
        raise
    for engine in engines:
        _idle.setdefault(engine.name, []).append(engine)


def warm_up(variant: Variant, specs: Sequence[str]) -> None:
    """Let each player choose a move in this process, so that everything is compiled and loaded."""
    table = Table(variant, 0)
    assert table.turn is not None, "a new table waits for a move"
    view = table.view(table.turn)
    with open_players(specs) as players:
        for opened in players:
            unlimited = opened.player if isinstance(opened, FixedBudget) else opened
            unlimited.choose(view, WARM_UP, Generator(0))
