"""The example with OpenSpiel's search runs, and the search wins."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples/openspiel_mcts.py"


def test_the_search_wins_more_than_it_loses() -> None:
    asked = [sys.executable, str(EXAMPLE), "--games", "3", "--simulations", "30"]
    told = subprocess.run(
        asked, capture_output=True, text=True, check=True, timeout=300, encoding="utf-8"
    ).stdout
    assert len(re.findall(r"^game \d: [+-][01], points ", told, re.MULTILINE)) == 3
    found = re.search(r"^(\d) won, (\d) lost$", told, re.MULTILINE)
    assert found is not None
    assert int(found[1]) > int(found[2])
