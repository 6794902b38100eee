"""The light and the dark theme.

The six colours differ in lightness as well as in hue, from dark to light: blue, red, purple, green, orange,
yellow. People with red-green colour blindness also confuse blue with purple and orange with yellow, and can
distinguish these by lightness.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class Paint:
    """The shades of a colour: fill and rim of the symbol, and tint of the cell that it is printed on."""

    fill: str
    rim: str
    tint: str


@dataclass(frozen=True, slots=True)
class Theme:
    """All colours of a picture."""

    page: str
    card: str
    card_edge: str
    frame: str
    frame_edge: str
    cell: str
    outer: str
    blocked: str
    star: str
    spark: str
    ink: str
    muted: str
    hole: str
    pale: str
    tile: str
    tile_edge: str
    shadow: str
    field: str
    back: str
    accent: str
    glow: str
    facets: tuple[str, str, str, str]  # of a pyramid: above, right, below, left
    paints: Mapping[str, Paint]


LIGHT = Theme(
    page="#f6f4ef",
    card="#fffdf9",
    card_edge="#e3ded3",
    frame="#c9d3d6",
    frame_edge="#b3c0c4",
    cell="#dfe7e8",
    outer="#d3dcde",
    blocked="#3c474d",
    star="#9eafb5",
    spark="#ffffff",
    ink="#2a3136",
    muted="#5e6b71",
    hole="#d5d0c4",
    pale="#a9a79f",
    tile="#fffdf7",
    tile_edge="#a9b3b4",
    shadow="#8a999e",
    field="#e2dccd",
    back="#8fa0a7",
    accent="#1f2a30",
    glow="#ffffff",
    facets=("#f7f4ec", "#b4ad9e", "#8f897c", "#d6d0c3"),
    paints={
        "R": Paint("#c9251c", "#97170f", "#f0cfc8"),
        "G": Paint("#2aa869", "#0f6b3f", "#c3e2d0"),
        "B": Paint("#1b43a6", "#122f78", "#c6d5f1"),
        "O": Paint("#f0861c", "#b85f07", "#f8ddbb"),
        "P": Paint("#a863cf", "#6f3396", "#e2d0ec"),
        "Y": Paint("#f8d030", "#a67f00", "#f8eab4"),
    },
)

DARK = Theme(
    page="#14181c",
    card="#1d2328",
    card_edge="#2c343a",
    frame="#1c2327",
    frame_edge="#323d44",
    cell="#29333a",
    outer="#232c32",
    blocked="#0d1012",
    star="#3a4850",
    spark="#a9bcc4",
    ink="#eef1f0",
    muted="#94a3aa",
    hole="#414c53",
    pale="#7b878d",
    tile="#3a464d",
    tile_edge="#56646c",
    shadow="#0f1316",
    field="#2e383d",
    back="#5a6a73",
    accent="#ffffff",
    glow="#14181c",
    facets=("#bcc3c2", "#6a7375", "#4b5355", "#929b9a"),
    paints={
        "R": Paint("#f76154", "#e04c40", "#4d2f2e"),
        "G": Paint("#57dca2", "#1f8f5c", "#25443a"),
        "B": Paint("#5b8df5", "#3a69d2", "#2a3b58"),
        "O": Paint("#fea038", "#c9741a", "#4d3d29"),
        "P": Paint("#dcb0f9", "#9a5cc8", "#41334f"),
        "Y": Paint("#ffe575", "#c29d1c", "#4a4529"),
    },
)


def properties(theme: Theme) -> dict[str, str]:
    """Return all colours of a theme by the names of the CSS custom properties."""
    named = {
        field.name.replace("_", "-"): value
        for field in fields(theme)
        if isinstance(value := getattr(theme, field.name), str)
    }
    named |= {f"facet-{number}": shade for number, shade in enumerate(theme.facets)}
    for letter, paint in theme.paints.items():
        named |= {f"{letter}-fill": paint.fill, f"{letter}-rim": paint.rim, f"{letter}-tint": paint.tint}
    return named


def _variables() -> Theme:
    plain: dict[str, Any] = {
        field.name: f"var(--{field.name.replace('_', '-')})"
        for field in fields(LIGHT)
        if isinstance(getattr(LIGHT, field.name), str)
    }
    return Theme(
        **plain,
        facets=("var(--facet-0)", "var(--facet-1)", "var(--facet-2)", "var(--facet-3)"),
        paints={
            letter: Paint(f"var(--{letter}-fill)", f"var(--{letter}-rim)", f"var(--{letter}-tint)")
            for letter in LIGHT.paints
        },
    )


VARIABLES = _variables()
"""A theme that refers to CSS custom properties, so that a picture has the colours of its page."""
