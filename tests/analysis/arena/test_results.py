"""Stored results: complete lines, resumed runs, and exclusive access."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from axiogames.analysis.arena.results import RESULTS_FILE, open_results, read_results
from axiogames.analysis.arena.run import play_game
from axiogames.analysis.arena.schedule import ArenaSettings, Schedule
from axiogames.analysis.arena.sprt import Hypotheses
from axiogames.errors import InvalidFile, SettingsMismatch
from axiogames.games import GAMES

BOTS = ("random", "greedy")


def play_one_deal(folder: Path) -> ArenaSettings:
    """Store the two games of the first deal and return the settings of the arena."""
    settings = ArenaSettings.create(GAMES[0], BOTS, seed="disk")
    with open_results(settings, folder) as stored:
        for seating in Schedule(BOTS, 2).games(0):
            stored.add(play_game(settings, seating))
    return settings


def test_stored_games_are_read_back(tmp_path: Path) -> None:
    settings = play_one_deal(tmp_path / "new" / "folder")
    found, played = read_results(tmp_path / "new" / "folder")
    assert found == settings
    assert list(played) == Schedule(BOTS, 2).games(0)
    for seating, game in played.items():
        again = play_game(settings, seating)
        assert (again.scores, again.place, again.moves) == (game.scores, game.place, game.moves)


def test_a_partial_last_line_is_dropped_and_overwritten(tmp_path: Path) -> None:
    settings = play_one_deal(tmp_path)
    file = tmp_path / RESULTS_FILE
    whole = file.read_bytes()
    file.write_bytes(whole[:-20])
    assert len(read_results(tmp_path)[1]) == 1
    with open_results(settings, tmp_path) as stored:
        assert len(stored.played) == 1
        stored.add(play_game(settings, Schedule(BOTS, 2).games(0)[1]))
    assert len(read_results(tmp_path)[1]) == 2
    assert file.read_bytes().count(b"\n") == 3


def test_partial_settings_start_a_new_file(tmp_path: Path) -> None:
    settings = play_one_deal(tmp_path)
    (tmp_path / RESULTS_FILE).write_bytes((tmp_path / RESULTS_FILE).read_bytes()[:30])
    with open_results(settings, tmp_path) as stored:
        assert stored.played == {}
    assert read_results(tmp_path) == (settings, {})


@pytest.mark.parametrize(
    ("difference", "change"),
    [
        (f"with game {GAMES[0]}, not game {GAMES[1]}", {"game": GAMES[1]}),
        ("with --players 2, not --players 3", {"players": 3}),
        ("with --bots random,greedy, not --bots greedy,random", {"bots": ("greedy", "random")}),
        ("with --seed disk, not --seed other", {"seed": "other"}),
        ("without --sprt, not with --sprt 0,50,0.05,0.05", {"sprt": Hypotheses(0, 50)}),
    ],
)
def test_resuming_with_other_settings_names_the_difference(
    difference: str, change: dict[str, Any], tmp_path: Path
) -> None:
    play_one_deal(tmp_path)
    before = (tmp_path / RESULTS_FILE).read_bytes()
    settings = ArenaSettings.create(**{"game": GAMES[0], "bots": BOTS, "seed": "disk", **change})
    message = f"cannot resume: the run in {tmp_path}/ was started {difference}; repeat its settings or "
    with pytest.raises(SettingsMismatch, match=re.escape(message)), open_results(settings, tmp_path):
        pass
    assert (tmp_path / RESULTS_FILE).read_bytes() == before


def test_resuming_with_another_version_is_rejected(tmp_path: Path) -> None:
    settings = play_one_deal(tmp_path)
    file = tmp_path / RESULTS_FILE
    file.write_text(
        file.read_text(encoding="utf-8").replace(f'"version":"{settings.version}"', '"version":"0.0.1"'),
        encoding="utf-8",
    )
    with (
        pytest.raises(SettingsMismatch, match=r"with version 0\.0\.1, not version "),
        open_results(settings, tmp_path),
    ):
        pass


def with_fields(line: bytes, **fields: Any) -> bytes:
    return json.dumps({**json.loads(line), **fields}).encode()


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda lines: [lines[0], b"{}", lines[2]], "line 2: not a game"),
        (lambda lines: [lines[0], b"nonsense", lines[2]], "line 2: not a game"),
        (
            lambda lines: [lines[0], with_fields(lines[1], seats=["greedy", "greedy"])],
            "line 2: this game is not on the schedule",
        ),
        (
            lambda lines: [lines[0], with_fields(lines[1], deal=-1)],
            "line 2: this game is not on the schedule",
        ),
        (
            lambda lines: [lines[0], with_fields(lines[1], place=[1])],
            "line 2: scores, place, moves, seconds and slowest must have one entry per seat",
        ),
        (lambda lines: [b"[1]", *lines[1:]], "line 1: not the settings"),
        (lambda lines: [with_fields(lines[0], format="axio-arena/9"), *lines[1:]], "axio-arena/9"),
        (lambda lines: [], "empty"),
    ],
)
def test_damaged_files_are_rejected(damage: Any, words: str, tmp_path: Path) -> None:
    play_one_deal(tmp_path)
    file = tmp_path / RESULTS_FILE
    lines = damage(file.read_bytes().splitlines())
    file.write_bytes(b"".join(line + b"\n" for line in lines))
    with pytest.raises(InvalidFile, match=words):
        read_results(tmp_path)


def test_missing_results_are_reported(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="no arena results"):
        read_results(tmp_path)
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InvalidFile, match="no arena results"):
        read_results(tmp_path / "file")


def test_a_folder_is_locked_by_one_arena(tmp_path: Path) -> None:
    settings = play_one_deal(tmp_path)
    with (
        open_results(settings, tmp_path),
        pytest.raises(InvalidFile, match="another arena"),
        open_results(settings, tmp_path),
    ):
        pass


def test_duplicate_games_count_once(tmp_path: Path) -> None:
    play_one_deal(tmp_path)
    file = tmp_path / RESULTS_FILE
    file.write_bytes(file.read_bytes() + file.read_bytes().splitlines(keepends=True)[1])
    assert len(read_results(tmp_path)[1]) == 2
