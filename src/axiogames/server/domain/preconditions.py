"""Preconditions of what people do at a table. Each function raises `Refused` unless its condition holds."""

from __future__ import annotations

from ...errors import Reason
from .game_state import GameState, now
from .refusals import Refused
from .subscribers import ABSENT_SECONDS

MOST_ENTRIES = 2_000  # in a log; after that, nothing that could be repeated forever is accepted


def check_current(game: GameState, based_on: int | None) -> None:
    """Require that a request was made with the latest number in view."""
    if based_on is not None and based_on != game.number:
        raise Refused("stale", f"the table is at number {game.number}, the message was made at {based_on}")


def check_present(game: GameState, seat: int) -> None:
    """Require that no bot plays for the person on a seat."""
    if game.seats[seat].bot is not None:
        raise Refused("not_allowed", "a bot plays for you: take your seat back first")


def check_log_has_room(game: GameState) -> None:
    """Require that the log is not too long for actions that can be undone and repeated.

    It is read completely whenever the table is loaded.
    """
    if game.number >= MOST_ENTRIES:
        raise Refused(
            "not_allowed",
            f"too much has been done and undone at this table ({MOST_ENTRIES} entries); open another one",
        )


def check_can_move(game: GameState) -> None:
    """Require that the game is in progress, with a code for each reason why it is not."""
    if game.status == "open":
        raise Refused("not_started", "the game starts when every seat is taken")
    if game.status != "playing":
        raise Refused("game_over", Reason.GAME_OVER.text)


def check_in_progress(game: GameState) -> None:
    """Require that the game is in progress."""
    if game.status != "playing":
        raise Refused("not_allowed", "the game has not started, or it is over")


def check_can_seat_bot(game: GameState, seat: int, person: str, returned: int) -> None:
    """Require that a person can put a bot on a seat before the start.

    Args:
        game: The table.
        seat: The seat.
        person: Who asks.
        returned: When the server last came back after an outage. The time to join counts from there.
    """
    if person != game.config.owner:
        raise Refused("not_allowed", "only the one who opened the table can put bots on its seats")
    if seat not in game.unfilled_seats():
        raise Refused("seat_taken", f"seat {seat} is not free")
    reserved_since = max(game.config.created, returned)
    if game.seats[seat].invited and now() - reserved_since < 1000 * ABSENT_SECONDS:
        raise Refused("seat_taken", f"seat {seat} is kept for somebody who has two minutes to come")


def check_can_substitute(game: GameState, seat: int, person: str) -> str:
    """Require that a person can call a bot for the person on a seat, and return the latter.

    Whether that person is absent is not checked.
    """
    absentee = game.seats[seat].person if 0 <= seat < len(game.seats) else None
    if absentee is None or game.seats[seat].bot is not None:
        raise Refused("not_allowed", f"nobody has left seat {seat}")
    if not game.seats_of(person):
        raise Refused("not_allowed", "only those who play at this table can call a bot")
    if game.config.move_time is not None:
        raise Refused("not_allowed", "at this table the clock moves for those who are away")
    return absentee


def check_can_remove(game: GameState, seat: int, person: str) -> None:
    """Require that a person can remove the occupant of a seat: another person or a bot, before the start."""
    if person != game.config.owner:
        raise Refused("not_allowed", "only the one who opened the table can remove who sits there")
    if game.status != "open":
        raise Refused("not_allowed", "nobody can be removed once the game has started")
    occupant = game.seats[seat] if 0 <= seat < len(game.seats) else None
    if occupant is None or occupant.free or occupant.person == person:
        raise Refused("not_allowed", f"nobody else sits on seat {seat}")
