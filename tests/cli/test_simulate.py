"""`axio simulate`: reproducible records, summaries, interruptions."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import axiogames as axio
from axiogames.games import GAMES
from axiogames.players import player
from axiogames.players.match import play_match
from tests.cli.test_cli import ENVIRONMENT, assert_refused, each_interruption, run, spawn


@pytest.mark.parametrize("name", [GAMES[0], GAMES[-1]])
def test_the_same_bytes_for_any_number_of_jobs(name: str, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    common = ("simulate", name, "--games", "9", "--seed", "seven", "--bots", "random,balanced")
    assert run(*common, "--out", str(one)).code == 0
    assert run(*common, "--out", str(two), "--jobs", "2").code == 0
    assert one.read_bytes() == two.read_bytes()
    assert one.read_bytes().count(b"\n") == 9
    assert run("verify", str(two)).out == "9 passed, 0 failed\n"


def test_each_game_has_the_seed_of_its_number(tmp_path: Path) -> None:
    name, file = GAMES[0], tmp_path / "games.jsonl"
    run("simulate", name, "--games", "3", "--seed", "x", "--bots", "random,greedy", "--out", str(file))
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines()):
        table = play_match(name, [player("random"), player("greedy")], f"x/{number}")
        assert axio.record_of(table, ("random", "greedy")).to_json() == line


def test_options_and_solo(tmp_path: Path) -> None:
    name, file = GAMES[-1], tmp_path / "games.jsonl"
    chosen = ("--option", "short", "--option", "children", "--bots", "greedy")
    ran = run("simulate", name, "--games", "2", *chosen, "--out", str(file))
    assert ran.code == 0
    record = json.loads(file.read_text(encoding="utf-8").splitlines()[0])
    assert record["options"] == {"children": True, "short": True}
    assert record["players"] == ["greedy"]
    assert "mean lowest" not in ran.err


def test_standard_output_holds_records_only(tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    run("simulate", GAMES[0], "--games", "2", "--out", str(file))
    ran = spawn("simulate", GAMES[0], "--games", "2", "--out", "-")
    assert ran.out == file.read_text(encoding="utf-8")
    assert "2 games in" in ran.err


def test_summary(tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    ran = run("simulate", GAMES[0], "--games", "4", "--out", str(file))
    assert ran.out == ""
    assert "4 games in" in ran.err
    assert str(file) in ran.err
    assert run("simulate", GAMES[0], "--games", "4").out.splitlines()[1:] == ran.err.splitlines()[1:]
    facts = json.loads(run("simulate", GAMES[0], "--games", "4", "--json").out)
    records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for seat, row in enumerate(facts["seats"]):
        scores = [record["result"]["scores"][seat].values() for record in records]
        winners = [record["result"]["winners"] for record in records]
        assert row["wins"] == winners.count([seat])
        assert row["shared"] == sum(seat in seats for seats in winners if len(seats) > 1)
        assert row["mean_points"] == sum(map(sum, scores)) / 4
        assert row["mean_lowest"] == sum(map(min, scores)) / 4
    assert facts["games"] == 4


def test_an_existing_file_is_replaced_only_with_force(tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    file.write_text("precious", encoding="utf-8")
    assert_refused(run("simulate", GAMES[0], "--games", "1", "--out", str(file)), "exists", "--force")
    assert file.read_text(encoding="utf-8") == "precious"
    assert run("simulate", GAMES[0], "--games", "1", "--out", str(file), "--force").code == 0
    assert run("verify", str(file)).out == "1 passed, 0 failed\n"


def test_a_full_disk_is_reported_in_one_line() -> None:
    assert_refused(run("simulate", GAMES[0], "--games", "1", "--out", "/dev/full"), "No space left")


@each_interruption
def test_an_interrupted_simulation_leaves_complete_lines(
    jobs: str, number: signal.Signals, tmp_path: Path
) -> None:
    file = tmp_path / "games.jsonl"
    command = ("simulate", GAMES[0], "--games", "1000000", "--out", str(file), "--jobs", jobs)
    process = subprocess.Popen(
        [sys.executable, "-m", "axiogames", *command],
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
        start_new_session=True,
        encoding="utf-8",
    )
    while process.poll() is None and not (file.exists() and file.stat().st_size > 50_000):
        time.sleep(0.01)
    os.killpg(process.pid, number)  # to the workers, too, as a terminal does
    _, err = process.communicate()
    lines = file.read_bytes().splitlines(keepends=True)
    assert process.returncode == 130, err
    assert err.splitlines()[-1] == f"axio: interrupted: {len(lines)} games of 1000000 written"
    assert "Traceback" not in err
    for line in lines:
        assert line.endswith(b"}\n")
        json.loads(line)


def test_workers_ignore_interrupts_while_they_start() -> None:
    """Also the first worker, before which Python starts its resource tracker."""
    program = (
        "import signal\n"
        "from functools import partial\n"
        "from axiogames.parallel import map_ordered\n"
        "held = partial(signal.pthread_sigmask, signal.SIG_BLOCK)\n"
        "print([signal.SIGINT in mask for mask in map_ordered(held, [(), ()], 2)])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        check=False,
        encoding="utf-8",
    )
    assert done.stdout == "[True, True]\n", done.stderr
