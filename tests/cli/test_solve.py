"""`axio solve solo`: reports, JSON, records, errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from axiogames.games import GAMES
from axiogames.model.record import read_records, record_of, replay
from axiogames.players import player
from axiogames.players.match import play_match
from tests.analysis.solve.positions import solo_record, sorted_points
from tests.analysis.solve.test_bound import DOMINOES
from tests.cli.test_cli import assert_refused, run, spawn


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A solo game, a game of two, and a solo game of another kind."""
    other = next(name for name in GAMES if name not in DOMINOES)
    two = record_of(play_match(GAMES[0], [player("random")] * 2, 1))
    path = tmp_path / "games.jsonl"
    lines = (solo_record(GAMES[0]).to_json(), two.to_json(), solo_record(other).to_json())
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_a_deal_from_a_seed_is_solved(tmp_path: Path) -> None:
    out = tmp_path / "best.jsonl"
    ran = run("solve", "solo", "--seed", "7", "--width", "5", "--out", str(out))
    assert (ran.code, ran.err) == (0, "")
    assert "best found" in ran.out
    assert "The gap is" in ran.out
    assert "A beam of width 5" in ran.out
    ((_, record),) = read_records(out)
    table = replay(record)
    assert " ".join(map(str, sorted_points(table))) in ran.out
    assert table.follows_from("7")
    assert_refused(run("solve", "solo", "--seed", "7", "--width", "5", "--out", str(out)), "the file exists")
    assert run("solve", "solo", "--seed", "8", "--width", "1", "--out", str(out), "--force").code == 0


def test_a_recorded_game_is_compared_with_the_best_line(file: Path) -> None:
    ran = run("solve", "solo", str(file), "--width", "5", "--json")
    assert (ran.code, ran.err) == (0, "")
    told = json.loads(ran.out)
    played = sorted_points(replay(solo_record(GAMES[0])))
    assert told["played"]["points"] == list(played)
    assert told["best"]["points"] >= told["played"]["points"]
    assert told["bound"]["points"] >= told["best"]["points"]
    assert told["gap"] == told["bound"]["points"][0] - told["best"]["points"][0]
    assert "played" in run("solve", "solo", str(file), "--width", "1").out


def test_a_late_position_is_solved_exactly(file: Path) -> None:
    plies = len(replay(solo_record(GAMES[0])).moves)
    ran = run("solve", "solo", str(file), "--ply", str(plies - 2))
    assert "All lines were searched: nothing better is possible." in ran.out
    ran = run("solve", "solo", str(file), "--ply", str(plies))
    assert "as good as the best line found" in ran.out


def test_another_game_and_a_record_on_standard_output() -> None:
    ran = spawn("solve", "solo", DOMINOES[-1], "--seed", "1", "--seconds", "0.01", "--out", "-")
    assert ran.code == 0
    assert json.loads(ran.out)["game"] == DOMINOES[-1]
    assert "best found" in ran.err


def test_a_record_without_a_seed(tmp_path: Path) -> None:
    path = tmp_path / "game.jsonl"
    path.write_text(solo_record(GAMES[0], with_seed=False).to_json(), encoding="utf-8")
    assert "of the record are known" in run("solve", "solo", str(path), "--width", "1").out


def test_errors_are_reported_in_one_line(file: Path, tmp_path: Path) -> None:
    def refused(said: str, *arguments: str) -> None:
        assert_refused(run("solve", "solo", *arguments), said)

    refused("Name the deal")
    refused("Name the deal", GAMES[0])
    refused("cannot be used together", str(file), "--seed", "1")
    refused("--ply needs a file with a recorded game", "--seed", "1", "--ply", "3")
    refused("nowhere.jsonl", str(tmp_path / "nowhere.jsonl"))
    refused("2 players", str(file), "--game", "2")
    refused("only domino games", str(file), "--game", "3")
    refused("no game 4", str(file), "--game", "4")
    refused("ply 99 is out of range", str(file), "--ply", "99")
    refused("only domino games", next(name for name in GAMES if name not in DOMINOES), "--seed", "1")
    for width in ("0", "many"):
        refused("--width", "--seed", "1", "--width", width)
    for seconds in ("0", "-1", "nan", "soon"):
        refused("--seconds", "--seed", "1", "--seconds", seconds)
    refused("standard output", "--seed", "1", "--json", "--out", "-")
    damaged = tmp_path / "damaged.jsonl"
    damaged.write_text(
        solo_record(GAMES[0]).to_json().replace('"gain":{', '"gain":{"P":9,', 1), encoding="utf-8"
    )
    refused("line 1: event", str(damaged))
    damaged.write_text("{}", encoding="utf-8")
    refused("not a record", str(damaged))
