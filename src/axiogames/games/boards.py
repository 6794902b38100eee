"""Boards of named cells as one line of text: rows from the top, numbers for runs of empty cells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..errors import ParseError


def write_rows(rows: Iterable[Sequence[int]], letters: Sequence[str]) -> str:
    """A board as text; `letters[cell]` is what lies there, empty text for nothing."""
    return "/".join(_write_row([letters[cell] for cell in row]) for row in rows)


def _write_row(row: Sequence[str]) -> str:
    text, empty = "", 0
    for letter in row:
        if letter:
            text += (str(empty) if empty else "") + letter
            empty = 0
        else:
            empty += 1
    return text + (str(empty) if empty else "")


def read_rows(text: str, rows: Sequence[Sequence[int]], allowed: str) -> dict[int, str]:
    """What lies on which cell. Raises `ParseError` where the text does not fit the board."""
    parts = text.split("/")
    if len(parts) != len(rows):
        raise ParseError(f"the board has {len(parts)} rows, it should have {len(rows)}")
    laid: dict[int, str] = {}
    for number, (part, row) in enumerate(zip(parts, rows, strict=True), 1):
        at = 0
        for token in re.findall("[0-9]{1,3}|[^0-9]", part):
            if token.isascii() and token.isdigit():
                at += int(token)
                continue
            if token not in allowed:
                raise ParseError(f"row {number} of the board has {token!r}, it can have {' '.join(allowed)}")
            if at < len(row):
                laid[row[at]] = token
            at += 1
        if at != len(row):
            raise ParseError(f"row {number} of the board has {at} cells, it should have {len(row)}")
    return laid
