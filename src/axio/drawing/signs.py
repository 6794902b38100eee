"""The characters and terminal colours that stand for what a scene holds."""

from __future__ import annotations

from dataclasses import dataclass

from axio.drawing.sheet import Ink
from axio.drawing.symbols import SYMBOLS

FAINT = Ink(front=244)
LABEL = Ink(front=244)
ACCENT = Ink(front=35, bold=True)
PLACE = Ink(front=35)

_WHITE, _BLACK = 231, 16

# Front colour on a tile, colour of the tile, and colour on the terminal's own ground, dark or light. Tiles
# differ in lightness where eyes that confuse red with green, or blue with purple, see the same hue.
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
class Signs:
    """Characters, all one column wide."""

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
    joints: str  # of a line that comes from the left, by where it goes on: see `joint`

    def glyph(self, letter: str) -> str:
        """The character of a colour: its symbol, or its letter in ASCII."""
        art = SYMBOLS.get(letter)
        return art.glyph if art is not None and self.unicode else letter

    def joint(self, *, up: bool, down: bool, right: bool) -> str:
        """The character where a line from the left meets lines in these directions."""
        return self.joints[4 * up + 2 * down + right]


_UNICODE = Signs(
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
_ASCII = Signs(
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


def signs(*, unicode: bool) -> Signs:
    """The characters to draw with."""
    return _UNICODE if unicode else _ASCII


def letter_ink(letter: str, *, tile: bool) -> Ink:
    """The colours of a letter, on a tile or on the terminal's own ground."""
    front, back, alone = _COLOURS.get(letter, _OTHER)
    return Ink(front, back, bold=True) if tile else Ink(alone, bold=True)
