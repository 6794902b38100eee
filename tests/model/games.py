"""Recorded games to check, as JSON values."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

from axiogames.errors import InvalidRecord
from axiogames.model.record import Record, record_of, replay
from axiogames.players import player
from axiogames.players.match import play_match
from tests.games.conformance.positions import Case

Json = Any
STYLES = ("greedy", "balanced", "random", "greedy")
TRIES = 60  # games to search for a rare event


@cache
def _line(case: Case, seed: str, styles: tuple[str, ...]) -> str:
    seats = [player(style) for style in styles[: case.players]]
    table = play_match(case.game, seats, seed, options=dict.fromkeys(case.options, True))
    return record_of(table).to_json()


def record(case: Case, seed: str = "0", styles: tuple[str, ...] = STYLES) -> Json:
    """Return a fresh record of a whole game."""
    return json.loads(_line(case, seed, styles))


def record_where(case: Case, condition: Callable[[Json], bool]) -> tuple[Json, int]:
    """Return a record with an event for which the condition holds, and the index of the first such event."""
    for n in range(TRIES):
        found = record(case, f"where {n}")
        for index, event in enumerate(found["events"]):
            if condition(event):
                return found, index
    raise AssertionError("no game has such an event")


def refusal(value: Json) -> InvalidRecord | None:
    """Return the error of a record, or `None` if it is valid."""
    return refusal_of_text(json.dumps(value))


def refusal_of_text(text: str | bytes) -> InvalidRecord | None:
    """Return the error of the text of a record, or `None` if it is valid."""
    try:
        replay(Record.parse(text))
    except InvalidRecord as error:
        return error
    return None
