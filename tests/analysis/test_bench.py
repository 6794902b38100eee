"""`axio bench`: names, units and counts in its report. No test asserts a speed."""

from __future__ import annotations

import json

import pytest

from axiogames.analysis.bench import measure, reference_game
from axiogames.games import GAMES
from tests.cli.test_cli import assert_refused, run


def test_json_report_lists_every_workload() -> None:
    ran = run("bench", "rota", "--players", "3", "--seconds", "0.2", "--json")
    assert ran.code == 0, ran
    report = json.loads(ran.out)
    assert report["suite"] == "rules"
    assert report["players"] == 3
    assert list(report["state_bytes"]) == ["rota"]
    assert {(speed["name"], speed["unit"]) for speed in report["speeds"]} == {
        ("reference random", "moves/s"),
        ("rota random", "moves/s"),
        ("rota greedy", "moves/s"),
        ("rota greedy", "placements scored/s"),
        ("rota from Python", "plies/s"),
    }
    for speed in report["speeds"]:
        assert speed["per_second"] > 0
        assert speed["ratio"] > 0
    assert all(report[name] for name in ("machine", "python", "numpy", "numba"))


def test_report_is_printed_as_a_table() -> None:
    ran = run("bench", "rota", "--seconds", "0.2")
    assert ran.code == 0, ran
    assert "of the reference" in ran.out
    assert "rota random" in ran.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("chess",), "unknown game 'chess'"),
        (("rota", "--players", "9"), "'9' is not a whole number from 1 to 4"),
        (("rota", "--seconds", "0"), "must be above 0 and at most 600, not 0"),
        (("rota", "--seconds", "soon"), "--seconds"),
    ],
)
def test_invalid_options_are_refused(arguments: tuple[str, ...], words: str) -> None:
    assert_refused(run("bench", *arguments), words)


def test_reference_game_plays_whole_games() -> None:
    states = reference_game.new_states()
    moves = reference_game.playouts(reference_game.BOARD, states, 50, 1)
    assert 50 * 25 < moves < 50 * 41  # 76 free cells hold at most 38 tiles
    assert states["n_free"][0] == 0
    assert states["scores"][0].max() <= 18
    assert states["in_bag"][0] + int(states["bag"][0].sum()) == 2 * states["in_bag"][0]


def test_summary_contains_medians() -> None:
    speed = measure.summarise(("x", "y/s"), [(1.0, 0.5), (2.0, 0.25), (9.0, 4.0)])
    assert (speed.name, speed.unit, speed.per_second, speed.ratio) == ("x", "y/s", 2.0, 0.5)


@pytest.mark.slow  # compiles loops that other tests do not need
def test_compile_command_reports_every_game() -> None:
    ran = run("compile", "--jobs", "1")
    assert ran.code == 0, ran
    assert f"of {len(GAMES)} games ready" in ran.out
