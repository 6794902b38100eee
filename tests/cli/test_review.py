"""`axio review` and `axio hint`: reports, JSON, pages, errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from axiogames.games import GAMES
from axiogames.model.record import replay
from tests.analysis.review.games import short_game, whole_game
from tests.cli.test_cli import assert_refused, run


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "games.jsonl"
    path.write_text(f"{whole_game(GAMES[0]).to_json()}\n{short_game(GAMES[0]).to_json()}\n", encoding="utf-8")
    return path


def test_a_report(file: Path, tmp_path: Path) -> None:
    html = tmp_path / "out.html"
    ran = run("review", str(file), "--game", "2", "--rollouts", "100", "--html", str(html))
    assert (ran.code, ran.err) == (0, "")
    assert "chances to win" in ran.out
    assert "Ada" in ran.out
    assert "The game is not over." in ran.out
    assert "add up to the result" in " ".join(ran.out.split())
    assert html.read_text(encoding="utf-8").startswith("<!doctype html>")
    again = run("review", str(file), "--game", "2", "--rollouts", "100")
    assert again.out == ran.out
    german = run("review", str(file), "--game", "2", "--rollouts", "100", "--lang", "de")
    assert "Gewinnchancen" in german.out


def test_a_report_can_show_one_seat(file: Path) -> None:
    ran = run("review", str(file), "--game", "2", "--rollouts", "100", "--seat", "1", "--threads", "2")
    rows = [line.split() for line in ran.out.splitlines() if line[:2].strip().isdigit()]
    assert {row[1] for row in rows} == {"Ben"}


def test_a_review_as_json(file: Path) -> None:
    ran = run("review", str(file), "--game", "2", "--rollouts", "100", "--json")
    told = json.loads(ran.out)
    assert [seat["name"] for seat in told["seats"]] == ["Ada", "Ben"]
    assert [move["ply"] for move in told["moves"]] == [1, 2, 3, 4, 5]
    assert told["moves"][0]["candidates"][0]["behind"] == 0


def test_the_page_can_go_to_standard_output(file: Path) -> None:
    ran = run("review", str(file), "--game", "2", "--rollouts", "100", "--html", "-")
    assert ran.out.startswith("<!doctype html>")
    assert ran.out.rstrip().endswith("</html>")


def test_hints_for_a_record_and_for_a_position(file: Path) -> None:
    of_record = run("hint", str(file), "--game", "2", "--rollouts", "200")
    assert of_record.code == 0
    assert "bottleneck" in of_record.out
    table = replay(short_game(GAMES[0]))
    for position in (table.position, table.view(table.turn).position):
        ran = run("hint", position, "--rollouts", "200", "--json")
        told = json.loads(ran.out)
        assert told["terms"]["kind"] == "win"
        best = told["suggestions"][0]["candidate"]
        assert best["move"] in table.legal_moves()
        assert run("hint", "-", "--rollouts", "200", "--json", text=f"{position}\n").out == ran.out


def test_errors_are_reported(file: Path, tmp_path: Path) -> None:
    assert_refused(run("review", str(tmp_path / "none")), "No such file")
    assert_refused(run("review", str(file), "--game", "9"), "has no game 9")
    assert_refused(run("review", str(file), "--seat", "7"), "no seat 7")
    assert_refused(run("review", str(file), "--time", "1", "--rollouts", "200"), "cannot be used together")
    assert_refused(run("hint", str(file)), "the game is over")
    assert_refused(run("hint", "x=1"), "expected a position, or a file with records")
    spectator = replay(short_game(GAMES[0])).view(None).position
    assert_refused(run("hint", spectator), "are hidden")
