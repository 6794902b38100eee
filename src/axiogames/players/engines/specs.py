"""Players by name, foreign engines among them: `balanced`, `sim@1s`, `engine:./my_engine --fast@1s`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ...errors import InvalidPlayers
from ...games.variant import Variant
from ...model.table import Table
from ...rng import Generator
from .. import Budget, Player, player
from ..interface import FixedBudget, parse_budget
from .external import Foreign

PREFIX = "engine:"
WARMING = Budget(seconds=0.05, rollouts=16)

# Engines that wait for their next game: starting one takes longer than many games do.
_idle: dict[str, list[Foreign]] = {}


def player_or_engine(spec: str) -> Player:
    """A player by its name, or a foreign engine by `engine:` and its command. Raises `InvalidPlayers`."""
    return foreign(spec) if spec.startswith(PREFIX) else player(spec)


def foreign(spec: str) -> Foreign:
    """The engine of a text such as `engine:./my_engine --fast@1s`. Raises `InvalidPlayers`.

    What stands behind the last `@` is its limit, if it reads as one.
    """
    command, at, limit = spec.removeprefix(PREFIX).rpartition("@")
    try:
        budget = parse_budget(limit) if at else None
    except InvalidPlayers:
        budget = None
    if budget is None:
        command = spec.removeprefix(PREFIX)
    return Foreign(command, budget=budget, name=spec)


@contextmanager
def seated(specs: Sequence[str]) -> Iterator[list[Player]]:
    """A player for each seat of a game. Every engine is a process of its own, kept for the next game.

    Two seats never share a process, even if they have the same command: it would know both hands.
    """
    players = [_idle[spec].pop() if _idle.get(spec) else player_or_engine(spec) for spec in specs]
    engines = [engine for engine in players if isinstance(engine, Foreign)]
    try:
        yield players
    except BaseException:
        for engine in engines:
            engine.close()
        raise
    for engine in engines:
        _idle.setdefault(engine.name, []).append(engine)


def warm_up(variant: Variant, specs: Sequence[str]) -> None:
    """Let every player choose once in this process, so that what has to be compiled and loaded is."""
    table = Table(variant, 0)
    assert table.turn is not None, "a new table waits for a move"
    view = table.view(table.turn)
    with seated(specs) as players:
        for one in players:
            unhurried = one.player if isinstance(one, FixedBudget) else one
            unhurried.choose(view, WARMING, Generator(0))
