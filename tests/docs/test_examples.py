"""The examples for environments run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(("arguments", "games", "agents"), [((), 5, 3), (("trio", "2", "2"), 2, 2)])
def test_random_agents(arguments: tuple[str, ...], games: int, agents: int) -> None:
    command = [sys.executable, "-W", "error", str(EXAMPLES / "random_agents.py"), *arguments]
    told = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=120, encoding="utf-8"
    ).stdout
    lines = told.splitlines()
    assert [line.partition(":")[0] for line in lines] == [f"game {n}" for n in range(games)]
    assert all(line.count("is number") == agents and "is number 1" in line for line in lines)
