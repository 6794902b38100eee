"""Colours by name, for pictures that stand in a page and follow its day and night."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from axio.drawing.theme import LIGHT, Paint, Theme


def properties(theme: Theme) -> dict[str, str]:
    """Every colour of a theme by the name that style sheets use."""
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
"""A theme whose colours are those of the page around a picture."""
