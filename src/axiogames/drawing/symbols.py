"""Paths of the colours' symbols, and stroked glyphs for cell names and numbers.

Symbols are centred at the origin and about 100 units wide. A glyph is the centre line of a round pen:
baseline at 0, capitals and digits 6 units high, `y` downwards. With these glyphs no picture needs a font.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Artwork:
    """A symbol: its name, its path, and the character that represents it in a terminal."""

    name: str
    path: str
    glyph: str


_SUN = (
    "M0-23A23 23 0 0 1 0 23A23 23 0 0 1 0-23Z"
    "M47.5 0L30.5 9.5V-9.5ZM33.6 33.6L14.8 28.3L28.3 14.8Z"
    "M0 47.5L-9.5 30.5H9.5ZM-33.6 33.6L-28.3 14.8L-14.8 28.3Z"
    "M-47.5 0L-30.5-9.5V9.5ZM-33.6-33.6L-14.8-28.3L-28.3-14.8Z"
    "M0-47.5L9.5-30.5H-9.5ZM33.6-33.6L28.3-14.8L14.8-28.3Z"
)
_DOT = "M0-39A39 39 0 0 1 0 39A39 39 0 0 1 0-39Z"
_STAR = (
    "M0-45L13-14L46.6-11.4L21 10.6L28.8 43.4L0 25.8L-28.8 43.4L-21 10.6L-46.6-11.4L-13-14Z"  # sits a bit low
)
_SQUARE = "M-31-36H31A5 5 0 0 1 36-31V31A5 5 0 0 1 31 36H-31A5 5 0 0 1-36 31V-31A5 5 0 0 1-31-36Z"
_RING = "M0-42A42 42 0 0 1 0 42A42 42 0 0 1 0-42ZM0-21A21 21 0 0 0 0 21A21 21 0 0 0 0-21Z"
_DIAMOND = "M0-47L35 0L0 47L-35 0Z"

SYMBOLS: Mapping[str, Artwork] = MappingProxyType(
    {
        "R": Artwork("red sun", _SUN, "\N{TWELVE POINTED BLACK STAR}"),
        "G": Artwork("green dot", _DOT, "\N{BLACK CIRCLE}"),
        "B": Artwork("blue star", _STAR, "\N{BLACK STAR}"),
        "O": Artwork("orange square", _SQUARE, "\N{BLACK SQUARE}"),
        "P": Artwork("purple ring", _RING, "\N{WHITE CIRCLE}"),
        "Y": Artwork("yellow diamond", _DIAMOND, "\N{BLACK DIAMOND}"),
    }
)
"""Symbols by colour letter, in the canonical order of the colours."""

SPARK = "M0-46Q6-6 46 0Q6 6 0 46Q-6 6-46 0Q-6-6 0-46Z"
"""The mark printed on a star cell. It has four points to differ from the blue star."""

CAPITAL = 6.0
"""Height of digits and capitals."""

GAP = 1.9
"""Distance between the centre lines of two glyphs."""

_BOWL = "C3.8-.8 3 0 1.9 0S0-.9 0-2.1.8-4.2 1.9-4.2 3.8-3.4 3.8-2.1"

GLYPHS: Mapping[str, tuple[float, str]] = MappingProxyType(
    {
        "0": (4, "M2-6C.7-6 0-4.7 0-3S.7 0 2 0 4-1.3 4-3 3.3-6 2-6Z"),
        "1": (2.2, "M.2-4.7L2-6V0"),
        "2": (3.9, "M.2-4.5C.3-5.5 1-6 2-6 3.1-6 3.8-5.4 3.8-4.4 3.8-3.2 2.7-2.4.1 0H3.9"),
        "3": (
            3.9,
            "M.3-5.2C.7-5.7 1.2-6 2-6 3-6 3.7-5.4 3.7-4.6S3-3.2 2-3.2H1.5M2-3.2"
            "C3.1-3.2 3.9-2.6 3.9-1.6S3.1 0 2 0C1.1 0 .4-.4 0-1",
        ),
        "4": (4.1, "M3.1 0V-6L0-1.5H4.1"),
        "5": (
            3.9,
            "M3.5-6H.7L.4-3.2C.9-3.6 1.4-3.8 2-3.8 3.2-3.8 3.9-3 3.9-1.9S3.1 0 1.9 0C1.1 0 .5-.3.1-.9",
        ),
        "6": (
            3.9,
            "M3.4-5.4C3-5.8 2.6-6 2.1-6 .8-6 .1-4.7.1-2.5.1-.9.8 0 2 0"
            "S3.9-.8 3.9-1.9 3.2-3.7 2.1-3.7.1-3 .1-1.9",
        ),
        "7": (3.8, "M0-6H3.8L1.4 0"),
        "8": (
            4,
            "M2-3.2C1-3.2.3-3.8.3-4.6S1-6 2-6 3.7-5.4 3.7-4.6 3-3.2 2-3.2C.9-3.2.1-2.6.1-1.6"
            "S.9 0 2 0 3.9-.6 3.9-1.6 3.1-3.2 2-3.2Z",
        ),
        "9": (
            3.9,
            "M.5-.6C.9-.2 1.3 0 1.8 0 3.1 0 3.8-1.3 3.8-3.5 3.8-5.1 3.1-6 1.9-6"
            "S0-5.2 0-4.1.7-2.3 1.8-2.3 3.8-3 3.8-4.1",
        ),
        "a": (3.8, "M3.8-4.2V0M3.8-2.1" + _BOWL),
        "b": (3.8, "M0-6.4V0M3.8-2.1" + _BOWL),
        "c": (3.4, "M3.4-3.5C3.1-3.9 2.6-4.2 1.9-4.2.8-4.2 0-3.3 0-2.1S.8 0 1.9 0C2.6 0 3.1-.3 3.4-.7"),
        "d": (3.8, "M3.8-6.4V0M3.8-2.1" + _BOWL),
        "e": (3.8, "M0-2.2H3.8C3.8-3.4 3-4.2 1.9-4.2S0-3.3 0-2.1.8 0 2 0C2.7 0 3.2-.3 3.5-.8"),
        "f": (2.4, "M2.5-6.3C1.5-6.6.9-6.1.9-5V0M0-4.1H2.2"),
        "g": (3.8, "M3.8-4.2V.1C3.8 1.4 3 2 1.9 2 1.2 2 .6 1.8.2 1.4M3.8-2.1" + _BOWL),
        "h": (3.4, "M0-6.4V0M0-2.4C0-3.5.8-4.2 1.8-4.2S3.4-3.6 3.4-2.5V0"),
        "i": (0.6, "M.3-4.2V0M.3-6.1V-6"),
        "j": (1.4, "M1-4.2V.6C1 1.6.6 2 0 2M1-6.1V-6"),
        "k": (3.2, "M0-6.4V0M3-4.2L0-1.6M1.1-2.5L3.2 0"),
        "l": (1.2, "M.2-6.4V-1.1C.2-.3.6 0 1.2 0"),
        "m": (
            5.6,
            "M0-4.2V0M0-2.6C0-3.6.6-4.2 1.5-4.2S2.8-3.7 2.8-2.7V0M2.8-2.6C2.8-3.6 3.4-4.2 4.3-4.2"
            "S5.6-3.7 5.6-2.7V0",
        ),
        "n": (3.4, "M0-4.2V0M0-2.4C0-3.5.8-4.2 1.8-4.2S3.4-3.6 3.4-2.5V0"),
        "o": (3.8, "M3.8-2.1" + _BOWL + "Z"),
        "p": (3.8, "M0-4.2V2M3.8-2.1" + _BOWL),
        "r": (2.2, "M0-4.2V0M0-2.4C0-3.5.7-4.2 1.6-4.2 1.9-4.2 2.1-4.1 2.2-4.1"),
        "t": (2.3, "M.9-5.7V-1.2C.9-.4 1.3 0 2 0H2.3M0-4.1H2.2"),
        "w": (5.6, "M0-4.2L1.4 0 2.8-3.8 4.2 0 5.6-4.2"),
        " ": (0.9, ""),
        "B": (3.8, "M0 0V-6H2C3-6 3.6-5.4 3.6-4.6S3-3.2 2-3.2H0M2-3.2C3.1-3.2 3.8-2.6 3.8-1.6S3.1 0 2 0H0"),
        "G": (4.6, "M4.4-4.9C3.9-5.6 3.3-6 2.4-6 1-6 0-4.8 0-3S1 0 2.4 0C3.7 0 4.6-.9 4.6-2.5V-2.8H2.6"),
        "O": (4.8, "M2.4-6C1-6 0-4.7 0-3S1 0 2.4 0 4.8-1.3 4.8-3 3.8-6 2.4-6Z"),
        "P": (3.7, "M0 0V-6H2C3.1-6 3.7-5.3 3.7-4.3S3.1-2.6 2-2.6H0"),
        "R": (3.9, "M0 0V-6H2C3.1-6 3.7-5.3 3.7-4.4S3.1-2.8 2-2.8H0M2.1-2.8L3.9 0"),
        "Y": (4.2, "M0-6L2.1-2.9 4.2-6M2.1-2.9V0"),
        "-": (2.4, "M0-2.4H2.4"),
        "+": (3.2, "M0-2.8H3.2M1.6-4.4V-1.2"),
        "=": (3.2, "M0-3.7H3.2M0-1.9H3.2"),
        ",": (0.8, "M.6-.1L.1 1.3"),
        "_": (3.6, "M0 .4H3.6"),
        "\N{MULTIPLICATION SIGN}": (3, "M0-4.1L3-1.1M3-4.1L0-1.1"),
    }
)
"""Advance and path by character. Missing characters are skipped."""


def width(text: str) -> float:
    """Return the width of a line of text in glyph units."""
    advances = [GLYPHS[character][0] for character in text if character in GLYPHS]
    return sum(advances) + GAP * max(0, len(advances) - 1)
