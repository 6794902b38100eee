"""What may not be done at a table, for programs and for people."""

from __future__ import annotations

from ...errors import AxioError, IllegalMove, ParseError, Reason


class Refused(AxioError):
    """Something that may not be done at this table; `code` is for programs."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


class Unavailable(Refused):
    """The database does not answer; what has become of a change is found out before anybody is told more."""

    def __init__(self) -> None:
        super().__init__("unavailable", "the server cannot reach its database; try again in a moment")


class NoSuchTable(Refused):
    """There is no table with this id, or it is not for this person."""

    def __init__(self) -> None:
        super().__init__("no_such_table", "there is no such table; perhaps the link is not complete")


class Unreadable(Refused):
    """The table's log cannot be read: it was written by a newer version, or it is damaged."""

    def __init__(self) -> None:
        super().__init__(
            "unreadable", "this table cannot be read at the moment; whoever runs the server can look into it"
        )


def code_of(error: AxioError) -> str:
    """The code for programs of something that was refused at a table."""
    if isinstance(error, Refused):
        return error.code
    if isinstance(error, IllegalMove):
        codes = {Reason.NOT_YOUR_TURN: "not_your_turn", Reason.GAME_OVER: "game_over"}
        return codes.get(error.reason, "illegal_move")
    return "bad_message" if isinstance(error, ParseError) else "not_allowed"
