"""docs/reference/observations.md: its examples run."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from axiogames.games.runtime.compile import INTERPRETED

PAGE = Path(__file__).parents[2] / "docs/reference/observations.md"


@pytest.mark.skipif(INTERPRETED, reason="hundreds of games take long where rules are interpreted")
def test_examples_run() -> None:
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert (failed, tried) == (0, 11)
