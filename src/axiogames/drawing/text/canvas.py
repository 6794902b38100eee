"""A grid of coloured characters, and the character sets and colours of the text renderer."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from ..symbols import SYMBOLS

ESCAPE = "\x1b["

Spot = tuple[int, int]
"""Column and line of a character, or of a part of it."""


@dataclass(frozen=True, slots=True)
class Ink:
    """The style of a character: indices into the palette of 256 colours; None is the default colour."""

    front: int | None = None
    back: int | None = None
    bold: bool = False

    def code(self) -> str:
        """Return the escape sequence that selects this style."""
        parts = ["0"]
        if self.bold:
            parts.append("1")
        if self.front is not None:
            parts.append(f"38;5;{self.front}")
        if self.back is not None:
            parts.append(f"48;5;{self.back}")
        return f"{ESCAPE}{';'.join(parts)}m"


PLAIN = Ink()
FAINT = Ink(front=244)
LABEL = Ink(front=244)
ACCENT = Ink(front=35, bold=True)
PLACE = Ink(front=35)


def sanitize(text: str, *, unicode: bool) -> str:
    """Remove control characters from text; without `unicode`, also convert it to ASCII."""
    kept = "".join(character for character in text if unicodedata.category(character)[0] != "C")
    if unicode:
        return kept
    bare = (
        character for character in unicodedata.normalize("NFKD", kept) if not unicodedata.combining(character)
    )
    return "".join(character if character.isascii() else "?" for character in bare)


def display_width(text: str) -> int:
    """Return the number of terminal columns that the text takes."""
    return sum(_character_width(character) for character in text)


def _character_width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def truncate(text: str, room: int) -> str:
    """Return the longest prefix of the text that fits into `room` columns."""
    while text and display_width(text) > room:
        text = text[:-1]
    return text


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of characters; `right` and `bottom` are exclusive."""

    left: int
    top: int
    right: int
    bottom: int

    @classmethod
    def around(cls, spots: Iterable[Spot]) -> Box:
        """Return the bounding box of characters; without characters, a single one at 0, 0."""
        over, down = zip(*(tuple(spots) or ((0, 0),)), strict=True)
        return cls(min(over), min(down), max(over) + 1, max(down) + 1)

    @property
    def width(self) -> int:
        """Number of columns."""
        return self.right - self.left

    @property
    def height(self) -> int:
        """Number of lines."""
        return self.bottom - self.top

    def __contains__(self, spot: Spot) -> bool:
        return self.left <= spot[0] < self.right and self.top <= spot[1] < self.bottom


class TextCanvas:
    """Characters by column and line, which may be negative. Writes outside `clip` are ignored."""

    def __init__(self) -> None:
        self.clip: Box | None = None
        self._marks: dict[Spot, tuple[str, Ink]] = {}

    def copy(self) -> TextCanvas:
        """Return a copy of the canvas."""
        other = TextCanvas()
        other._marks = self._marks.copy()
        return other

    def put(self, column: int, line: int, text: str, ink: Ink = PLAIN) -> int:
        """Write text, replacing what is there, and return the column after it."""
        for character in text:
            wide = _character_width(character)
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
        """Return the style at a position."""
        return self._marks.get((column, line), ("", PLAIN))[1]

    def bounds(self) -> Box:
        """Return the bounding box of all characters."""
        return Box.around(self._marks) if self._marks else Box(0, 0, 0, 0)

    def end(self, line: int) -> int:
        """Return the column after the last character of a line."""
        return max((column + 1 for column, at in self._marks if at == line), default=0)

    def text(self, *, colour: bool, width: int) -> str:
        """Return all lines without trailing blanks, with escape codes if `colour` is set.

        Lines are truncated to `width` columns.
        """
        box = self.bounds()
        over = range(box.left, min(box.right, box.left + width))
        lines = []
        for line in range(box.top, box.bottom):
            row = [self._marks.get((column, line), (" ", PLAIN)) for column in over]
            while row and row[-1][0] in (" ", "") and row[-1][1].back is None:
                row.pop()
            lines.append(
                _with_escapes(row) if colour else "".join(character for character, _ in row).rstrip()
            )
        return "".join(f"{line}\n" for line in lines)


def _with_escapes(row: list[tuple[str, Ink]]) -> str:
    parts, current = [], PLAIN
    for character, ink in row:
        if ink != current:
            parts.append(ink.code())
            current = ink
        parts.append(character)
    if current != PLAIN:
        parts.append(PLAIN.code())
    return "".join(parts)


_WHITE, _BLACK = 231, 16

# Text colour on a tile, colour of the tile, and text colour on the terminal's background, dark or light.
# Tiles whose hues look the same with red-green colour blindness differ in lightness.
_COLOURS = {
    "R": (_WHITE, 160, 167),
    "G": (_BLACK, 35, 35),
    "B": (_WHITE, 25, 69),
    "O": (_BLACK, 208, 208),
    "P": (_BLACK, 140, 134),
    "Y": (_BLACK, 220, 178),
}
_OTHER = (_BLACK, 250, 244)


@dataclass(frozen=True, slots=True)
class Charset:
    """A character set. All characters are one column wide."""

    unicode: bool
    empty: str
    place: str
    star: str
    star_place: str
    blocked: str
    pyramid: str
    spent: str
    across: str
    down: str
    falling: str
    rising: str
    full: str
    hollow: str
    turn: str
    low: str
    joints: str  # a line from the left by its continuation: see `joint`

    def glyph(self, letter: str) -> str:
        """Return the character of a colour: its symbol, or in ASCII its letter."""
        art = SYMBOLS.get(letter)
        return art.glyph if art is not None and self.unicode else letter

    def joint(self, *, up: bool, down: bool, right: bool) -> str:
        """Return the character where a line from the left meets lines in these directions."""
        return self.joints[4 * up + 2 * down + right]


_UNICODE = Charset(
    unicode=True,
    empty="\N{MIDDLE DOT}",
    place="+",
    star="\N{WHITE FOUR POINTED STAR}",
    star_place="\N{BLACK FOUR POINTED STAR}",
    blocked="\N{MEDIUM SHADE}",
    pyramid="\N{BLACK UP-POINTING TRIANGLE}",
    spent="\N{WHITE UP-POINTING TRIANGLE}",
    across="\N{BOX DRAWINGS LIGHT HORIZONTAL}",
    down="\N{BOX DRAWINGS LIGHT VERTICAL}",
    falling="\N{BOX DRAWINGS LIGHT DIAGONAL UPPER LEFT TO LOWER RIGHT}",
    rising="\N{BOX DRAWINGS LIGHT DIAGONAL UPPER RIGHT TO LOWER LEFT}",
    full="\N{BOX DRAWINGS HEAVY HORIZONTAL}",
    hollow="\N{BOX DRAWINGS LIGHT HORIZONTAL}",
    turn="\N{BLACK RIGHT-POINTING POINTER}",
    low="\N{BLACK LEFT-POINTING POINTER}",
    joints="╴─┐┬┘┴┤┼",
)
_ASCII = Charset(
    unicode=False,
    empty=".",
    place="+",
    star="*",
    star_place="*",
    blocked="#",
    pyramid="^",
    spent="x",
    across="-",
    down="|",
    falling="\\",
    rising="/",
    full="=",
    hollow=".",
    turn=">",
    low="<",
    joints="--,,''||",
)


def find_charset(*, unicode: bool) -> Charset:
    """Return the Unicode or the ASCII character set."""
    return _UNICODE if unicode else _ASCII


def letter_ink(letter: str, *, tile: bool) -> Ink:
    """Return the style of a colour letter, on a tile or on the terminal's background."""
    front, back, alone = _COLOURS.get(letter, _OTHER)
    return Ink(front, back, bold=True) if tile else Ink(alone, bold=True)
