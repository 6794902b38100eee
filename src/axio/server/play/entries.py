"""What is kept of a table: an entry for each act, and what other tables of the database repeat of it."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

import msgspec

from ..storage.journal import Entry
from .acts import Act, Hired, Invited, Removed, Replaced, Returned, Rose, Sat, write_act
from .game import Game
from .uptime import Uptime

HOLD = 15.0  # seconds that a draw waits

SEATING = Sat | Invited | Rose | Removed | Hired | Replaced | Returned  # acts that change who has a seat


def now() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def day_of(at: int) -> str:
    """The day that a moment belongs to, everywhere on earth."""
    return datetime.fromtimestamp(at / 1000, UTC).date().isoformat()


def deadline(game: Game, uptime: Uptime | None = None) -> int | None:
    """When the clock moves for the seat whose turn it is; what `uptime` knows of is not charged to it."""
    if game.terms.move_time is None or game.turn is None or game.bot_to_move is not None:
        return None
    return _end(game.since, 1000 * game.terms.move_time, uptime)


def due(game: Game, uptime: Uptime | None = None) -> int | None:
    """When the server has to act by itself. People are not charged for what `uptime` knows of."""
    if game.bot_to_move is not None:
        return game.since
    if game.held is not None:
        return _end(game.since, int(1000 * HOLD), uptime)
    return deadline(game, uptime)


def _end(since: int, length: int, uptime: Uptime | None) -> int:
    return since + length if uptime is None else max(uptime.end(since, length), uptime.earliest)


def entry_of(game: Game, act: Act) -> Entry:
    """The entry for an act that has just been carried out."""
    game.happened(now())
    changed = act.seat if isinstance(act, SEATING) else None
    return Entry(
        table_id=game.terms.id,
        number=game.number,
        at=game.since,
        body=write_act(act),
        summary=_summary(game),
        seats=() if changed is None else (game.seats[changed].row(changed),),
        result=_daily_result(game),
    )


def table_row(game: Game) -> dict[str, Any]:
    """The table as the database has it."""
    return {**game.terms.row(), **_summary(game)}


def _summary(game: Game) -> dict[str, Any]:
    return {
        "updated": game.since,
        "number": game.number,
        "moves": game.table.plies if game.table else 0,
        "status": game.status,
        "turn": game.turn,
        "due": due(game),
    }


def _daily_result(game: Game) -> dict[str, Any] | None:
    """The line of a leaderboard. Who ends after the day could have looked at what others drew."""
    if game.terms.daily is None or game.status != "over" or game.table is None:
        return None
    if day_of(game.since) != game.terms.daily:
        return None
    points = sorted(game.table.scores[0].values())
    return {
        "day": game.terms.daily,
        "game": game.terms.game,
        "person": game.seats[0].person,
        "table_id": game.terms.id,
        "name": game.seats[0].name,
        "scores": msgspec.json.encode(points).decode(),
        "rank": " ".join(f"{9999 - n:04d}" for n in points),
        "finished": game.since,
    }
