"""Errors for invalid input, and the reasons why moves are illegal.

All errors derive from `AxioError`, a `ValueError`. Their messages name the invalid value and the valid ones.
A call that raises one has changed nothing.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, TypeVar

OK = 0
GAME_OVER = 1
NOT_YOUR_TURN = 2
DRAW_DUE = 3
OUTSIDE = 4
NO_SUCH_TILE = 5
WRONG_SHAPE = 6
OCCUPIED = 7
NOT_IN_HAND = 8
FIRST_TILE = 9
NOT_BESIDE_DISPLAY = 10
NOTHING_TO_NAME = 11
NO_EDGE_MATCHES = 12
COLOURS_DO_NOT_MATCH = 13
EXCHANGE_NOT_ALLOWED = 14
OFFER_OPEN = 15
EXCHANGE_TOO_MANY = 16
BAG_EMPTY = 17
CAN_PLACE = 18
BAG_NOT_EMPTY = 19
NOT_IN_THIS_GAME = 20
NO_DRAW_DUE = 21
NOT_IN_BAG = 22


class Reason(IntEnum):
    """The reason why a move is illegal; `text` is its description."""

    text: str

    def __new__(cls, code: int, text: str) -> Reason:
        member = int.__new__(cls, code)
        member._value_ = code
        member.text = text
        return member

    @classmethod
    def of(cls, code: int) -> Reason:
        """Return the reason for a code from compiled rules."""
        return next(member for member in cls if member == code)

    GAME_OVER = GAME_OVER, "the game is over"
    NOT_YOUR_TURN = NOT_YOUR_TURN, "it is not this seat's turn"
    DRAW_DUE = DRAW_DUE, "a tile must be drawn first"
    OUTSIDE = OUTSIDE, "the cell is outside the play area"
    NO_SUCH_TILE = NO_SUCH_TILE, "there is no such tile in this game"
    WRONG_SHAPE = WRONG_SHAPE, "a tile does not have that shape"
    OCCUPIED = OCCUPIED, "a cell is occupied"
    NOT_IN_HAND = NOT_IN_HAND, "the tile is not in this seat's hand"
    FIRST_TILE = (
        FIRST_TILE,
        "a first tile must touch a printed symbol that no other player's first tile touches",
    )
    NOT_BESIDE_DISPLAY = NOT_BESIDE_DISPLAY, "the tile does not touch the display"
    NOTHING_TO_NAME = NOTHING_TO_NAME, "only a tile with an empty corner can name a colour"
    NO_EDGE_MATCHES = NO_EDGE_MATCHES, "no edge of the tile matches a neighbouring colour"
    COLOURS_DO_NOT_MATCH = (
        COLOURS_DO_NOT_MATCH,
        "every square next to a colour must show one of the adjacent colours",
    )
    EXCHANGE_NOT_ALLOWED = (
        EXCHANGE_NOT_ALLOWED,
        "exchange and keep are possible only when an exchange is offered: after the last placement of a "
        "turn, with none of the lowest colours in hand and enough tiles for a full hand in the bag",
    )
    OFFER_OPEN = OFFER_OPEN, "an exchange is offered: answer with exchange or keep"
    EXCHANGE_TOO_MANY = EXCHANGE_TOO_MANY, "the bag has fewer tiles than are to be exchanged"
    BAG_EMPTY = BAG_EMPTY, "the bag is empty, so no tiles can be exchanged"
    CAN_PLACE = CAN_PLACE, "a tile in this hand can be placed, so passing is not allowed"
    BAG_NOT_EMPTY = BAG_NOT_EMPTY, "the bag is not empty: exchange tiles instead of passing"
    NOT_IN_THIS_GAME = NOT_IN_THIS_GAME, "this game has no such move"
    NO_DRAW_DUE = NO_DRAW_DUE, "no tile is due to be drawn"
    NOT_IN_BAG = NOT_IN_BAG, "the tile is not among those that can be drawn"


_Error = TypeVar("_Error", bound="AxioError")


def abbreviated(value: object, limit: int = 60) -> str:
    """Return the `repr` of any value, cut to `limit` characters for a message."""
    try:
        text = repr(value)
    except Exception:  # such as an integer with more than 4300 digits
        return f"<{type(value).__name__}>"
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def shortened(message: str, limit: int = 400) -> str:
    """Return a message, without its middle if it has more than `limit` characters."""
    return message if len(message) <= limit else f"{message[: limit // 2]} … {message[-limit // 2 :]}"


class AxioError(ValueError):
    """Base class of errors for invalid input. All of them can be copied and pickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        # The default would pass `args`, which hold the finished message, to the constructor.
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[_Error], args: tuple[Any, ...], attributes: dict[str, Any]) -> _Error:
    error = kind.__new__(kind, *args)
    error.__dict__.update(attributes)
    return error


class UnknownGame(AxioError):
    """There is no game with this name."""


class InvalidPlayers(AxioError):
    """The number of players is not supported, or there is no player with this name."""


class InvalidOption(AxioError):
    """The game has no such option, or the option does not take this value."""


class UnknownFigure(AxioError):
    """A rules page has no figure with this id."""


class GameDefinitionError(AxioError):
    """A game lacks a required part or violates the conformance checks."""


class IllegalMove(AxioError):
    """A move is illegal.

    Attributes:
        move: The move.
        reason: The rule that it breaks.
    """

    def __init__(self, move: object, reason: Reason, detail: str = "") -> None:
        super().__init__(f"{move}: {detail or reason.text}")
        self.move = move
        self.reason = reason


class ParseError(AxioError):
    """The text of a move, a position or a game is malformed."""


class InvalidRecord(AxioError):
    """A record is malformed or breaks the rules.

    Attributes:
        event: Number of the invalid event, counted from 1; `None` if no single event is invalid.
    """

    def __init__(self, message: str, event: int | None = None) -> None:
        super().__init__(message if event is None else f"event {event}: {message}")
        self.event = event

    def located(self, where: str) -> InvalidRecord:
        """Return the error with the location of the record, such as a file and a line, before the message."""
        located = InvalidRecord(f"{where}: {self}")
        located.event = self.event
        return located


class InvalidFile(AxioError):
    """A file is missing, empty, truncated or of another kind."""


class SettingsMismatch(AxioError):
    """A folder holds results of a run with different settings."""


class MissingDependency(AxioError):
    """A library is not installed; the message has the install command."""


class InvalidBatchInput(AxioError):
    """A batch got arguments that it does not support; no game has changed."""


class InvalidEnvironment(AxioError):
    """An environment got arguments that it does not support."""


class ResetRequired(InvalidEnvironment, AttributeError):
    """An environment was used before its first `reset`, which sets its attributes."""


class DeviceNotFound(AxioError):
    """The device for a batch is not available."""


class EngineError(AxioError):
    """An external engine failed.

    Attributes:
        command: Command that starts the engine.
        failure: What the engine did, as a predicate.
    """

    def __init__(self, command: str, failure: str) -> None:
        super().__init__(f"the engine {command!r} {failure}")
        self.command = command
        self.failure = failure


class EngineTerminated(EngineError):
    """An engine could not be started, or it exited."""


class EngineTimeout(EngineError):
    """An engine did not answer in time."""


class EngineProtocolError(EngineError):
    """An engine sent an invalid answer: a malformed message, an error or an illegal move."""
