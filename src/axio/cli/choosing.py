"""One game of a file with recorded games."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import AxioError, BadRecord
from ..record import Record, read_lines
from .lines import count


@dataclass(frozen=True, slots=True)
class Chosen:
    """A record of a file, and the line it stands on."""

    file: str
    line: int
    record: Record


def choose(file: str, number: int) -> Chosen:
    """The record with this number, counted from 1. Raises `BadFile`, `BadRecord` or `AxioError`."""
    found = 0
    for line, text in read_lines(file):
        found += 1
        if found == number:
            try:
                return Chosen(file, line, Record.parse(text))
            except BadRecord as error:
                raise BadRecord(f"{file}, line {line}: {error}") from None
    raise AxioError(f"{file} has no game {number}: it holds {count(found, 'game')}, 1 to {found}")
