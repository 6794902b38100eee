"""Output of a table to a terminal, a file and a notebook."""

from __future__ import annotations

import sys
from xml.etree import ElementTree

import pytest

from axiogames.games import GAMES
from axiogames.model.table import new_game


class Terminal:
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("name", GAMES)
def test_table_is_printed_in_colour_only_on_a_terminal(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table = new_game(name, seed=1)
    assert "\033[" not in str(table)
    plain = str(table)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert "\033[" in str(table)
    monkeypatch.setenv("NO_COLOR", "1")
    assert str(table) == plain


@pytest.mark.parametrize("name", GAMES)
def test_notebook_shows_a_picture(name: str) -> None:
    root = ElementTree.fromstring(new_game(name, seed=1)._repr_svg_())
    assert root.tag.endswith("svg")
