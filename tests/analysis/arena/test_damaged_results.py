"""Damaged results files: errors name the line, and reading takes bounded time and memory."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import pytest

from axiogames.analysis.arena.results import (
    MAX_DEAL,
    MAX_LINE,
    RESULTS_FILE,
    open_results,
    read_results,
)
from axiogames.analysis.arena.run import play_game
from axiogames.analysis.arena.schedule import MAX_BOTS, ArenaSettings, Schedule
from axiogames.analysis.arena.sprt import MAX_ELO, Hypotheses, SequentialTest, parse_sprt
from axiogames.analysis.arena.statistics import LIVE_RESAMPLES
from axiogames.analysis.arena.summary import summarise
from axiogames.errors import InvalidFile, InvalidOption, InvalidPlayers
from tests.cli.test_cli import assert_refused, run
from tests.mutations import mutants

GAME, BOTS = "rota", ("random", "greedy")
# Fields of a game that can be changed without making the file inconsistent.
INDEPENDENT_FIELDS = ("machine", "moves", "seconds", "slowest", "deal", "scores", "seats")


@pytest.fixture(scope="module")
def lines() -> list[bytes]:
    """The lines of a file with one complete round and a sequential test."""
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        settings = ArenaSettings.create(GAME, BOTS, seed="disk", sprt=Hypotheses(0, 20))
        with open_results(settings, Path(name)) as stored:
            for seating in Schedule(BOTS, 2).games(0):
                stored.add(play_game(settings, seating))
        return (Path(name) / RESULTS_FILE).read_bytes().splitlines()


def write_results(folder: Path, lines: list[bytes]) -> Path:
    (folder / RESULTS_FILE).write_bytes(b"".join(line + b"\n" for line in lines))
    return folder


@pytest.mark.parametrize("number", [0, 1])
def test_structural_mutations_are_rejected_with_their_line_or_harmless(
    number: int, lines: list[bytes], tmp_path: Path
) -> None:
    accepted, rejected = set(), list[tuple[str, str]]()
    for mutation, text in mutants(json.loads(lines[number])):
        file = write_results(tmp_path, [*lines[:number], text.encode(), *lines[number + 1 :]])
        try:
            settings, played = read_results(file)
        except InvalidFile as error:
            rejected.append((mutation, str(error)))
        else:
            summarise(settings, played, resamples=LIVE_RESAMPLES, openskill=False)
            accepted.add(mutation)
    assert len(rejected) > 200
    for mutation, message in rejected:
        assert len(message) < 1000, mutation
        # Changed settings can make the games invalid instead.
        assert "line 1" in message or "line 2" in message or "unsupported format" in message, mutation
    harmless = ("seed", "version", "sprt", "bots", "options") if number == 0 else INDEPENDENT_FIELDS
    for mutation in accepted:
        assert any(name in mutation.split(" ")[0] for name in harmless), mutation


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("scores", [[1], [2]], "scores of 5 tracks"),
        ("scores", [[10**30] * 5, [0] * 5], "scores must be from 0 to"),
        ("scores", [[-1] * 5, [0] * 5], "scores must be from 0 to"),
        ("scores", [[True] * 5, [0] * 5], "not a game"),
        ("seconds", [], "one entry per seat: 2"),
        ("seconds", [-1.0, 1.0], "thinking times"),
        ("slowest", [1e300, 1.0], "thinking times"),
        ("moves", [10**30, 1], "numbers of moves must be"),
        ("place", [0, 0], "the places are"),
        ("place", [10**30, 1], "the places are"),
        ("deal", 10**30, "not on the schedule"),
        ("deal", MAX_DEAL + 1, "not on the schedule"),
        ("seats", ["greedy"] * 10_000, "not on the schedule"),
    ],
)
def test_impossible_games_are_rejected(
    field: str, value: Any, words: str, lines: list[bytes], tmp_path: Path
) -> None:
    changed = json.dumps({**json.loads(lines[1]), field: value}).encode()
    with pytest.raises(InvalidFile, match=f"line 2: .*{words}"):
        read_results(write_results(tmp_path, [lines[0], changed]))


def test_places_that_contradict_the_scores_are_rejected(lines: list[bytes], tmp_path: Path) -> None:
    game = json.loads(lines[1])
    game["place"] = [1, 1] if game["place"] != [1, 1] else [1, 2]
    with pytest.raises(InvalidFile, match="line 2: the places are"):
        read_results(write_results(tmp_path, [lines[0], json.dumps(game).encode()]))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"bots": []}, "an arena needs bots"),
        ({"bots": ["greedy", "greedy"]}, "name each bot once"),
        ({"bots": [f"sim@{n}r" for n in range(1, MAX_BOTS + 2)]}, "at most"),
        ({"bots": ["nobody", "greedy"]}, "unknown player"),
        ({"players": 10**30}, "players"),
        ({"players": 0}, "players"),
        ({"game": "chess"}, "unknown game"),
        ({"options": ["short"]}, "option"),
        ({"sprt": {"elo0": 20, "elo1": 0}}, "ELO0 must be less"),
        ({"sprt": {"elo0": -1e300, "elo1": 1e300}}, "Elo must be between"),
        ({"sprt": {"elo0": 0, "elo1": 20, "alpha": 0}}, "error rates"),
    ],
)
def test_invalid_settings_are_rejected(
    change: dict[str, Any], words: str, lines: list[bytes], tmp_path: Path
) -> None:
    head = json.loads(lines[0])
    head["settings"].update(change)
    folder = write_results(tmp_path, [json.dumps(head).encode(), *lines[1:]])
    with pytest.raises(InvalidFile, match=f"line 1: .*{words}"):
        read_results(folder)
    assert_refused(run("arena", "report", str(folder)), "line 1", words)


def test_the_last_possible_deal_takes_no_extra_time(lines: list[bytes], tmp_path: Path) -> None:
    far = [json.dumps({**json.loads(line), "deal": MAX_DEAL}).encode() for line in lines[1:]]
    settings, played = read_results(write_results(tmp_path, [lines[0], *far]))
    assert summarise(settings, played, resamples=LIVE_RESAMPLES, openskill=False).games == len(far)
    common = ("arena", "run", GAME, "--bots", ",".join(BOTS), "--seed", "disk", "--sprt", "0,20")
    ran = run(*common, "--games", "2", "--out", str(tmp_path))
    assert_refused(ran, f"already holds games on {MAX_DEAL + 1} deals")


def test_a_file_without_newlines_is_read_in_bounded_memory(tmp_path: Path) -> None:
    (tmp_path / RESULTS_FILE).write_bytes(b" " * (2 * MAX_LINE))
    for read in (
        lambda: read_results(tmp_path),
        lambda: open_results(ArenaSettings.create(GAME, BOTS), tmp_path).__enter__(),
    ):
        with pytest.raises(InvalidFile, match="longer than"):
            read()
    (tmp_path / RESULTS_FILE).unlink()
    os.mkfifo(tmp_path / RESULTS_FILE)
    with pytest.raises(InvalidFile, match="not a regular file"):
        read_results(tmp_path)


def test_too_many_line_ups_are_rejected() -> None:
    bots = [f"sim@{n}r" for n in range(1, 61)]
    with pytest.raises(InvalidPlayers, match="60 bots for 4 seats make 487635 line-ups: at most"):
        ArenaSettings.create(GAME, bots, players=4)
    assert ArenaSettings.create(GAME, bots, players=2).bots == tuple(bots)


def test_too_many_games_are_rejected() -> None:
    bots = ",".join(f"sim@{n}r" for n in range(1, 61))
    assert_refused(run("arena", "run", GAME, "--bots", bots, "--games", "1000000"), "games in all")


@pytest.mark.parametrize(
    "text",
    ["-1e300,0", "0,1e300", "0,100000", "-100000,0", "0,20,1e-400,0.05", "nan,1", "0,٣", "0,1_0", "1" * 9999],
)
def test_a_sequential_test_out_of_range_is_rejected(text: str) -> None:
    with pytest.raises(InvalidOption, match="invalid sequential test") as caught:
        parse_sprt(text)
    assert len(str(caught.value)) < 400


def test_extreme_hypotheses_give_finite_ratios() -> None:
    for hypotheses in (Hypotheses(-MAX_ELO, MAX_ELO), Hypotheses(MAX_ELO - 1e-9, MAX_ELO)):
        sequential_test = SequentialTest(hypotheses)
        for score in (0.0, 0.25, 0.5, 0.75, 1.0) * 3:
            status = sequential_test.add(score)
            assert math.isfinite(status.llr)
