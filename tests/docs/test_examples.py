"""The examples run and print the expected output."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_cli import run as axio

EXAMPLES = Path(__file__).parents[2] / "examples"
TESTED_ELSEWHERE = {"bot.py", "engine.py", "openspiel_mcts.py", "train_solo_agent.py"}


def run(name: str, *arguments: str) -> list[str]:
    """Run an example and return the lines of its output."""
    command = [sys.executable, "-W", "error", str(EXAMPLES / name), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize(("arguments", "games", "agents"), [((), 5, 3), (("trio", "2", "2"), 2, 2)])
def test_random_agents(arguments: tuple[str, ...], games: int, agents: int) -> None:
    lines = run("random_agents.py", *arguments)
    assert [line.partition(":")[0] for line in lines] == [f"game {n}" for n in range(games)]
    assert all(line.count("has rank") == agents and "has rank 1" in line for line in lines)


def test_batch_rollouts() -> None:
    lines = run("batch_rollouts.py", "axio", "--games", "50")
    rows = [
        re.fullmatch(r" *(\d+)% random: lowest track +([\d.]+) \([\d,]+ moves/s\)", line) for line in lines
    ]
    assert [int(match[1]) for match in rows if match] == [0, 10, 50, 100]
    lowest = [float(match[2]) for match in rows if match]
    assert lowest[0] > lowest[2] > lowest[3]


def test_read_dataset(tmp_path: Path) -> None:
    file = tmp_path / "games.parquet"
    generated = axio(
        "dataset", "axio", "--bots", "greedy,random", "--games", "2", "--seed", "1", "--out", str(file)
    )
    assert generated.code == 0, generated
    greedy, random = run("read_dataset.py", str(file))
    assert re.match(r"greedy +\d+ positions, 100% with the most points, ", greedy)
    assert re.match(r"random +\d+ positions, +\d{1,2}% with the most points, ", random)


def test_every_example_is_tested() -> None:
    this_module = Path(__file__).read_text(encoding="utf-8")
    tests = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parents[1].rglob("test_*.py"))
    for path in EXAMPLES.glob("*.py"):
        assert f'"{path.name}"' in this_module, f"examples/{path.name} is not tested"
        assert path.name not in TESTED_ELSEWHERE or tests.count(path.name) > this_module.count(path.name)
