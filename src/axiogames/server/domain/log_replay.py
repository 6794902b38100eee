"""Restore the game of a table from its database row and its log."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import msgspec

from ..storage.tables import TableStore
from ..transport.fair_share import Pauses
from .entries import decode_entry
from .game_state import GameState, TableConfig
from .refusals import NoSuchTable

UNREADABLE = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    AssertionError,
    ArithmeticError,
    RecursionError,
)
"""Exceptions that an invalid log can raise. Others (memory, files, database, compiler) may be temporary."""


class InvalidLog(ValueError):
    """The log is incomplete or breaks the rules. The message names the first invalid entry and the reason."""


async def load_game(store: TableStore, table_id: str) -> GameState:
    """Load the game of a table, whether it is in quarantine or not.

    Raises:
        NoSuchTable: There is no such table.
        InvalidLog: The log is invalid under today's rules. Other exceptions of `UNREADABLE` are possible.
    """
    row, entries = await store.read(table_id)
    if row is None:
        raise NoSuchTable
    return await replay_log(row, entries)


async def replay_log(row: Any, entries: Collection[tuple[int, int, str]]) -> GameState:
    """Return the game restored from a table's row and its entries, as (number, time, body).

    Raises:
        InvalidLog: The log is invalid under today's rules. Other exceptions of `UNREADABLE` are possible.
    """
    game = GameState.new(config_of_row(row))
    game.config.variant  # noqa: B018 - raises if there is no such game
    await apply_stored(game, entries)
    if game.number < row["number"]:
        raise InvalidLog(f"entries {game.number + 1} to {row['number']} are missing")
    if (
        game.status == "playing"
        and game.pending_draw is None
        and game.table is not None
        and game.table.draw_due
    ):
        raise InvalidLog(f"entry {game.number}: the drawn tiles are missing")
    return game


async def apply_stored(game: GameState, entries: Iterable[tuple[int, int, str]]) -> None:
    """Apply stored entries, and let other tasks run in between. Raises `InvalidLog`."""
    pause = Pauses()
    for number, at, body in entries:
        if number != game.number + 1:
            raise InvalidLog(f"entry {game.number + 1} is missing")
        try:
            entry = decode_entry(body)
            if not 0 <= (seat := getattr(entry, "seat", 0)) < game.config.players:
                raise InvalidLog(f"there is no seat {seat}: 0 to {game.config.players - 1}")
            game.apply(entry, at)
        except UNREADABLE as error:
            raise InvalidLog(f"entry {number}: {type(error).__name__}: {error}") from error
        await pause()


def config_of_row(row: Any) -> TableConfig:
    """Return the settings of a table from its row in the database."""
    return TableConfig(
        id=row["id"],
        game=row["game"],
        players=row["players"],
        options=msgspec.json.decode(row["options"], type=dict[str, bool]),
        public=bool(row["public"]),
        move_time=row["move_time"],
        daily=row["daily"],
        owner=row["owner"],
        invite=row["invite"],
        seed=row["seed"],
        created=row["created"],
    )
