"""Everything that can be wrong with what a person or a program hands in.

All are `AxioError`, a `ValueError`; each says what was wrong and what would have been right. When one
is raised, nothing has changed.
"""

from __future__ import annotations

from typing import Any, TypeVar

from .reasons import Reason

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


class WrongPlayers(AxioError):
    """The number of players, or the name of one, does not exist."""


class WrongOption(AxioError):
    """The game has no such option, or the option no such value."""


class UnknownFigure(AxioError):
    """A rules page has no picture of that name."""


class IllegalMove(AxioError):
    """A move that may not be made; `reason` says which rule stands against it."""

    def __init__(self, move: object, reason: Reason, detail: str = "") -> None:
        super().__init__(f"{move}: {detail or reason.text}")
        self.move = move
        self.reason = reason


class BadText(AxioError):
    """A move, a position or a game text that does not read."""


class BadRecord(AxioError):
    """A record that is malformed or that the rules contradict; `event` is the event's number, from 1."""

    def __init__(self, message: str, event: int | None = None) -> None:
        super().__init__(message if event is None else f"event {event}: {message}")
        self.event = event

    def located(self, where: str) -> BadRecord:
        """Return the same error with the place of the record, such as a file and a line, in front."""
        located = BadRecord(f"{where}: {self}")
        located.event = self.event
        return located


class BadFile(AxioError):
    """A file that is missing, empty, cut off or not what it should be."""


class OtherSettings(AxioError):
    """A folder holds the results of other settings than those asked for."""


class NotInstalled(AxioError):
    """Something needs a library that is not installed here; the text says how to get it."""


class WrongBatch(AxioError):
    """A batch was asked for, or handed, something that it cannot do; nothing has changed in any game."""


class WrongEnvironment(AxioError):
    """An environment of another framework was asked for something that it does not have."""


class ResetNeeded(WrongEnvironment, AttributeError):
    """An environment was used before its first `reset`. What that would have set is missing until then."""


class NoSuchDevice(AxioError):
    """A batch was asked for on a device that is not here."""


class BadEngine(AxioError):
    """A foreign engine failed; `command` is how it is started, `what` what it did."""

    def __init__(self, command: str, what: str) -> None:
        super().__init__(f"the engine {command!r} {what}")
        self.command = command
        self.what = what


class EngineGone(BadEngine):
    """It could not be started, or ended by itself."""


class EngineLate(BadEngine):
    """It did not answer in time."""


class EngineWrong(BadEngine):
    """It answered, but not what an engine may answer: nonsense, a refusal, an illegal move."""
