"""A sheet of characters with colours, and the text that shows it in a terminal."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

ESCAPE = "\x1b["


@dataclass(frozen=True, slots=True)
class Ink:
    """How a character is written: numbers of the 256-colour palette, None for the terminal's own."""

    front: int | None = None
    back: int | None = None
    bold: bool = False

    def code(self) -> str:
        """The escape sequence that switches to this ink."""
        parts = ["0"]
        if self.bold:
            parts.append("1")
        if self.front is not None:
            parts.append(f"38;5;{self.front}")
        if self.back is not None:
            parts.append(f"48;5;{self.back}")
        return f"{ESCAPE}{';'.join(parts)}m"


PLAIN = Ink()


def safe(text: str, *, unicode: bool) -> str:
    """Text without characters that would steer the terminal; in ASCII when `unicode` is off."""
    kept = "".join(character for character in text if unicodedata.category(character)[0] != "C")
    if unicode:
        return kept
    bare = (
        character for character in unicodedata.normalize("NFKD", kept) if not unicodedata.combining(character)
    )
    return "".join(character if character.isascii() else "?" for character in bare)


def columns(text: str) -> int:
    """How many columns a terminal needs for the text."""
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cut(text: str, room: int) -> str:
    """As much of the text as fits."""
    while columns(text) > room:
        text = text[:-1]
    return text


class Sheet:
    """Characters by column and line; both may be negative."""

    def __init__(self) -> None:
        self._marks: dict[tuple[int, int], tuple[str, Ink]] = {}

    def put(self, column: int, line: int, text: str, ink: Ink = PLAIN) -> int:
        """Write text over what is there, and return the column after it."""
        for character in text:
            wide = _columns(character)
            if not wide:
                below, paint = self._marks.get((column - 1, line), (" ", ink))
                self._marks[column - 1, line] = below + character, paint
                continue
            self._marks[column, line] = character, ink
            for covered in range(1, wide):
                self._marks[column + covered, line] = "", ink
            column += wide
        return column

    def ink(self, column: int, line: int) -> Ink:
        """The ink at a place."""
        return self._marks.get((column, line), ("", PLAIN))[1]

    def bounds(self) -> tuple[int, int, int, int]:
        """First column and line, and the ones after the last."""
        if not self._marks:
            return 0, 0, 0, 0
        over, down = zip(*self._marks, strict=True)
        return min(over), min(down), max(over) + 1, max(down) + 1

    def text(self, *, colour: bool) -> str:
        """All lines, each ended, without blanks behind them; escape codes only with `colour`."""
        left, top, right, bottom = self.bounds()
        lines = []
        for line in range(top, bottom):
            row = [self._marks.get((column, line), (" ", PLAIN)) for column in range(left, right)]
            while row and row[-1][0] in (" ", "") and row[-1][1].back is None:
                row.pop()
            lines.append(_coloured(row) if colour else "".join(character for character, _ in row).rstrip())
        return "".join(f"{line}\n" for line in lines)


def _coloured(row: list[tuple[str, Ink]]) -> str:
    parts, current = [], PLAIN
    for character, ink in row:
        if ink != current:
            parts.append(ink.code())
            current = ink
        parts.append(character)
    if current != PLAIN:
        parts.append(PLAIN.code())
    return "".join(parts)
