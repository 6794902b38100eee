"""The example with OpenSpiel's search runs, and the search wins more games than it loses."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples/openspiel_mcts.py"


def test_search_wins_more_games_than_it_loses() -> None:
    command = [sys.executable, str(EXAMPLE), "--games", "3", "--simulations", "30"]
    output = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=300, encoding="utf-8"
    ).stdout
    assert len(re.findall(r"^game \d: [+-][01], points ", output, re.MULTILINE)) == 3
    totals = re.search(r"^(\d) won, (\d) lost$", output, re.MULTILINE)
    assert totals is not None
    assert int(totals[1]) > int(totals[2])
