"""`python -m benchmarks.search`: names, units and counts in its report. No test asserts a speed."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from axiogames.games import GAMES
from benchmarks.search import memory, thinking
from benchmarks.search.parts import COPY, MOVE, PARTS, POLICY, UTILITY
from benchmarks.search.positions import SEEDS, STAGES, positions
from benchmarks.search.profile import profile
from benchmarks.search.thinking import split_progress
from tests.benchmarks.running import assert_refused, run

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("chess",), "unknown game 'chess'"),
        (("rota", "--players", "9"), "for 1 to 4 players, not 9"),
        (("rota", "--seconds", "0"), "must be above 0 and at most 600, not 0"),
    ],
)
def test_invalid_options_are_refused(arguments: tuple[str, ...], words: str) -> None:
    assert_refused(run("search", *arguments), words)


def test_report_is_printed_as_json_and_as_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    some = GAMES[2:3]  # compiling every game would take long
    arguments = ("search", *some, "--seconds", "0.01")
    measure = thinking.run
    measured: list[thinking.ThinkingReport] = []

    def measure_once(*arguments: Any) -> thinking.ThinkingReport:
        if not measured:
            measured.append(measure(*arguments))
        return measured[0]

    monkeypatch.setattr(thinking, "run", measure_once)
    ran = run(*arguments, "--json")
    assert ran.code == 0, ran
    assert_report(json.loads(ran.out), some)

    ran = run(*arguments)
    assert ran.code == 0, ran
    for words in ("rota early", "one-ply search", "all parts, of the measured whole", "300 MB: met"):
        assert words in ran.out


def assert_report(report: Any, some: tuple[str, ...]) -> None:
    """Assert that the report contains every figure of these games."""
    assert report["suite"] == "thinking"
    assert report["players"] == 2
    assert report["cores"] >= 1
    assert {(speed["name"], speed["unit"]) for speed in report["speeds"]} == {
        ("yardstick random", "moves/s"),
        *(
            (f"{name} {stage}, {pace}", "rollouts/s")
            for name in some
            for stage in STAGES
            for pace in ("fast", "full")
        ),
        *((f"{name} instant", "moves/s") for name in some),
    }
    assert all(speed["per_second"] > 0 and speed["ratio"] > 0 for speed in report["speeds"])
    assert [(part["game"], part["stage"]) for part in report["profiles"]] == [
        (name, stage) for name in some for stage in STAGES
    ]
    for profile_of_stage in report["profiles"]:
        assert_shares(profile_of_stage)
    for table in ("instant", "memory"):
        assert [row["game"] for row in report[table]] == list(some)
    assert {row["game"] for row in report["threads"]} == set(some)
    assert all(row["threads"] == 2 and row["times"] > 0 for row in report["threads"])
    assert all(row["microseconds"] > 0 for row in report["instant"])
    assert all(0 < row["megabytes"] <= 300 and row["met"] for row in report["memory"])


def assert_shares(found: Any) -> None:
    """Assert that a profile contains every part, and that the shares of the parts add up to 1."""
    assert [part["part"] for part in found["parts"]] == list(PARTS)
    assert all(0 <= part["share"] <= 1 for part in found["parts"])
    assert sum(part["share"] for part in found["parts"]) == pytest.approx(1)
    assert found["microseconds"] > 0
    assert found["explained"] > 0
    calls = {part["part"]: part["calls"] for part in found["parts"]}
    assert calls["evaluation"] == 1  # at the end of each rollout
    assert 0 < calls["determinization"] <= 1  # all moves share the determinizations
    assert calls["utility of points"] == calls["rollout policy"]


def test_profile_subtracts_the_overhead_of_measuring_a_part() -> None:
    calls, medians = np.zeros(len(PARTS)), np.zeros(len(PARTS) + 1)
    calls[[COPY, UTILITY, POLICY, MOVE]] = 20, 40, 40, 10
    # Each part includes a copy (1), and the policy also the utility. The move takes less than a copy.
    medians[[COPY, UTILITY, POLICY, MOVE]] = 1, 3, 8, 0.5
    medians[-1] = 600
    profilers: Any = [SimpleNamespace(calls=calls, rollouts=10)]
    found = profile("a game", "early", profilers, medians[np.newaxis])
    seconds = {part.part: part.nanoseconds / 1e9 for part in found.parts if part.nanoseconds > 0}
    assert seconds == pytest.approx({PARTS[COPY]: 1, PARTS[UTILITY]: 2, PARTS[POLICY]: 5})
    assert found.parts[POLICY].calls == 4
    assert found.parts[POLICY].share == pytest.approx(200 / 300)
    assert found.explained == pytest.approx(300 / 600)
    assert found.microseconds == pytest.approx(60e6)


@pytest.mark.parametrize("players", range(1, 5))
@pytest.mark.parametrize("name", GAMES)
def test_positions_are_reproducible(name: str, players: int) -> None:
    found, again = positions(name, players), positions(name, players)
    assert list(found) == list(STAGES)
    for stage, views in found.items():
        assert len(views) == len(SEEDS)
        for view, same in zip(views, again[stage], strict=True):
            assert view.state.tobytes() == same.state.tobytes()
            assert view.seat == view.turn
            assert len(view.legal_moves()) > 1


def test_peak_of_a_game_excludes_the_memory_of_this_process() -> None:
    large = np.ones(60_000_000)
    peak = memory.peak()
    assert peak > large.nbytes
    assert memory.peak_of_a_game(GAMES[0], 2, "4r") * 1e6 < peak


def test_progress_of_stages_is_mapped_to_the_whole_run() -> None:
    shares: list[float] = []
    for tick in split_progress(shares.append, (2.0, 1.0, 1.0)):
        tick(0.5)
        tick(1.0)
    assert shares == pytest.approx([0.25, 0.5, 0.625, 0.75, 0.875, 1.0])
