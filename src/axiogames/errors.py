"""Everything that can be wrong with what a person or a program hands in.

All are `AxioError`, a `ValueError`; each says what was wrong and what would have been right. When one
is raised, nothing has changed.
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
    """Each kind of illegality; `text` is the sentence a person reads."""

    text: str

    def __new__(cls, number: int, text: str) -> Reason:
        member = int.__new__(cls, number)
        member._value_ = number
        member.text = text
        return member

    @classmethod
    def of(cls, number: int) -> Reason:
        """The reason that rule code gave by its number."""
        return next(member for member in cls if member == number)

    GAME_OVER = GAME_OVER, "the game is over"
    NOT_YOUR_TURN = NOT_YOUR_TURN, "it is not this seat's turn"
    DRAW_DUE = DRAW_DUE, "a tile has to be drawn first"
    OUTSIDE = OUTSIDE, "the cell is outside the play area"
    NO_SUCH_TILE = NO_SUCH_TILE, "there is no such tile in this game"
    WRONG_SHAPE = WRONG_SHAPE, "a tile does not have that shape"
    OCCUPIED = OCCUPIED, "the place is occupied"
    NOT_IN_HAND = NOT_IN_HAND, "the tile is not in this seat's hand"
    FIRST_TILE = (
        FIRST_TILE,
        "a first tile must touch a printed symbol that no other player's first tile touches",
    )
    NOT_BESIDE_DISPLAY = NOT_BESIDE_DISPLAY, "the tile does not touch the display"
    NOTHING_TO_NAME = NOTHING_TO_NAME, "only a tile with an empty corner can name a colour"
    NO_EDGE_MATCHES = NO_EDGE_MATCHES, "no edge of the tile matches a neighbouring colour"
    COLOURS_DO_NOT_MATCH = COLOURS_DO_NOT_MATCH, "a square lies beside colours but shows none of them"
    EXCHANGE_NOT_ALLOWED = (
        EXCHANGE_NOT_ALLOWED,
        "exchanging or keeping is decided only when it is offered: after the turn's last placement, "
        "with none of the lowest colours in hand and a full hand of tiles in the bag",
    )
    OFFER_OPEN = OFFER_OPEN, "the turn's placements are done: answer the offer with exchange or keep"
    EXCHANGE_TOO_MANY = EXCHANGE_TOO_MANY, "the bag holds fewer tiles than are to be exchanged"
    BAG_EMPTY = BAG_EMPTY, "the bag is empty, so there is nothing to exchange for"
    CAN_PLACE = CAN_PLACE, "a tile in this hand can be placed, so it must be"
    BAG_NOT_EMPTY = BAG_NOT_EMPTY, "the bag is not empty: exchange tiles instead of passing"
    NOT_IN_THIS_GAME = NOT_IN_THIS_GAME, "this game has no such move"
    NO_DRAW_DUE = NO_DRAW_DUE, "no tile has to be drawn now"
    NOT_IN_BAG = NOT_IN_BAG, "the tile is not among those that can be drawn"


_Error = TypeVar("_Error", bound="AxioError")


def abbreviated(value: object, most: int = 60) -> str:
    """Return the `repr` of any value as a message shows it: at most so many characters."""
    try:
        text = repr(value)
    except Exception:  # such as that of a number of more than 4300 digits
        return f"<{type(value).__name__}>"
    return text if len(text) <= most else f"{text[: most - 1]}…"


def shortened(message: str, most: int = 400) -> str:
    """Return a message without its middle where it has more than so many characters."""
    return message if len(message) <= most else f"{message[: most // 2]} … {message[-most // 2 :]}"


class AxioError(ValueError):
    """The family of errors for bad input. All of them can be copied and pickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        # The default calls the constructor with `args`, which hold the finished message.
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[_Error], args: tuple[Any, ...], attributes: dict[str, Any]) -> _Error:
    error = kind.__new__(kind, *args)
    error.__dict__.update(attributes)
    return error


class UnknownGame(AxioError):
    """No game goes by that name."""


class InvalidPlayers(AxioError):
    """The number of players, or the name of one, does not exist."""


class InvalidOption(AxioError):
    """The game has no such option, or the option no such value."""


class UnknownFigure(AxioError):
    """A rules page has no picture of that name."""


class GameDefinitionError(AxioError):
    """A game does not provide what every game has to; raised when the game is loaded."""


class IllegalMove(AxioError):
    """A move that may not be made; `reason` says which rule stands against it."""

    def __init__(self, move: object, reason: Reason, detail: str = "") -> None:
        super().__init__(f"{move}: {detail or reason.text}")
        self.move = move
        self.reason = reason


class ParseError(AxioError):
    """A move, a position or a game text that does not read."""


class InvalidRecord(AxioError):
    """A record that is malformed or that the rules contradict; `event` is the event's number, from 1."""

    def __init__(self, message: str, event: int | None = None) -> None:
        super().__init__(message if event is None else f"event {event}: {message}")
        self.event = event

    def located(self, where: str) -> InvalidRecord:
        """Return the same error with the place of the record, such as a file and a line, in front."""
        located = InvalidRecord(f"{where}: {self}")
        located.event = self.event
        return located


class InvalidFile(AxioError):
    """A file that is missing, empty, cut off or not what it should be."""


class SettingsMismatch(AxioError):
    """A folder holds the results of other settings than those asked for."""


class MissingDependency(AxioError):
    """Something needs a library that is not installed here; the text says how to get it."""


class InvalidBatchInput(AxioError):
    """A batch was asked for, or handed, something that it cannot do; nothing has changed in any game."""


class InvalidEnvironment(AxioError):
    """An environment of another framework was asked for something that it does not have."""


class ResetRequired(InvalidEnvironment, AttributeError):
    """An environment was used before its first `reset`. What that would have set is missing until then."""


class DeviceNotFound(AxioError):
    """A batch was asked for on a device that is not here."""


class EngineError(AxioError):
    """A foreign engine failed; `command` is how it is started, `what` what it did."""

    def __init__(self, command: str, what: str) -> None:
        super().__init__(f"the engine {command!r} {what}")
        self.command = command
        self.what = what


class EngineTerminated(EngineError):
    """It could not be started, or ended by itself."""


class EngineTimeout(EngineError):
    """It did not answer in time."""


class EngineProtocolError(EngineError):
    """It answered, but not what an engine may answer: nonsense, a refusal, an illegal move."""
