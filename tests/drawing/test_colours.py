"""Colours that stand out, and differ for eyes that see fewer of them."""

from __future__ import annotations

import pytest

from axio.drawing.theme import DARK, LIGHT, Theme


def luminance(colour: str) -> float:
    parts = (int(colour[index : index + 2], 16) / 255 for index in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_symbols_and_text_stand_out(theme: Theme) -> None:
    for letter, paint in theme.paints.items():
        assert max(contrast(paint.fill, theme.tile), contrast(paint.rim, theme.tile)) >= 3, letter
        assert max(contrast(paint.fill, paint.tint), contrast(paint.rim, paint.tint)) >= 3, letter
    assert contrast(theme.muted, theme.card) >= 4.5
    assert contrast(theme.ink, theme.card) >= 7
