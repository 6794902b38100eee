"""Recorded games from files, from pipes or, for `-`, from standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO

from ..errors import AxioError, BadRecord
from ..reading import read_lines
from ..record import Record
from .lines import count

STDIN = "-"


@dataclass(frozen=True, slots=True)
class Chosen:
    """A record of a file, and the line it stands on."""

    file: str
    line: int
    record: Record

    @property
    def where(self) -> str:
        """The file and the line, as errors name them."""
        return f"{self.file}, line {self.line}"


def lines_of(file: str) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file or of standard input that are not blank. Raises `BadFile`."""
    if file != STDIN:
        return read_lines(file)
    # What stands in for standard input where the program is called from Python may be text only.
    source = getattr(sys.stdin, "buffer", None) or BytesIO(
        sys.stdin.read().encode("utf-8", "surrogateescape")
    )
    return read_lines(source, "standard input")


def choose(file: str, number: int) -> Chosen:
    """Return the record with this number, counted from 1. Raises `BadFile`, `BadRecord` or `AxioError`."""
    found = 0
    for line, text in lines_of(file):
        found += 1
        if found == number:
            try:
                return Chosen(file, line, Record.parse(text))
            except BadRecord as error:
                raise error.located(f"{file}, line {line}") from None
    raise AxioError(f"{file} has no game {number}: it holds {count(found, 'game')}, 1 to {found}")
