"""Refused actions at a table: errors with codes for programs, and the checks that raise them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import AxioError, IllegalMove, ParseError, Reason

if TYPE_CHECKING:
    from .game_state import GameState

MAX_ENTRIES = 2_000  # in a log; a longer one accepts no action that could be repeated forever


class Refused(AxioError):
    """An action is not allowed at this table; `code` is for programs."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


class Unavailable(Refused):
    """The database does not respond.

    Nothing is sent until it is known whether a change was committed.
    """

    def __init__(self) -> None:
        super().__init__("unavailable", "the server cannot reach its database; try again in a moment")


class NoSuchTable(Refused):
    """There is no table with this id, or this person may not see it."""

    def __init__(self) -> None:
        super().__init__("no_such_table", "there is no such table; perhaps the link is not complete")


class Unreadable(Refused):
    """The log of the table cannot be read: a newer version wrote it, or it is damaged."""

    def __init__(self) -> None:
        super().__init__(
            "unreadable",
            "this table cannot be read at the moment; the host of the server can check its log",
        )


def code_of(error: AxioError) -> str:
    """Return the code of an error raised by an action at a table."""
    if isinstance(error, Refused):
        return error.code
    if isinstance(error, IllegalMove):
        codes = {Reason.NOT_YOUR_TURN: "not_your_turn", Reason.GAME_OVER: "game_over"}
        return codes.get(error.reason, "illegal_move")
    return "bad_message" if isinstance(error, ParseError) else "not_allowed"


# ------------------------------------------------------------ checks, which raise `Refused`


def check_current(game: GameState, based_on: int | None) -> None:
    """Require that a request is based on the latest entry."""
    if based_on is not None and based_on != game.number:
        raise Refused("stale", f"the table is at entry {game.number}, the request is based on {based_on}")


def check_not_substituted(game: GameState, seat: int) -> None:
    """Require that no bot plays for the person on a seat."""
    if game.seats[seat].bot is not None:
        raise Refused("not_allowed", "a bot plays for you: take your seat back first")


def check_log_has_room(game: GameState) -> None:
    """Require that the log is short enough for an action that can be undone and repeated.

    The whole log is read whenever the table is loaded.
    """
    if game.number >= MAX_ENTRIES:
        raise Refused(
            "not_allowed",
            f"too much has been done and undone at this table ({MAX_ENTRIES} entries); open another one",
        )


def check_can_move(game: GameState) -> None:
    """Require that the game is in progress. Each reason why it is not has its own code."""
    if game.status == "open":
        raise Refused("not_started", "the game starts when every seat is taken")
    if game.status != "playing":
        raise Refused("game_over", Reason.GAME_OVER.text)


def check_in_progress(game: GameState) -> None:
    """Require that the game is in progress."""
    if game.status != "playing":
        raise Refused("not_allowed", "the game has not started, or it is over")


def check_can_seat_bot(game: GameState, seat: int, person: str, *, reserved: bool) -> None:
    """Require that a person can put a bot on a seat before the start.

    Args:
        game: The table.
        seat: The seat.
        person: Id of the person.
        reserved: Whether the person for whom the seat is reserved still has time to join.
    """
    if person != game.config.owner:
        raise Refused("not_allowed", "only the owner of the table can put bots on its seats")
    if seat not in game.unfilled_seats():
        raise Refused("seat_taken", f"seat {seat} is not free")
    if reserved:
        raise Refused("seat_taken", f"seat {seat} is reserved; its person has two minutes to join")


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
        raise Refused("not_allowed", "at this table the clock moves for absent players")
    return absentee


def check_can_remove(game: GameState, seat: int, person: str) -> None:
    """Require that a person can remove the occupant of a seat: another person or a bot, before the start."""
    if person != game.config.owner:
        raise Refused("not_allowed", "only the owner of the table can remove players")
    if game.status != "open":
        raise Refused("not_allowed", "nobody can be removed once the game has started")
    occupant = game.seats[seat] if 0 <= seat < len(game.seats) else None
    if occupant is None or occupant.free or occupant.person == person:
        raise Refused("not_allowed", f"nobody else sits on seat {seat}")
