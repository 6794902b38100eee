"""`python -m benchmarks.search`: reported names, units and counts. Speeds are never asserted."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from axiogames.games import GAMES
from benchmarks.search import memory, thinking
from benchmarks.search.parts import COPY, KEENEST, MOVE, PARTS, WEIGH
from benchmarks.search.positions import SEEDS, STAGES, positions
from benchmarks.search.profile import profile
from benchmarks.search.thinking import shares_of
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


def test_the_report_as_json_and_as_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    some = GAMES[2:3]  # every game takes a while to compile
    arguments = ("search", *some, "--seconds", "0.01")
    measure_them = thinking.run
    measured: list[thinking.ThinkingReport] = []

    def measure_once(*of: Any) -> thinking.ThinkingReport:
        if not measured:
            measured.append(measure_them(*of))
        return measured[0]

    monkeypatch.setattr(thinking, "run", measure_once)
    ran = run(*arguments, "--json")
    assert ran.code == 0, ran
    assert_report(json.loads(ran.out), some)

    ran = run(*arguments)
    assert ran.code == 0, ran
    for words in ("rota early", "looks close to the end", "all parts, of the measured whole", "300 MB: met"):
        assert words in ran.out


def assert_report(report: Any, some: tuple[str, ...]) -> None:
    """Assert that the report has every figure of these games."""
    assert report["suite"] == "thinking"
    assert report["players"] == 2
    assert report["cores"] >= 1
    assert {(speed["name"], speed["unit"]) for speed in report["speeds"]} == {
        ("yardstick random", "moves/s"),
        *(
            (f"{name} {stage}{how}", "rollouts/s")
            for name in some
            for stage in STAGES
            for how in ("", ", thorough")
        ),
        *((f"{name} instant", "moves/s") for name in some),
    }
    assert all(speed["per_second"] > 0 and speed["ratio"] > 0 for speed in report["speeds"])
    assert [(part["game"], part["stage"]) for part in report["profiles"]] == [
        (name, stage) for name in some for stage in STAGES
    ]
    for taken_apart in report["profiles"]:
        assert_shares(taken_apart)
    for what in ("instant", "memory"):
        assert [row["game"] for row in report[what]] == list(some)
    assert {row["game"] for row in report["threads"]} == set(some)
    assert all(row["threads"] == 2 and row["times"] > 0 for row in report["threads"])
    assert all(row["microseconds"] > 0 for row in report["instant"])
    assert all(0 < row["megabytes"] <= 300 and row["met"] for row in report["memory"])


def assert_shares(taken_apart: Any) -> None:
    """Every part is there, and together they are all of it."""
    assert [part["part"] for part in taken_apart["parts"]] == list(PARTS)
    assert all(0 <= part["share"] <= 1 for part in taken_apart["parts"])
    assert sum(part["share"] for part in taken_apart["parts"]) == pytest.approx(1)
    assert taken_apart["microseconds"] > 0
    assert taken_apart["explained"] > 0
    calls = {part["part"]: part["calls"] for part in taken_apart["parts"]}
    assert calls["judging the position"] == 1  # where a rollout stops
    assert 0 < calls["guessing what is hidden"] <= 1  # all moves are tried in the same guess
    assert calls["weighing points"] == calls["finding the keenest move"]


def test_a_profile_takes_off_what_a_part_was_measured_with() -> None:
    calls, medians = np.zeros(len(PARTS)), np.zeros(len(PARTS) + 1)
    calls[[COPY, WEIGH, KEENEST, MOVE]] = 20, 40, 40, 10
    # Each with a copy of 1, the keenest move with a weighing as well; a move measured as less than a copy.
    medians[[COPY, WEIGH, KEENEST, MOVE]] = 1, 3, 8, 0.5
    medians[-1] = 600
    some: Any = [SimpleNamespace(calls=calls, rollouts=10)]
    found = profile("a game", "early", some, medians[np.newaxis])
    taken = {part.part: part.nanoseconds / 1e9 for part in found.parts if part.nanoseconds > 0}
    assert taken == pytest.approx({PARTS[COPY]: 1, PARTS[WEIGH]: 2, PARTS[KEENEST]: 5})
    assert found.parts[KEENEST].calls == 4
    assert found.parts[KEENEST].share == pytest.approx(200 / 300)
    assert found.explained == pytest.approx(300 / 600)
    assert found.microseconds == pytest.approx(60e6)


@pytest.mark.parametrize("players", range(1, 5))
@pytest.mark.parametrize("name", GAMES)
def test_positions_to_think_about_are_always_the_same(name: str, players: int) -> None:
    found, again = positions(name, players), positions(name, players)
    assert list(found) == list(STAGES)
    for stage, views in found.items():
        assert len(views) == len(SEEDS)
        for view, same in zip(views, again[stage], strict=True):
            assert view.state.tobytes() == same.state.tobytes()
            assert view.seat == view.turn
            assert len(view.legal_moves()) > 1


def test_the_peak_of_a_game_is_not_that_of_whoever_asks() -> None:
    filled = np.ones(60_000_000)
    peak = memory.peak()
    assert peak > filled.nbytes
    assert memory.peak_of_a_game(GAMES[0], 2, "4r") * 1e6 < peak


def test_progress_goes_from_nothing_to_all() -> None:
    told: list[float] = []
    for tick in shares_of(told.append, (2.0, 1.0, 1.0)):
        tick(0.5)
        tick(1.0)
    assert told == pytest.approx([0.25, 0.5, 0.625, 0.75, 0.875, 1.0])
