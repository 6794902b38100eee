"""The command line: help, errors, games, rules, verify and show."""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path

import pexpect
import pytest

import axiogames as axio
from axiogames.cli import COMMANDS, main
from axiogames.games import GAMES, game, rules_page

SOURCE = Path(axio.__file__).parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SOURCE.parent), "PYTHONUTF8": "1"}  # in any locale


@dataclass(frozen=True)
class CommandResult:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str


def run(*arguments: str, text: str = "") -> CommandResult:
    """Run the program in this process, with `text` as standard input."""
    written, err, typed = BytesIO(), StringIO(), sys.stdin
    out = TextIOWrapper(written, "utf-8")
    sys.stdin = StringIO(text)
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = main(arguments)
    finally:
        sys.stdin = typed
    out.flush()
    return CommandResult(code, written.getvalue().decode("utf-8", "replace"), err.getvalue())


def spawn(*arguments: str, text: str = "") -> CommandResult:
    """Run the program in a new process."""
    done = subprocess.run(
        [sys.executable, "-m", "axiogames", *arguments],
        input=text,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=ENVIRONMENT,
        cwd=SOURCE.parents[1],
        check=False,
    )
    return CommandResult(done.returncode, done.stdout, done.stderr)


# Ends of long work in one or two processes: Ctrl-C or a signal from another program.
each_interruption = pytest.mark.parametrize(
    ("jobs", "number"),
    [
        ("1", signal.SIGTERM),
        ("2", signal.SIGINT),
        pytest.param("1", signal.SIGINT, marks=pytest.mark.slow),
        pytest.param("2", signal.SIGTERM, marks=pytest.mark.slow),
    ],
)


def assert_refused(ran: CommandResult, *words: str) -> None:
    """Assert exit code 2 and one line on standard error with these words, after notes about compilation."""
    lines = [line for line in ran.err.splitlines() if ": compiling the rules of " not in line]
    assert ran.code == 2, ran
    assert len(lines) == 1, ran
    assert lines[0].startswith("axio: "), ran
    for word in words:
        assert word in lines[0], ran
    assert ran.out == "", ran


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A file of three recorded games for each game."""
    folder = tmp_path_factory.mktemp("records")
    files = {name: folder / f"{name}.jsonl" for name in GAMES}
    for name, file in files.items():
        assert run("simulate", name, "--games", "3", "--seed", "cli", "--out", str(file)).code == 0
    return files


# ---------------------------------------------------------------- help and errors


def test_help_lists_every_command_and_loads_no_rules() -> None:
    code = (
        "import sys; from axiogames.cli import main; main(['--help'])\n"
        "heavy = {'numpy', 'numba', 'msgspec', 'rich'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        check=False,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    for name, summary in COMMANDS.items():
        assert f"  {name} " in done.stdout
        assert summary in done.stdout


def test_axio_without_a_command_prints_the_help() -> None:
    assert run() == run("--help")
    assert run().code == 0


@pytest.mark.parametrize("group", ["solve", "arena"])
def test_a_group_without_a_command_prints_its_help_on_standard_error(group: str) -> None:
    ran = run(group)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"Usage: axio {group} ")
    assert "\nCommands:\n" in ran.err


def test_an_option_without_its_value_refers_to_the_help_of_the_command() -> None:
    assert_refused(
        run("simulate", GAMES[0], "--seed"), "'--seed' requires an argument. See axio simulate --help"
    )


def test_version() -> None:
    assert run("--version").out == f"axio {axio.__version__}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_its_own_name(name: str) -> None:
    ran = run(name, "--help")
    assert ran.code == 0
    assert ran.out.startswith(f"Usage: axio {name} ")


def test_no_command_names_a_game() -> None:
    for file in (SOURCE / "cli").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            assert not (isinstance(node, ast.Constant) and node.value in GAMES), (file, node.lineno)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nonsense"], ["nonsense"]),
        (["--nonsense"], ["--nonsense"]),
        (["rules"], ["GAME"]),
        (["rules", "chess"], ["chess", "axio, hex, rota, trio"]),
        (["games", "--xml"], ["--xml"]),
        (["play", "chess"], ["chess"]),
        (["play", "axio", "--seats", "you,deepblue"], ["deepblue", "balanced"]),
        (["play", "axio", "--seats", "greedy,balanced"], ["you", "simulate"]),
        (["play", "axio", "--seats", "you,you,you,you,you"], ["5", "1 to 4"]),
        (["play", "axio", "--option", "children"], ["children"]),
        (["play", "axio", "--record", "/nowhere/at/all"], ["/nowhere/at"]),
        (["play", "--resume"], ["no game to resume"]),
        (["play", "axio", "--resume"], ["--resume"]),
        (["simulate", "chess"], ["chess"]),
        (["simulate", "axio", "--bots", "you,greedy"], ["'you'", "random"]),
        (["simulate", "axio", "--bots", ""], ["unknown player ''"]),
        (["simulate", "axio", "--games", "0"], ["--games", "0"]),
        (["simulate", "axio", "--games", "many"], ["many"]),
        (["simulate", "axio", "--jobs", "0"], ["--jobs"]),
        (["simulate", "axio", "--option", "blind"], ["blind"]),
        (["simulate", "axio", "--games", "1", "--out", "/nowhere/x"], ["/nowhere/x", "No such file"]),
        (["simulate", "axio", "--games", "1", "--out", "-", "--json"], ["standard output"]),
        (["verify"], ["FILE"]),
        (["verify", "/nowhere"], ["/nowhere", "No such file"]),
        (["verify", "/"], ["directory"]),
        (["show", "/nowhere"], ["/nowhere"]),
        (["show", "/nowhere", "--svg", "a", "--png", "b"], ["--svg and --png"]),
        (["show", "/nowhere", "--seat", "0", "--spectator"], ["--seat and --spectator"]),
        (["show", "/nowhere", "--width", "400"], ["--png"]),
        (["show", "/nowhere", "--dark"], ["--dark"]),
    ],
)
def test_bad_input_is_refused_in_one_line(
    arguments: Sequence[str], words: Sequence[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert_refused(run(*arguments), *words)
    assert list(tmp_path.iterdir()) == []


def test_errors_contain_no_control_characters() -> None:
    assert_refused(run("rules", "a\x1b[2Jb\nc"))
    assert "\x1b" not in run("rules", "a\x1b[2Jb").err


def test_a_closed_pipe_causes_no_error_message(records: dict[str, Path]) -> None:
    command = f"{sys.executable} -m axiogames rules {GAMES[0]} | head -n 1"
    done = subprocess.run(
        command, shell=True, capture_output=True, text=True, env=ENVIRONMENT, check=True, encoding="utf-8"
    )
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 1
    command = f"{sys.executable} -m axiogames simulate {GAMES[0]} --games 40 --out - | head -c 10"
    done = subprocess.run(
        command, shell=True, capture_output=True, text=True, env=ENVIRONMENT, check=True, encoding="utf-8"
    )
    assert done.stderr == ""


# ---------------------------------------------------------------- games and rules


def test_games_lists_all_games_and_reconstructed_rules() -> None:
    ran = run("games")
    words = " ".join(ran.out.split())
    for name in GAMES:
        info = game(name)
        assert info.name in words
        assert info.summary in words
        assert all(f"[reconstruction] {rule}" in words for rule in info.reconstructed)
        assert all(option.name in words for option in info.options)


def test_games_as_json() -> None:
    infos = json.loads(run("games", "--json").out)
    assert [info["id"] for info in infos] == list(GAMES)
    assert all(info["players"] == [1, 4] and info["tiles"] == game(info["id"]).tiles for info in infos)


@pytest.mark.parametrize("name", GAMES)
def test_rules_are_plain_markdown_in_a_pipe(name: str) -> None:
    assert run("rules", name).out == rules_page(name)
    assert run("rules", name, "--plain").out == rules_page(name)


def test_rules_in_a_terminal_keep_their_marks() -> None:
    child = pexpect.spawn(
        sys.executable,
        ["-m", "axiogames", "rules", GAMES[0]],
        env={**ENVIRONMENT, "TERM": "xterm-256color"},
        dimensions=(24, 80),
        encoding="utf-8",
        timeout=60,
    )
    child.expect(pexpect.EOF)
    assert isinstance(child.before, str)
    page = rules_page(GAMES[0])
    for mark in ("[ruling]", "[reconstruction]"):
        assert child.before.count(mark) == page.count(mark)
    assert "**" not in child.before


def test_a_registered_game_is_known_to_commands_and_their_workers() -> None:
    simulate = ("simulate", "tiny", "--bots", "random,random", "--games", "8")
    results = []
    for jobs in ("1", "2"):
        ran = spawn("--register", "examples.tiny_game", *simulate, "--jobs", jobs)
        assert ran.code == 0, ran
        results.append(ran.out.splitlines()[1:])
    assert len(results[0]) == 3
    assert results[0] == results[1]


@pytest.mark.parametrize(
    ("package", "word"), [("nowhere", "No module named"), ("", "Empty"), (".", "relative"), ("json", "GAME")]
)
def test_a_package_without_a_game_is_refused(package: str, word: str) -> None:
    assert_refused(run("--register", package, "games"), package, word)


# ---------------------------------------------------------------- verify


def test_verify_passes_simulated_games(records: dict[str, Path]) -> None:
    files = [str(file) for file in records.values()]
    ran = run("verify", *files)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == f"{3 * len(files)} passed, 0 failed\n"
    assert run("verify", "--jobs", "2", *files) == ran


@pytest.mark.parametrize("name", GAMES)
def test_verify_finds_a_changed_number(name: str, records: dict[str, Path], tmp_path: Path) -> None:
    first, second, third = records[name].read_text(encoding="utf-8").splitlines()
    changed = json.loads(second)
    number = next(
        n for n, event in enumerate(changed["events"], 1) if event["t"] == "place" and event["gain"]
    )
    gain = changed["events"][number - 1]["gain"]
    gain[next(iter(gain))] += 1
    file = tmp_path / "changed.jsonl"
    file.write_text("\n".join((first, "", json.dumps(changed), third)), encoding="utf-8")
    ran = run("verify", str(file), str(records[name]))
    assert ran.code == 1
    failure, summary = ran.out.splitlines()
    assert failure.startswith(f"{file}, line 3: event {number}: ")
    assert summary == "5 passed, 1 failed"


def test_verify_finds_a_wrong_result_and_a_truncated_line(records: dict[str, Path], tmp_path: Path) -> None:
    first, second, third = records[GAMES[0]].read_text(encoding="utf-8").splitlines()
    changed = json.loads(first)
    changed["result"]["winners"] = [0, 1]
    file = tmp_path / "bad.jsonl"
    file.write_text(
        f"{json.dumps(changed)}\nno JSON at all\n{second}\n{third[: len(third) // 2]}", encoding="utf-8"
    )
    ran = run("verify", str(file), "--json")
    facts = json.loads(ran.out)
    assert ran.code == 1
    assert (facts["passed"], facts["failed"]) == (1, 3)
    assert [failure["line"] for failure in facts["failures"]] == [1, 2, 4]
    assert "result" in facts["failures"][0]["message"]
    assert run("verify", str(file), "--json", "--jobs", "2") == ran


def test_verify_refuses_an_empty_file_before_it_checks_others(
    records: dict[str, Path], tmp_path: Path
) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text("\n", encoding="utf-8")
    assert_refused(run("verify", str(records[GAMES[0]]), str(empty)), str(empty), "empty")


# ---------------------------------------------------------------- show


@pytest.mark.parametrize("name", GAMES)
def test_show_prints_the_end_of_a_game(name: str, records: dict[str, Path]) -> None:
    ran = run("show", str(records[name]), "--game", "2")
    record = json.loads(records[name].read_text(encoding="utf-8").splitlines()[1])
    winner = record["players"][record["result"]["winners"][0]]
    assert ran.code == 0
    assert f"{game(name).name}: greedy, balanced; after " in ran.out
    assert "The game is over." in ran.out
    assert f"{winner} wins, ahead of " in ran.out
    assert "\x1b" not in ran.out


def test_show_can_show_any_ply(records: dict[str, Path]) -> None:
    file = str(records[GAMES[0]])
    whole = json.loads(run("show", file, "--json").out)
    for ply in (0, 1, 7, whole["ply"]):
        facts = json.loads(run("show", file, "--ply", str(ply), "--json").out)
        assert facts["ply"] == ply
        assert (facts["result"] is None) == (ply < whole["ply"])
        assert axio.Position.parse(facts["position"]).position == facts["position"]
    assert "is to move" in run("show", file, "--ply", "3").out
    assert_refused(run("show", file, "--ply", "999"), "999", f"0 to {whole['ply']}")
    assert_refused(run("show", file, "--ply=-1"), "-1", f"0 to {whole['ply']}")
    assert_refused(run("show", file, "--game", "4"), "game 4", "1 to 3")
    assert_refused(run("show", file, "--game", "0"), "game 0", "1 to 3")
    assert_refused(run("show", file, "--seat", "2"), "seat 2")


def test_show_counts_a_kept_hand_as_a_ply(tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    run("simulate", GAMES[0], "--games", "6", "--bots", "random,random", "--out", str(file))
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        table = axio.replay(axio.Record.parse(line))
        kept = [ply for ply, move in enumerate(table.moves, 1) if move.kind == "keep"]
        for ply in kept[:2]:
            for shown in (ply - 1, ply):
                ran = run("show", str(file), "--game", str(number), "--ply", str(shown), "--json")
                assert json.loads(ran.out)["ply"] == shown
    assert kept, "the last game should have a hand that was kept"


@pytest.mark.parametrize("name", GAMES)
def test_show_hides_what_a_seat_does_not_know(name: str, records: dict[str, Path]) -> None:
    file = str(records[name])
    table = axio.replay(axio.Record.parse(records[name].read_text(encoding="utf-8").splitlines()[0]), upto=6)
    for option, seat in ((("--seat", "0"), 0), (("--seat", "1"), 1), (("--spectator",), None)):
        ran = run("show", file, "--ply", "6", *option, "--json")
        assert json.loads(ran.out)["position"] == table.view(seat).position
        text = run("show", file, "--ply", "6", *option).out
        assert text.startswith(table.view(seat).text(names=("greedy", "balanced")))
        assert text.count(" hidden") == (1 if seat is not None else 2)
    assert " hidden" not in run("show", file, "--ply", "6").out


@pytest.mark.parametrize("name", GAMES)
def test_show_writes_pictures(name: str, records: dict[str, Path], tmp_path: Path) -> None:
    file, svg, png = str(records[name]), tmp_path / "a.svg", tmp_path / "a.png"
    assert run("show", file, "--svg", str(svg)) == CommandResult(0, "", "")
    assert svg.read_text(encoding="utf-8").startswith("<svg ")
    assert run("show", file, "--svg", "-").out == svg.read_text(encoding="utf-8")
    assert run("show", file, "--png", str(png), "--width", "321", "--dark") == CommandResult(0, "", "")
    data = png.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert int.from_bytes(data[16:20], "big") == 321
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.png", "a.svg"]


def test_show_reports_files_it_cannot_write(records: dict[str, Path], tmp_path: Path) -> None:
    file = str(records[GAMES[0]])
    assert_refused(run("show", file, "--svg", str(tmp_path)), "directory")
    assert_refused(run("show", file, "--svg", str(tmp_path / "no" / "a.svg")), "No such file")
    assert list(tmp_path.iterdir()) == []


def test_show_reports_an_invalid_record(records: dict[str, Path], tmp_path: Path) -> None:
    record = json.loads(records[GAMES[0]].read_text(encoding="utf-8").splitlines()[0])
    number = next(n for n, event in enumerate(record["events"], 1) if event["t"] == "place")
    record["events"][number - 1]["at"] = ["a1", "a2"]
    file = tmp_path / "bad.jsonl"
    file.write_text(f"{json.dumps(record)}\nnot JSON\n", encoding="utf-8")
    assert_refused(run("show", str(file)), f"line 1: event {number}:")
    assert_refused(run("show", str(file), "--game", "2"), "line 2:")
    assert run("show", str(file), "--ply", "0").code == 0


def test_names_from_a_file_are_shown_without_control_characters(
    records: dict[str, Path], tmp_path: Path
) -> None:
    record = json.loads(records[GAMES[0]].read_text(encoding="utf-8").splitlines()[0])
    record["players"] = ["\x1b[2Jred", "a\nb"]
    file = tmp_path / "names.jsonl"
    file.write_text(json.dumps(record), encoding="utf-8")
    assert "\x1b" not in run("show", str(file)).out


def test_an_interrupt_anywhere_gives_exit_code_130(tmp_path: Path) -> None:
    """Also within `exec`, where `python -m` would otherwise end by the signal."""
    (tmp_path / "stopped.py").write_text(
        "from axiogames.cli import main\n"
        "from axiogames.cli.commands import compile\n"
        "def stop(**options): exec('raise KeyboardInterrupt')\n"
        "compile.command.callback = stop\n"
        "raise SystemExit(main(['compile']))\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, "-m", "stopped"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=ENVIRONMENT,
        check=False,
        encoding="utf-8",
    )
    assert (done.returncode, done.stderr) == (130, "axio: interrupted\n")
