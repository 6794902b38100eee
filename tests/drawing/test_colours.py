"""Contrast of the colours, also with colour blindness."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations

import pytest

from axiogames.drawing.symbols import SYMBOLS
from axiogames.drawing.text.canvas import letter_ink
from axiogames.drawing.theme import DARK, LIGHT, Theme

Triple = tuple[float, float, float]

# Machado, Oliveira and Fernandes 2009, full severity, for linear light.
EYES: dict[str, tuple[Triple, Triple, Triple]] = {
    "all colours": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}

WHITE = ((0.4339, 0.3763, 0.1899), (0.2126, 0.7152, 0.0722), (0.0177, 0.1095, 0.8728))
"""Conversion from linear RGB to XYZ, relative to white."""


def light(colour: str) -> Triple:
    red, green, blue = (int(colour[index : index + 2], 16) / 255 for index in (1, 3, 5))
    return linear(red), linear(green), linear(blue)


def linear(part: float) -> float:
    return part / 12.92 if part <= 0.04 else ((part + 0.055) / 1.055) ** 2.4


def luminance(colour: str) -> float:
    red, green, blue = light(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def lab(colour: str, eyes: str) -> Triple:
    """Return CIELAB coordinates of a colour as seen with a type of colour vision."""
    red, green, blue = (min(1.0, max(0.0, dot(row, light(colour)))) for row in EYES[eyes])
    x, y, z = (root(dot(row, (red, green, blue))) for row in WHITE)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def dot(row: Triple, parts: Triple) -> float:
    return sum(share * part for share, part in zip(row, parts, strict=True))


def root(part: float) -> float:
    return part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116


def of_terminal(number: int) -> str:
    """Return a colour of the 6×6×6 cube in the palette of 256 colours."""
    levels = (0, 95, 135, 175, 215, 255)
    red, rest = divmod(number - 16, 36)
    return "#" + "".join(f"{levels[index]:02x}" for index in (red, *divmod(rest, 6)))


def tiles_of_terminal() -> dict[str, str]:
    backs = {letter: letter_ink(letter, tile=True).back for letter in SYMBOLS}
    return {letter: of_terminal(back) for letter, back in backs.items() if back is not None}


PALETTES: dict[str, Mapping[str, str]] = {
    "light": {letter: paint.fill for letter, paint in LIGHT.paints.items()},
    "dark": {letter: paint.fill for letter, paint in DARK.paints.items()},
    "terminal": tiles_of_terminal(),
}


@pytest.mark.parametrize("eyes", EYES)
@pytest.mark.parametrize("palette", PALETTES)
def test_similar_hues_differ_in_lightness(palette: str, eyes: str) -> None:
    colours = PALETTES[palette]
    assert set(colours) == set(SYMBOLS)
    for a, b in combinations(colours, 2):
        first, second = lab(colours[a], eyes), lab(colours[b], eyes)
        assert math.dist(first, second) > 15, f"{a} and {b}"
        if math.dist(first, second) < 25:
            assert abs(first[0] - second[0]) >= 10, f"{a} and {b}"


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_symbols_and_text_have_contrast(theme: Theme) -> None:
    for letter, paint in theme.paints.items():
        assert max(contrast(paint.fill, theme.tile), contrast(paint.rim, theme.tile)) >= 3, letter
        assert max(contrast(paint.fill, paint.tint), contrast(paint.rim, paint.tint)) >= 3, letter
    assert contrast(theme.muted, theme.card) >= 4.5
    assert contrast(theme.ink, theme.card) >= 7


def test_terminal_symbols_have_contrast() -> None:
    for letter, back in tiles_of_terminal().items():
        front = letter_ink(letter, tile=True).front
        assert front is not None
        assert contrast(of_terminal(front), back) >= 4.5, letter
