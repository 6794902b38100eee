"""Games on disk: whole lines, gone on with, and nobody else's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from axiogames.analysis.arena.results import FILE, play, read, results
from axiogames.analysis.arena.schedule import Schedule, Settings, checked
from axiogames.analysis.arena.sprt import Hypotheses
from axiogames.errors import InvalidFile, SettingsMismatch
from axiogames.games import GAMES

BOTS = ("random", "greedy")


def played_two(folder: Path) -> Settings:
    settings = checked(GAMES[0], BOTS, seed="disk")
    with results(settings, folder) as kept:
        for seating in Schedule(BOTS, 2).games(0):
            kept.add(play(settings, seating))
    return settings


def test_what_was_kept_is_there_again(tmp_path: Path) -> None:
    settings = played_two(tmp_path / "new" / "folder")
    found, played = read(tmp_path / "new" / "folder")
    assert found == settings
    assert list(played) == Schedule(BOTS, 2).games(0)
    for seating, game in played.items():
        again = play(settings, seating)
        assert (again.scores, again.place, again.moves) == (game.scores, game.place, game.moves)


def test_a_torn_last_line_is_dropped_and_overwritten(tmp_path: Path) -> None:
    settings = played_two(tmp_path)
    file = tmp_path / FILE
    whole = file.read_bytes()
    file.write_bytes(whole[:-20])
    assert len(read(tmp_path)[1]) == 1
    with results(settings, tmp_path) as kept:
        assert len(kept.played) == 1
        kept.add(play(settings, Schedule(BOTS, 2).games(0)[1]))
    assert len(read(tmp_path)[1]) == 2
    assert file.read_bytes().count(b"\n") == 3


def test_torn_settings_begin_anew(tmp_path: Path) -> None:
    settings = played_two(tmp_path)
    (tmp_path / FILE).write_bytes((tmp_path / FILE).read_bytes()[:30])
    with results(settings, tmp_path) as kept:
        assert kept.played == {}
    assert read(tmp_path) == (settings, {})


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("game", {"game": GAMES[1]}),
        ("players", {"players": 3}),
        ("bots", {"bots": ("greedy", "random")}),
        ("seed", {"seed": "other"}),
        ("sprt", {"sprt": Hypotheses(0, 50)}),
    ],
)
def test_other_settings_are_refused_and_named(name: str, other: dict[str, Any], tmp_path: Path) -> None:
    played_two(tmp_path)
    before = (tmp_path / FILE).read_bytes()
    settings = checked(**{"game": GAMES[0], "bots": BOTS, "seed": "disk", **other})
    with pytest.raises(SettingsMismatch, match=f"another setting of {name}: "), results(settings, tmp_path):
        pass
    assert (tmp_path / FILE).read_bytes() == before


def test_another_version_is_refused(tmp_path: Path) -> None:
    settings = played_two(tmp_path)
    file = tmp_path / FILE
    file.write_text(
        file.read_text(encoding="utf-8").replace(f'"version":"{settings.version}"', '"version":"0.0.1"'),
        encoding="utf-8",
    )
    with pytest.raises(SettingsMismatch, match=r'version: "0\.0\.1" there'), results(settings, tmp_path):
        pass


def change(line: bytes, **fields: Any) -> bytes:
    return json.dumps({**json.loads(line), **fields}).encode()


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda lines: [lines[0], b"{}", lines[2]], "line 2: not a game"),
        (lambda lines: [lines[0], b"nonsense", lines[2]], "line 2: not a game"),
        (lambda lines: [lines[0], change(lines[1], seats=["greedy", "greedy"])], "line 2: a game that"),
        (lambda lines: [lines[0], change(lines[1], deal=-1)], "line 2: a game that"),
        (lambda lines: [lines[0], change(lines[1], place=[1])], "line 2: a game that"),
        (lambda lines: [b"[1]", *lines[1:]], "line 1: not the settings"),
        (lambda lines: [change(lines[0], format="axio-arena/9"), *lines[1:]], "axio-arena/9"),
        (lambda lines: [], "empty"),
    ],
)
def test_a_damaged_file_is_said(damage: Any, words: str, tmp_path: Path) -> None:
    played_two(tmp_path)
    file = tmp_path / FILE
    lines = damage(file.read_bytes().splitlines())
    file.write_bytes(b"".join(line + b"\n" for line in lines))
    with pytest.raises(InvalidFile, match=words):
        read(tmp_path)


def test_no_results_are_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="no results of an arena here"):
        read(tmp_path)
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InvalidFile, match="no results of an arena here"):
        read(tmp_path / "file")


def test_two_arenas_do_not_write_into_one_folder(tmp_path: Path) -> None:
    settings = played_two(tmp_path)
    with (
        results(settings, tmp_path),
        pytest.raises(InvalidFile, match="another arena"),
        results(settings, tmp_path),
    ):
        pass


def test_a_game_that_stands_there_twice_counts_once(tmp_path: Path) -> None:
    played_two(tmp_path)
    file = tmp_path / FILE
    file.write_bytes(file.read_bytes() + file.read_bytes().splitlines(keepends=True)[1])
    assert len(read(tmp_path)[1]) == 2
