"""The six symbols as our own vector artwork, told apart by shape alone (in black and white, at 10 px).

Paths lie in the square from -50 to 50 and are written out as numbers, not computed, so that pictures
are the same bytes on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Artwork:
    """A symbol: what it is called, its path, and one character that stands for it in a terminal."""

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
"""By colour letter, in the order in which colours are listed."""

SPARK = "M0-46Q6-6 46 0Q6 6 0 46Q-6 6-46 0Q-6-6 0-46Z"
"""The mark printed on a star cell: four points, so that nobody takes it for the blue star."""
