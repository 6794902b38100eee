"""`axio dataset`: output, errors, resuming."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from axiogames.analysis.dataset import metadata, read
from axiogames.analysis.dataset.generate import generate_part, write_dataset
from axiogames.analysis.dataset.parts import open_parts
from axiogames.analysis.dataset.settings import DatasetSettings
from axiogames.games import GAMES
from tests.cli.test_cli import ENVIRONMENT, assert_refused, run

NAME = GAMES[0]
COMMON = ("dataset", NAME, "--bots", "random,greedy", "--seed", "cli")


def test_a_dataset_is_written_and_its_speed_is_printed(tmp_path: Path) -> None:
    out = str(tmp_path / "out.parquet")
    ran = run(*COMMON, "--games", "3", "--noise", "0.5", "--legal-actions", "--out", out)
    assert (ran.code, ran.err) == (0, "")
    table = read(out)
    first, second = ran.out.splitlines()
    assert first == f"{len(table)} positions of 3 games, written to {out}"
    assert second.startswith(f"{len(table)} generated in ")
    assert second.endswith(" a second")
    settings = DatasetSettings.create(NAME, ["random", "greedy"], seed="cli", games=3, noise=0.5, legal=True)
    assert metadata(table).settings == settings
    write_dataset(settings, tmp_path / "same")
    assert read(tmp_path / "same").equals(table)


def test_the_summary_as_json(tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    common = ("dataset", GAMES[-1], "--players", "4", "--option", "short", "--games", "2", "--out", str(out))
    ran = run(*common, "--json")
    assert (ran.code, ran.err) == (0, "")
    summary = json.loads(ran.out)
    assert summary.pop("seconds") > 0
    assert summary.pop("positions_per_second") > 0
    rows = len(read(out))
    assert summary == {
        "file": str(out),
        "bytes": out.stat().st_size,
        "game": GAMES[-1],
        "players": 4,
        "games": 2,
        "positions": rows,
        "deterministic": True,
        "new_positions": rows,
    }
    assert metadata(out).settings.bots == ("balanced",)
    assert metadata(out).settings.options == ("short",)


def test_bots_with_time_limits_are_reported(tmp_path: Path) -> None:
    ran = run("dataset", NAME, "--bots", "random,mc@1ms", "--games", "1", "--out", str(tmp_path / "out"))
    assert ran.code == 0
    assert "time limits" in ran.out
    assert not metadata(tmp_path / "out").deterministic


def test_complete_parts_are_only_joined(tmp_path: Path) -> None:
    settings = DatasetSettings.create(NAME, ["random", "greedy"], seed="cli", games=4)
    with open_parts(settings, tmp_path / "out") as kept:
        for stretch in kept.missing():
            kept.add(generate_part(settings, stretch))
    ran = run(*COMMON, "--games", "4", "--out", str(tmp_path / "out"))
    assert ran.out == f"{kept.positions} positions of 4 games, written to {tmp_path / 'out'}\n"


# ---------------------------------------------------------------- interruption


def started(out: Path, jobs: str) -> subprocess.Popen[str]:
    """Start the command in its own process group, and wait until it has stored a part."""
    process = subprocess.Popen(
        [sys.executable, "-m", "axiogames", *COMMON, "--games", "100000", "--out", str(out), "--jobs", jobs],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
        start_new_session=True,
        encoding="utf-8",
    )
    folder = Path(f"{out}.parts")
    while process.poll() is None and not any(folder.glob("[0-9]*")):
        time.sleep(0.01)
    return process


@pytest.mark.parametrize(("jobs", "number"), [("1", signal.SIGTERM), ("2", signal.SIGINT)])
def test_an_interrupted_dataset_says_how_to_resume(jobs: str, number: signal.Signals, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = started(out, jobs)
    os.killpg(process.pid, number)  # to the workers, too, as a terminal does
    _, err = process.communicate()
    assert process.returncode == 130, err
    assert "Traceback" not in err
    with open_parts(
        DatasetSettings.create(NAME, ["random", "greedy"], seed="cli", games=100_000), out
    ) as kept:
        message = f"{kept.games} of 100000 games are kept in {out}.parts; the same command resumes the run"
        assert err.splitlines()[-1] == f"axio: interrupted: {message}"
    assert not out.exists()


def test_a_killed_dataset_leaves_complete_parts_only(tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = started(out, "1")
    process.kill()
    process.communicate()
    settings = DatasetSettings.create(NAME, ["random", "greedy"], seed="cli", games=100_000)
    with open_parts(settings, out) as kept:
        first, *_ = sorted(kept.rows)
        path = kept.folder / f"{first.first:09}-{first.end:09}.parquet"
        assert path.read_bytes() == generate_part(settings, first).content
        assert kept.games >= 1
        assert sum(games.size for games in kept.missing()) == 100_000 - kept.games
    assert not out.exists()


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], ["GAME"]),
        ([NAME], ["--out"]),
        (["chess", "--out", "x"], ["chess", NAME]),
        ([NAME, "--out", "x", "--bots", "deepblue"], ["deepblue", "balanced"]),
        ([NAME, "--out", "x", "--bots", "sim@soon"], ["soon", "budget"]),
        ([NAME, "--out", "x", "--bots", ","], ["needs bots"]),
        ([NAME, "--out", "x", "--players", "5"], ["1 to 4", "5"]),
        ([NAME, "--out", "x", "--option", "blind"], ["blind"]),
        ([NAME, "--out", "x", "--games", "0"], ["--games"]),
        ([NAME, "--out", "x", "--jobs", "0"], ["--jobs"]),
        ([NAME, "--out", "x", "--noise", "2"], ["--noise", "2.0", "0 to 1"]),
        ([NAME, "--out", "x", "--noise", "much"], ["--noise", "much"]),
        ([NAME, "--out", "-"], ["standard output", "name a file"]),
        ([NAME, "--out", "/dev/null"], ["/dev/null", "not a regular file"]),
        ([NAME, "--out", "."], ["not a regular file"]),
        ([NAME, "--out", "/nowhere/x"], ["/nowhere/x", "No such file"]),
        ([NAME, "--out", "x", "--bots", "engine:false"], ["false"]),
    ],
)
def test_errors_are_reported_in_one_line(
    arguments: list[str], words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert_refused(run("dataset", *arguments), *words)
    assert list(tmp_path.iterdir()) == []


def test_an_existing_file_and_other_settings_are_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_text("mine", encoding="utf-8")
    command = (*COMMON, "--games", "2", "--out", str(out))
    assert_refused(run(*command), str(out), "exists", "--force")
    assert out.read_text(encoding="utf-8") == "mine"
    assert run(*command, "--force").code == 0
    settings = DatasetSettings.create(NAME, ["random", "greedy"], seed="other", games=2)
    with open_parts(settings, out, force=True) as kept:
        kept.add(generate_part(settings, next(kept.missing())))
    assert_refused(run(*command, "--force"), "cannot resume", "with --seed other, not --seed cli")


def test_a_missing_pyarrow_is_reported_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    assert_refused(run(*COMMON, "--out", str(tmp_path / "out")), 'pip install ".[data]"')
    assert list(tmp_path.iterdir()) == []


def test_help_does_not_wait_for_libraries() -> None:
    heavy = "{'pyarrow', 'joblib'} & set(sys.modules)"
    start = "import sys; from axiogames.cli import main; main(['dataset', '--help'])"
    code = f"{start}; assert not {heavy}, {heavy}"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, env=ENVIRONMENT)
