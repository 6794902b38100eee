"""The games of an arena on disk, damaged in their structure: the line is named, and no work has no end."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import pytest

from axiogames.analysis.arena.results import FILE, LAST_DEAL, LONGEST_LINE, play, read, results
from axiogames.analysis.arena.schedule import MOST_BOTS, Schedule, checked
from axiogames.analysis.arena.sprt import MOST_ELO, Hypotheses, Watch, read_test
from axiogames.analysis.arena.statistics import QUICK
from axiogames.analysis.arena.summary import summarise
from axiogames.errors import InvalidFile, InvalidOption, InvalidPlayers
from tests.cli.test_cli import assert_refused, run
from tests.mutations import mutants

GAME, BOTS = "rota", ("random", "greedy")
# What a file may hold without contradicting itself, in other words or numbers than here.
FREE = ("machine", "moves", "seconds", "slowest", "deal", "scores", "seats")


@pytest.fixture(scope="module")
def lines() -> list[bytes]:
    """A file of one whole table of a game with a sequential test."""
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        settings = checked(GAME, BOTS, seed="disk", sprt=Hypotheses(0, 20))
        with results(settings, Path(name)) as kept:
            for seating in Schedule(BOTS, 2).games(0):
                kept.add(play(settings, seating))
        return (Path(name) / FILE).read_bytes().splitlines()


def written(folder: Path, lines: list[bytes]) -> Path:
    (folder / FILE).write_bytes(b"".join(line + b"\n" for line in lines))
    return folder


@pytest.mark.parametrize("number", [0, 1])
def test_every_change_of_the_structure_is_refused_with_its_line_or_harmless(
    number: int, lines: list[bytes], tmp_path: Path
) -> None:
    passed, refused = set(), list[tuple[str, str]]()
    for what, text in mutants(json.loads(lines[number])):
        file = written(tmp_path, [*lines[:number], text.encode(), *lines[number + 1 :]])
        try:
            settings, played = read(file)
        except InvalidFile as error:
            refused.append((what, str(error)))
        else:
            summarise(settings, played, resamples=QUICK, skill=False)
            passed.add(what)
    assert len(refused) > 200
    for what, said in refused:
        assert len(said) < 1000, what
        # Where the settings have changed, it may be the games that are not theirs.
        assert "line 1" in said or "line 2" in said or "the format is" in said, what
    harmless = ("seed", "version", "sprt", "bots", "options") if number == 0 else FREE
    for what in passed:
        assert any(name in what.split(" ")[0] for name in harmless), what


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("scores", [[1], [2]], "scores of other than 5 tracks"),
        ("scores", [[10**30] * 5, [0] * 5], "scores that are not from 0 to"),
        ("scores", [[-1] * 5, [0] * 5], "scores that are not from 0 to"),
        ("scores", [[True] * 5, [0] * 5], "not a game"),
        ("seconds", [], "do not ask for"),
        ("seconds", [-1.0, 1.0], "times of thinking"),
        ("slowest", [1e300, 1.0], "times of thinking"),
        ("moves", [10**30, 1], "numbers of moves"),
        ("place", [0, 0], "the places are"),
        ("place", [10**30, 1], "the places are"),
        ("deal", 10**30, "do not ask for"),
        ("deal", LAST_DEAL + 1, "do not ask for"),
        ("seats", ["greedy"] * 10_000, "do not ask for"),
    ],
)
def test_a_game_that_cannot_have_been_is_refused(
    field: str, value: Any, words: str, lines: list[bytes], tmp_path: Path
) -> None:
    changed = json.dumps({**json.loads(lines[1]), field: value}).encode()
    with pytest.raises(InvalidFile, match=f"line 2: .*{words}"):
        read(written(tmp_path, [lines[0], changed]))


def test_places_that_the_scores_contradict_are_refused(lines: list[bytes], tmp_path: Path) -> None:
    game = json.loads(lines[1])
    game["place"] = [1, 1] if game["place"] != [1, 1] else [1, 2]
    with pytest.raises(InvalidFile, match="line 2: the places are"):
        read(written(tmp_path, [lines[0], json.dumps(game).encode()]))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"bots": []}, "an arena needs bots"),
        ({"bots": ["greedy", "greedy"]}, "name each once"),
        ({"bots": [f"sim@{n}r" for n in range(1, MOST_BOTS + 2)]}, "at most"),
        ({"bots": ["nobody", "greedy"]}, "unknown player"),
        ({"players": 10**30}, "players"),
        ({"players": 0}, "players"),
        ({"game": "chess"}, "unknown game"),
        ({"options": ["short"]}, "option"),
        ({"sprt": {"elo0": 20, "elo1": 0}}, "ELO0 has to be less"),
        ({"sprt": {"elo0": -1e300, "elo1": 1e300}}, "Elo lie between"),
        ({"sprt": {"elo0": 0, "elo1": 20, "alpha": 0}}, "risks"),
    ],
)
def test_settings_that_cannot_be_played_are_refused(
    change: dict[str, Any], words: str, lines: list[bytes], tmp_path: Path
) -> None:
    head = json.loads(lines[0])
    head["settings"].update(change)
    folder = written(tmp_path, [json.dumps(head).encode(), *lines[1:]])
    with pytest.raises(InvalidFile, match=f"line 1: .*{words}"):
        read(folder)
    assert_refused(run("report", str(folder)), "line 1", words)


def test_a_deal_far_away_does_not_make_work(lines: list[bytes], tmp_path: Path) -> None:
    far = [json.dumps({**json.loads(line), "deal": LAST_DEAL}).encode() for line in lines[1:]]
    settings, played = read(written(tmp_path, [lines[0], *far]))
    assert summarise(settings, played, resamples=QUICK, skill=False).games == len(far)
    common = ("arena", GAME, "--bots", ",".join(BOTS), "--seed", "disk", "--sprt", "0,20")
    ran = run(*common, "--games", "2", "--out", str(tmp_path))
    assert_refused(ran, f"holds games on {LAST_DEAL + 1} deals already")


def test_a_file_without_lines_does_not_fill_the_memory(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b" " * (2 * LONGEST_LINE))
    for use in (lambda: read(tmp_path), lambda: results(checked(GAME, BOTS), tmp_path).__enter__()):
        with pytest.raises(InvalidFile, match="longer than"):
            use()
    (tmp_path / FILE).unlink()
    os.mkfifo(tmp_path / FILE)
    with pytest.raises(InvalidFile, match="this is none"):
        read(tmp_path)


def test_a_schedule_has_no_more_line_ups_than_can_be_listed() -> None:
    bots = [f"sim@{n}r" for n in range(1, 61)]
    with pytest.raises(InvalidPlayers, match="60 bots for 4 seats make 487635 line-ups: at most"):
        checked(GAME, bots, players=4)
    assert checked(GAME, bots, players=2).bots == tuple(bots)


def test_more_games_than_can_be_listed_are_refused() -> None:
    bots = ",".join(f"sim@{n}r" for n in range(1, 61))
    assert_refused(run("arena", GAME, "--bots", bots, "--games", "1000000"), "games in all")


@pytest.mark.parametrize(
    "text",
    ["-1e300,0", "0,1e300", "0,100000", "-100000,0", "0,20,1e-400,0.05", "nan,1", "0,٣", "0,1_0", "1" * 9999],
)
def test_a_sequential_test_out_of_bounds_is_refused(text: str) -> None:
    with pytest.raises(InvalidOption, match="is no sequential test") as caught:
        read_test(text)
    assert len(str(caught.value)) < 400


def test_the_farthest_tests_can_be_followed() -> None:
    for test in (Hypotheses(-MOST_ELO, MOST_ELO), Hypotheses(MOST_ELO - 1e-9, MOST_ELO)):
        watch = Watch(test)
        for score in (0.0, 0.25, 0.5, 0.75, 1.0) * 3:
            standing = watch.add(score)
            assert math.isfinite(standing.llr)
