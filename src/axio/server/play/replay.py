"""A finished game step by step, with all hands open."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from ...events import Event
from ..guard.shares import Pauses
from .acts import Act, Drew, Moved, TookBack
from .game import Game
from .messages import StepMessage, ViewMessage
from .telling import Step, Viewer, whole_view


class Replay(Struct, frozen=True):
    """The position after the deal, and every step from there."""

    view: ViewMessage
    steps: list[StepMessage]


class Replays:
    """Makes replays, one at a time and in small pieces.

    A replay takes up to 20 ms. Threads would not help, as Python's lock is held all the while; so everybody
    else gets a turn after each piece.
    """

    def __init__(self) -> None:
        self._alone = asyncio.Lock()

    async def make(self, game: Game, acts: Sequence[tuple[int, Act]], person: str | None) -> Replay:
        """Return the replay of a game from its entries."""
        async with self._alone:
            return await _replay(game, acts, person)


async def _replay(game: Game, acts: Sequence[tuple[int, Act]], person: str | None) -> Replay:
    """Return a replay; placements that were taken back are left out."""
    viewer = Viewer(person, None)
    view: ViewMessage | None = None
    steps: list[StepMessage] = []
    pause = Pauses()
    for at, act in acts:
        await pause()
        game.carry_out(act)
        game.since = at
        if isinstance(act, Moved | Drew):
            steps.append(_open_hands(Step(game, None).seen_from(None), game))
        elif isinstance(act, TookBack):
            del steps[-1:]
        elif view is None and game.table is not None:
            view = whole_view(game, viewer, (), None)
            view = replace(view, now=replace(view.now, hands=_hands(game)), events=_events(game, 0))
    assert view is not None, "a game that is over has begun"
    return Replay(replace(view, table=replace(view.table, status="over", next=game.next)), steps)


def _open_hands(told: StepMessage, game: Game) -> StepMessage:
    return replace(told, now=replace(told.now, hands=_hands(game)), events=_events(game, game.events_before))


def _hands(game: Game) -> list[tuple[str, ...]]:
    assert game.table is not None
    return [game.table.hand(seat) for seat in range(game.table.players)]


def _events(game: Game, since: int) -> tuple[Event, ...]:
    assert game.table is not None
    return game.table.events[since:]
