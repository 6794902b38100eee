"""`axio arena`: reproducible games, resuming, figures, errors."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pexpect
import pytest

from axiogames.analysis.arena.results import RESULTS_FILE, ArenaGame, read_results
from axiogames.analysis.arena.run import ArenaRun
from axiogames.games import GAMES
from axiogames.players import player
from axiogames.players.match import play_match
from tests.cli.test_cli import ENVIRONMENT, assert_refused, each_interruption, run

NAME = GAMES[0]
COMMON = ("arena", "run", NAME, "--bots", "random,greedy", "--seed", "cli")


def figures(*arguments: str) -> dict[str, Any]:
    """Return the output of `--json` without the times, which differ between runs."""
    ran = run(*arguments, "--json")
    assert ran.code == 0, ran
    found: dict[str, Any] = json.loads(ran.out)
    for bot in found["bots"]:
        assert bot.pop("seconds_a_move") > 0
        assert bot.pop("slowest_move") >= 0  # 0 in games of simple bots, where it is not measured
    return found


def results_of(folder: Path) -> dict[Any, Any]:
    return {
        seating: (game.scores, game.place, game.moves) for seating, game in read_results(folder)[1].items()
    }


# ---------------------------------------------------------------- reproducibility


@pytest.mark.parametrize(
    ("name", "players"),
    [
        (GAMES[-1], "3"),
        pytest.param(GAMES[0], "2", marks=pytest.mark.slow),
        pytest.param(GAMES[1], "1", marks=pytest.mark.slow),
    ],
)
def test_the_same_figures_for_any_number_of_jobs(name: str, players: str, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    common = ("arena", "run", name, "--bots", "random,greedy,balanced", "--players", players, "--games", "5")
    first = figures(*common, "--out", str(one))
    assert first == figures(*common, "--out", str(two), "--jobs", "2")
    assert first == figures(*common)
    assert results_of(one) == results_of(two)


@pytest.mark.parametrize("backend", ["dask", pytest.param("ray", marks=pytest.mark.slow)])
def test_a_cluster_plays_the_same_games(backend: str) -> None:
    assert figures(*COMMON, "--games", "4") == figures(
        *COMMON, "--games", "4", "--backend", backend, "--jobs", "2"
    )


def test_each_deal_has_the_seed_of_its_number(tmp_path: Path) -> None:
    assert run(*COMMON, "--games", "4", "--out", str(tmp_path)).code == 0
    _, played = read_results(tmp_path)
    for seating, game in played.items():
        table = play_match(NAME, [player(bot) for bot in seating.seats], f"cli/{seating.deal}")
        assert table.result is not None
        assert game.place == table.result.place
        assert game.scores == tuple(tuple(points.values()) for points in table.result.scores)


def test_options_reach_the_table(tmp_path: Path) -> None:
    common = ("arena", "run", GAMES[-1], "--bots", "greedy,random", "--games", "2")
    plain, short = figures(*common), figures(*common, "--option", "short")
    assert plain["bots"][0]["moves"] > short["bots"][0]["moves"]


# ---------------------------------------------------------------- output


def test_the_tables_rank_bots_by_strength() -> None:
    ran = run(*COMMON, "--games", "11")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == "12 games: 1 line-up on 6 deals; 95 % intervals over deals"
    assert lines[2].split() == ["bot", "games", "wins", "mean", "place", "Elo", "OpenSkill", "(2σ)"]
    assert lines[3].startswith("greedy     12  100.0 % (")
    assert lines[4].split()[:4] == ["random", "12", "0.0", "%"]
    assert "greedy" in ran.out.partition("random : greedy")[0]
    assert "The first seat won 50.0 %" in ran.out
    assert ran.err == ""


def test_solo_bots_are_ranked_by_points() -> None:
    found = figures("arena", "run", NAME, "--bots", "random,greedy", "--players", "1", "--games", "3")
    assert (found["games"], found["deals"]) == (6, 3)
    random, greedy = found["bots"]
    assert greedy["mean_lowest"]["value"] > random["mean_lowest"]["value"]
    assert greedy["mean_vector"] == sorted(greedy["mean_vector"])
    assert greedy["mean_vector"][0] == greedy["mean_lowest"]["value"]
    assert greedy["win_rate"]["value"] == 1


def test_more_bots_than_seats_and_fewer() -> None:
    many = figures("arena", "run", GAMES[-1], "--bots", "random,greedy,balanced", "--games", "2")
    few = figures("arena", "run", GAMES[-1], "--bots", "random,greedy", "--players", "4", "--games", "3")
    assert (many["games"], few["games"]) == (6, 4)
    assert len(many["pairs"]) == 3
    for found in (many, few):
        assert len({bot["games"] for bot in found["bots"]}) == 1
        assert sum(bot["win_rate"]["value"] * bot["games"] for bot in found["bots"]) == pytest.approx(
            found["games"]
        )
        assert sum(seat["win_rate"]["value"] for seat in found["seats"]) == pytest.approx(1)


def test_a_bot_may_play_against_itself() -> None:
    found = figures("arena", "run", NAME, "--bots", "greedy", "--games", "3")
    assert (found["games"], found["pairs"]) == (3, [])
    assert found["bots"][0]["win_rate"]["value"] == 0.5


def test_bots_have_budgets_of_their_own() -> None:
    found = figures("arena", "run", NAME, "--bots", "greedy@50ms,greedy@1s", "--games", "2")
    assert [bot["bot"] for bot in found["bots"]] == ["greedy@50ms", "greedy@1s"]


def test_an_external_engine_takes_a_seat() -> None:
    engine = f"engine:{sys.executable} {Path(__file__).parents[2] / 'examples' / 'engine.py'}"
    found = figures("arena", "run", NAME, "--bots", f"random,{engine}", "--games", "2")
    assert [bot["bot"] for bot in found["bots"]] == ["random", engine]
    assert found["bots"][1]["win_rate"]["value"] == 1


def test_an_invalid_engine_answer_is_reported() -> None:
    bots = ("--bots", "random,engine:false", "--games", "2")
    assert_refused(run("arena", "run", NAME, *bots), "false")
    assert_refused(run("arena", "run", NAME, *bots, "--jobs", "2"), "false")


def test_standings_are_shown_during_a_run() -> None:
    command = [*COMMON, "--games", "300"]
    terminal = pexpect.spawn(
        sys.executable,
        ["-m", "axiogames", *command],
        env={**ENVIRONMENT, "TERM": "xterm-256color"},
        encoding="utf-8",
        dimensions=(40, 120),
        timeout=120,
    )
    terminal.expect("mean place")
    terminal.expect("greedy")
    terminal.expect(r"\d+/300")
    terminal.expect("300 games: 1 line-up on 150 deals")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0


# ---------------------------------------------------------------- stopping early


def test_a_sequential_test_stops_at_the_same_game_for_any_number_of_jobs(tmp_path: Path) -> None:
    common = (*COMMON, "--games", "400", "--sprt", "0,200")
    found = figures(*common, "--out", str(tmp_path / "one"))
    assert found == {**figures(*common, "--out", str(tmp_path / "two"), "--jobs", "2"), "left_out": 0}
    assert found["sprt"]["accepted"] == 0
    assert found["sprt"]["llr"] <= found["sprt"]["lower"]
    assert found["games"] == 2 * found["sprt"]["deals"] < 100


def test_a_decided_sequential_test_plays_no_more_games(tmp_path: Path) -> None:
    command = (*COMMON, "--games", "400", "--sprt", "0,200", "--out", str(tmp_path))
    first = run(*command)
    assert "the advantage of random is at most 0 Elo, not at least 200 Elo (LLR -" in first.out
    before = (tmp_path / RESULTS_FILE).read_bytes()
    assert run(*command).out == first.out
    assert (tmp_path / RESULTS_FILE).read_bytes() == before


# ---------------------------------------------------------------- resuming


def test_more_games_extend_a_finished_run(tmp_path: Path) -> None:
    file = tmp_path / RESULTS_FILE
    assert run(*COMMON, "--games", "4", "--out", str(tmp_path)).code == 0
    before = file.read_bytes()
    assert figures(*COMMON, "--games", "8", "--out", str(tmp_path)) == figures(*COMMON, "--games", "8")
    assert file.read_bytes().startswith(before)
    assert_refused(run(*COMMON, "--games", "6", "--out", str(tmp_path)), "4 deals", "8 or more")


def started(folder: Path, jobs: str, games: int) -> subprocess.Popen[str]:
    """Start an arena in its own process group, and wait until it has stored some games."""
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "axiogames",
            *COMMON,
            "--games",
            str(games),
            "--out",
            str(folder),
            "--jobs",
            jobs,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
        start_new_session=True,
        encoding="utf-8",
    )
    file = folder / RESULTS_FILE
    while process.poll() is None and not (file.exists() and file.stat().st_size > 3000):
        time.sleep(0.01)
    return process


@pytest.mark.parametrize("jobs", [pytest.param("1", marks=pytest.mark.slow), "2"])
def test_a_killed_run_is_resumed(jobs: str, tmp_path: Path) -> None:
    process = started(tmp_path, jobs, 100_000)
    process.kill()
    process.communicate()  # returns when the workers have ended, too
    kept = results_of(tmp_path)
    assert len(kept) > 10
    with (tmp_path / RESULTS_FILE).open("ab") as file:
        file.write(b'{"deal":3,"seats":["gre')  # as if it had been killed in the middle of a line
    games = 2 * (max(seating.deal for seating in kept) + 2)
    assert figures(*COMMON, "--games", str(games), "--out", str(tmp_path)) == figures(
        *COMMON, "--games", str(games)
    )
    assert kept.items() <= results_of(tmp_path).items()


@each_interruption
def test_an_interrupted_run_says_how_to_resume(jobs: str, number: signal.Signals, tmp_path: Path) -> None:
    process = started(tmp_path, jobs, 100_000)
    os.killpg(process.pid, number)  # to the workers, too, as a terminal does
    _, err = process.communicate()
    kept = len(read_results(tmp_path)[1])
    assert process.returncode == 130, err
    message = f"{kept} of 100000 games are kept in {tmp_path}; the same command resumes the run"
    assert err.splitlines()[-1] == f"axio: interrupted: {message}"
    assert "Traceback" not in err
    assert (tmp_path / RESULTS_FILE).read_bytes().endswith(b"}\n")


def test_an_interrupted_run_without_a_folder_prints_its_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    play = ArenaRun.play

    def interrupted(*arguments: Any) -> Iterator[ArenaGame]:
        yield from islice(play(*arguments), 3)
        raise KeyboardInterrupt

    monkeypatch.setattr(ArenaRun, "play", interrupted)
    ran = run(*COMMON, "--games", "10")
    assert ran.code == 130
    assert ran.err == "axio: interrupted: 3 of 10 games played; use --out DIR to keep them\n"
    assert ran.out.startswith("2 games: 1 line-up on 1 deal;")
    assert "1 game not counted" in ran.out


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["arena", "run"], ["GAME"]),
        (["arena", "run", NAME], ["--bots"]),
        (["arena", "run", "chess", "--bots", "greedy"], ["chess", NAME]),
        (["arena", "run", NAME, "--bots", "deepblue"], ["deepblue", "greedy"]),
        (["arena", "run", NAME, "--bots", "greedy@soon"], ["soon", "budget"]),
        (["arena", "run", NAME, "--bots", "greedy,greedy"], ["greedy", "2 times", "once"]),
        (["arena", "run", NAME, "--bots", ","], ["needs bots"]),
        (["arena", "run", NAME, "--bots", "greedy", "--players", "5"], ["1 to 4", "5"]),
        (["arena", "run", NAME, "--bots", "greedy", "--option", "children"], ["children"]),
        (["arena", "run", NAME, "--bots", "greedy", "--games", "0"], ["--games"]),
        (["arena", "run", NAME, "--bots", "greedy", "--jobs", "0"], ["--jobs"]),
        (["arena", "run", NAME, "--bots", "greedy", "--backend", "cloud"], ["cloud", "local"]),
        (["arena", "run", NAME, "--bots", "greedy,random", "--sprt", "nonsense"], ["nonsense", "ELO0,ELO1"]),
        (
            ["arena", "run", NAME, "--bots", "greedy,random,balanced", "--sprt", "0,9"],
            ["2 bots and 2 players", "3 bots"],
        ),
        (["arena", "run", NAME, "--bots", "greedy", "--out", "/dev/null/x"], ["/dev/null/x"]),
        (["arena", "report", "/nowhere"], ["/nowhere", "no arena results"]),
    ],
)
def test_errors_are_reported_in_one_line(arguments: list[str], words: list[str]) -> None:
    assert_refused(run(*arguments), *words)


def test_help_does_not_wait_for_libraries() -> None:
    heavy = "{'joblib', 'matplotlib', 'openskill', 'ray'} & set(sys.modules)"
    start = "import sys; from axiogames.cli import main; main(['arena', 'run', '--help'])"
    code = f"{start}; assert not {heavy}, {heavy}"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, env=ENVIRONMENT)


def test_other_settings_are_refused(tmp_path: Path) -> None:
    assert run(*COMMON, "--games", "2", "--out", str(tmp_path)).code == 0
    other = ("arena", "run", NAME, "--bots", "random,greedy", "--seed", "other", "--out", str(tmp_path))
    assert_refused(run(*other), "cannot resume", "--seed cli, not --seed other")


@pytest.mark.parametrize("module", ["openskill.models", "matplotlib.figure"])
def test_missing_libraries_are_reported_before_a_game_is_played(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    assert_refused(run(*COMMON, "--out", str(tmp_path / "out")), 'pip install ".[arena]"')
    assert not (tmp_path / "out").exists()


def test_results_need_a_regular_file(tmp_path: Path) -> None:
    (tmp_path / RESULTS_FILE).symlink_to("/dev/full")
    assert_refused(run(*COMMON, "--games", "2", "--out", str(tmp_path)), RESULTS_FILE, "not a regular file")
