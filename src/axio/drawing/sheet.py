"""A sheet of characters with colours, and the text that shows it in a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

ESCAPE = "\x1b["

Spot = tuple[int, int]
"""Column and line of a character, or of a part of one."""


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
    while text and columns(text) > room:
        text = text[:-1]
    return text


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of characters: its first column and line, and the ones after its last."""

    left: int
    top: int
    right: int
    bottom: int

    @classmethod
    def around(cls, spots: Iterable[Spot]) -> Box:
        """The least rectangle that has all these characters in it; one character around none."""
        over, down = zip(*(tuple(spots) or ((0, 0),)), strict=True)
        return cls(min(over), min(down), max(over) + 1, max(down) + 1)

    @property
    def width(self) -> int:
        """How many columns it has."""
        return self.right - self.left

    @property
    def height(self) -> int:
        """How many lines it has."""
        return self.bottom - self.top

    def __contains__(self, spot: Spot) -> bool:
        return self.left <= spot[0] < self.right and self.top <= spot[1] < self.bottom


class Sheet:
    """Characters by column and line; both may be negative. Only what lies in `clip` is written."""

    def __init__(self) -> None:
        self.clip: Box | None = None
        self._marks: dict[Spot, tuple[str, Ink]] = {}

    def copy(self) -> Sheet:
        """Another sheet with the same characters."""
        other = Sheet()
        other._marks = self._marks.copy()
        return other

    def put(self, column: int, line: int, text: str, ink: Ink = PLAIN) -> int:
        """Write text over what is there, and return the column after it."""
        for character in text:
            wide = _columns(character)
            if not wide:
                below, paint = self._marks.get((column - 1, line), (" ", ink))
                self._marks[column - 1, line] = below + character, paint
                continue
            if self.clip is not None and (column, line) not in self.clip:
                column += wide
                continue
            self._marks[column, line] = character, ink
            for covered in range(1, wide):
                self._marks[column + covered, line] = "", ink
            column += wide
        return column

    def ink(self, column: int, line: int) -> Ink:
        """The ink at a place."""
        return self._marks.get((column, line), ("", PLAIN))[1]

    def bounds(self) -> Box:
        """The rectangle that everything lies in."""
        return Box.around(self._marks) if self._marks else Box(0, 0, 0, 0)

    def end(self, line: int) -> int:
        """The column after the last character of a line."""
        return max((column + 1 for column, at in self._marks if at == line), default=0)

    def text(self, *, colour: bool, width: int) -> str:
        """All lines, each ended, without blanks behind them; escape codes only with `colour`.

        What lies beyond `width` columns is left out.
        """
        box = self.bounds()
        over = range(box.left, min(box.right, box.left + width))
        lines = []
        for line in range(box.top, box.bottom):
            row = [self._marks.get((column, line), (" ", PLAIN)) for column in over]
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
