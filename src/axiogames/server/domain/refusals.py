"""Refused actions at a table, with codes for programs and texts for people."""

from __future__ import annotations

from ...errors import AxioError, IllegalMove, ParseError, Reason


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
            "unreadable", "this table cannot be read at the moment; whoever runs the server can look into it"
        )


def code_of(error: AxioError) -> str:
    """Return the code of an error raised by an action at a table."""
    if isinstance(error, Refused):
        return error.code
    if isinstance(error, IllegalMove):
        codes = {Reason.NOT_YOUR_TURN: "not_your_turn", Reason.GAME_OVER: "game_over"}
        return codes.get(error.reason, "illegal_move")
    return "bad_message" if isinstance(error, ParseError) else "not_allowed"
