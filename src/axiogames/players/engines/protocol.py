"""Lines of the engine protocol: the answer to `7 think 1s` is `=7 {…}` or `?7 error`, and an empty line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TextIO

from ...errors import InvalidPlayers, ParseError
from ..interface import UNLIMITED, Budget, parse_budget

PROTOCOL_VERSION = "1"
MAX_LINE_LENGTH = 1 << 20  # characters; a view has about 10,000
MAX_SKIPPED = 1 << 26  # characters of an overlong line, in search of its end
MAX_LIMITS = 8  # in one `think`

_REQUEST = re.compile(r"(?:(?P<id>[0-9]{1,10})(?:\s+|$))?(?P<name>\S*)\s*(?P<rest>.*)", re.S)


@dataclass(frozen=True, slots=True)
class Request:
    """A command, its arguments, and the id of the request or an empty text."""

    id: str
    name: str
    rest: str

    @classmethod
    def parse(cls, line: str) -> Request:
        """Parse a line. Every line is a request."""
        found = _REQUEST.fullmatch(line.strip())
        assert found is not None, "the expression matches every text"
        return cls(found["id"] or "", found["name"], found["rest"])

    def __str__(self) -> str:
        return " ".join(filter(None, (self.id, self.name, self.rest)))


def answer(id: str, text: str, *, refused: bool = False) -> str:
    """Return the text of an answer. It ends with an empty line, so empty lines within it are removed."""
    first, *more = f"{'?' if refused else '='}{id} {text}".splitlines()
    lines = [first.rstrip(), *(line.rstrip() for line in more if line.strip())]
    return "\n".join(lines) + "\n\n"


def in_one_line(text: str) -> str:
    """Return a text on one line, without control characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def next_line(source: TextIO) -> str | None:
    """Return the next line, `None` at the end of the input.

    Raises:
        LineTooLong: the line has more than `MAX_LINE_LENGTH` characters and has been skipped. With `endless`,
            its end was not found within `MAX_SKIPPED` characters: stop reading.
    """
    line = source.readline(MAX_LINE_LENGTH + 1)
    if len(line) <= MAX_LINE_LENGTH:
        return line or None
    start, skipped = line[:100], len(line)
    while line and not line.endswith("\n"):
        if skipped > MAX_SKIPPED:
            raise LineTooLong(Request.parse(start).id, endless=True)
        line = source.readline(MAX_LINE_LENGTH)
        skipped += len(line)
    raise LineTooLong(Request.parse(start).id)


class LineTooLong(ParseError):
    """A line exceeds the maximum length. `id` is the id of the request."""

    def __init__(self, id: str, *, endless: bool = False) -> None:
        super().__init__(f"the line is longer than {MAX_LINE_LENGTH} characters")
        self.id = id
        self.endless = endless


def write_budget(budget: Budget) -> str:
    """Return a budget as the limits of `think`: `1s`, `1s 800rx2`. The first limit reached ends the search.

    >>> write_budget(Budget(0.05)), write_budget(Budget(1.0, 800, 2))
    ('0.05s', '1sx2 800rx2')
    """
    threads = f"x{budget.threads}" if budget.threads > 1 else ""
    words = []
    if budget.rollouts is None or budget.seconds < UNLIMITED:
        seconds = f"{max(budget.seconds, 0.001):.3f}".rstrip("0").rstrip(".")
        words.append(f"{seconds}s{threads}")
    if budget.rollouts is not None:
        words.append(f"{max(budget.rollouts, 1)}r{threads}")
    return " ".join(words)


def read_budget(text: str) -> Budget:
    """Parse the limits of `think`, such as `1s 800rx2`. An empty text is 1 second. Raise `InvalidPlayers`.

    >>> read_budget("1s 800rx2")
    Budget(seconds=1.0, rollouts=800, threads=2)
    """
    words = text.split(None, MAX_LIMITS)
    if len(words) > MAX_LIMITS:
        raise InvalidPlayers(f"more than {MAX_LIMITS} limits: one of seconds and one of rollouts are enough")
    limits = [parse_budget(word) for word in words]
    if not limits:
        return Budget()
    rollouts = [limit.rollouts for limit in limits if limit.rollouts is not None]
    return Budget(
        min(limit.seconds for limit in limits),
        min(rollouts) if rollouts else None,
        max(limit.threads for limit in limits),
    )
