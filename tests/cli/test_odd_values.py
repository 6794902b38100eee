"""Every option and argument of every command with invalid values: one line on standard error, no traceback.

The tests walk the tree of commands, so they include new commands. Where a value is accepted the command runs;
long work is replaced.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import click
import pytest

import axiogames.cli.commands.arena
import axiogames.cli.commands.compile
import axiogames.cli.commands.dataset
import axiogames.cli.commands.hint
import axiogames.cli.commands.review
import axiogames.cli.commands.serve
import axiogames.cli.commands.simulate
import axiogames.cli.commands.solve
import axiogames.cli.commands.train
import axiogames.cli.commands.verify
from axiogames import files, new_game
from axiogames.analysis.bench import measure
from axiogames.cli import program
from axiogames.cli.terminal.options import FileName, Integer, Real, Seed
from axiogames.errors import AxioError
from axiogames.model.record import record_of
from tests.cli.test_cli import CommandResult, run

GAME = "rota"  # default game
FILES = {"FILE", "FILE...", "DIR", "FOLDER", "OUT"}  # metavars of file names

NUMBERS = (
    "", "-1", "0", "-0", "nan", "-nan", "inf", "-inf", "1e400", "1e999999", "0x1", "1_0", "+", "--1", "1,5",
    "1.5.1", "²", "٣", "３", "1\n", " 1", "1 ", "1\0", "\udcff", "9" * 5000, "1" + "0" * 400, "-" + "9" * 400,
    str(2**63),
)  # fmt: skip
TEXTS = (
    "", " ", "\t\n", "\0", "a\0b", "\udcff", "\ud800", "²", "nan", "-1", "=", ",", ",,", "@", "@@1s",
    "x" * 5000, "9" * 5000, "é\u0301\u202e\u200b", "--", "-x", "*", "../..", "/", "/dev/full",
    "/proc/nowhere/x", "\x1b[2J",
)  # fmt: skip


def commands(group: click.Group = program, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the words of every command that is not a group."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, (*words, name))
        else:
            yield (*words, name)


def command_of(words: tuple[str, ...]) -> click.Command:
    command: click.Command = program
    for word in words:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), word)
        assert found is not None
        command = found
    return command


COMMANDS = list(commands())
each_command = pytest.mark.parametrize("words", COMMANDS, ids=" ".join)


def takes_value(parameter: click.Parameter) -> bool:
    return isinstance(parameter, click.Argument) or not getattr(parameter, "is_flag", False)


def test_the_command_tree_contains_subcommands() -> None:
    assert {("verify",), ("solve", "solo"), ("serve",)} <= set(COMMANDS)


@each_command
def test_numbers_have_bounds_and_file_names_are_checked(words: tuple[str, ...]) -> None:
    """Click's own types take digits of any script, nan, and numbers of any size."""
    for parameter in command_of(words).params:
        kind, shown = parameter.type, f"{' '.join(words)}: {parameter.name}"
        if isinstance(kind, click.types.IntRange | click.types.FloatRange):
            assert isinstance(kind, Integer | Real), f"{shown} should be an Integer or a Real"
            assert kind.min is not None, shown
            assert kind.max is not None, shown
        assert kind not in (click.INT, click.FLOAT), f"{shown} should be an Integer or a Real"
        assert not isinstance(kind, click.Path | click.File), f"{shown} should be a FileName"
        if parameter.metavar in FILES:
            assert isinstance(kind, FileName), f"{shown} should be a FileName"
        if parameter.name == "seed":
            assert isinstance(kind, Seed | Integer), f"{shown} should be a Seed"


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Values of parameters by name, with which commands have all they need and little to do."""
    folder = tmp_path_factory.mktemp("given")
    table = new_game(GAME, seed=1)
    table.play(table.legal_moves()[0])
    record = folder / "games.jsonl"
    record.write_text(record_of(table).to_json() + "\n", encoding="utf-8")
    solo = folder / "solo.jsonl"
    solo.write_text(record_of(new_game("axio", players=1, seed=1)).to_json() + "\n", encoding="utf-8")
    return {
        "file": str(record),
        "files": str(record),
        "source": str(solo),
        "position": table.view(table.turn).position,
        "folder": str(folder),
        "bots": "greedy",
        "seats": "greedy",
        "rollouts": "100",
        "width": "16",
        "data": str(folder / "data"),
    }


def call(words: tuple[str, ...], odd: click.Parameter, value: str, given: dict[str, str]) -> list[str]:
    """Return a command line in which one parameter has this value, and the others valid ones."""
    options, arguments = [], []
    for parameter in command_of(words).params:
        assert parameter.name is not None
        numeric = isinstance(parameter.type, click.types.IntRange | click.types.FloatRange)
        usual = "1" if parameter.name in ("games", "rounds") else given.get(parameter.name, GAME)
        if isinstance(parameter, click.Argument):
            if parameter is odd:
                arguments.append(value)
            elif parameter.required:
                arguments.append(usual)
        elif parameter is odd:
            options.append(f"{parameter.opts[0]}={value}")
        elif parameter.required or (parameter.name in given or parameter.name in ("games", "rounds")):
            if numeric and not usual.isdecimal():
                continue
            if parameter.name in ("rollouts", "width") and odd.name in ("seconds", "png_file"):
                continue
            options.append(f"{parameter.opts[0]}={usual}")
    return [*words, *options, "--", *arguments]


class Started(AxioError):
    """The command has accepted its parameters and starts to work."""


class Beginning:
    """Replacement for long work."""

    raises: type[BaseException] = Started

    def __call__(self, *arguments: Any, **more: Any) -> NoReturn:
        raise self.raises("the work begins")


@pytest.fixture
def idle(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Beginning:
    """Replace long work, and write files to a folder of the test."""
    begin = Beginning()
    monkeypatch.setattr(axiogames.cli.commands.serve, "serve", begin)
    monkeypatch.setattr(
        axiogames.cli.commands.serve, "check_startup", begin
    )  # which asks for the addresses of hosts
    monkeypatch.setattr(axiogames.cli.commands.serve, "free_port", lambda host: 1)
    monkeypatch.setattr(axiogames.cli.commands.train, "train", begin)
    monkeypatch.setattr(axiogames.cli.commands.compile, "map_ordered", begin)
    monkeypatch.setattr(axiogames.cli.commands.arena, "write_report", begin)
    monkeypatch.setattr(axiogames.cli.commands.review, "_review", begin)
    monkeypatch.setattr(axiogames.cli.commands.solve, "solve", begin)
    monkeypatch.setattr(axiogames.cli.commands.hint, "best_moves", begin)
    monkeypatch.setattr(measure, "run", begin)
    monkeypatch.setattr(files, "MAX_SKIPPED_BYTES", 1 << 20)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    (tmp_path / "folder").mkdir()
    return begin


def assert_one_line(ran: CommandResult, what: list[str]) -> None:
    """Assert that the command succeeded or reported its error in one line."""
    assert ran.code in (0, 1, 2), (what, ran)
    assert "Traceback" not in ran.err, (what, ran)
    if ran.code == 2:
        lines = [line for line in ran.err.split("\n") if line]
        assert len(lines) == 1, (what, ran)
        assert lines[0].startswith("axio: "), (what, ran)
        assert 10 < len(lines[0]) < 1200, (what, ran)
        assert "internal" not in lines[0], (what, ran)


@each_command
def test_odd_values(words: tuple[str, ...], given: dict[str, str], idle: Beginning) -> None:
    for parameter in filter(takes_value, command_of(words).params):
        numeric = isinstance(parameter.type, click.types.IntRange | click.types.FloatRange)
        for value in NUMBERS if numeric else (*TEXTS, "folder"):
            what = call(words, parameter, value, given)
            assert_one_line(run(*what), what)


@each_command
def test_huge_numbers_are_refused_before_any_work(
    words: tuple[str, ...], given: dict[str, str], idle: Beginning
) -> None:
    for parameter in filter(takes_value, command_of(words).params):
        if isinstance(parameter.type, click.types.IntRange | click.types.FloatRange):
            for value in ("9" * 18, "1" + "0" * 400, "nan", "inf"):
                ran = run(*call(words, parameter, value, given))
                assert ran.code == 2, ran
                assert "the work begins" not in ran.err


LONG_WORK = {"serve", "train", "compile", "arena", "review", "hint", "solve", "bench"}
LONG_WORK |= {"simulate", "verify", "dataset"}


@each_command
def test_an_interrupt_is_reported_in_one_line(
    words: tuple[str, ...],
    given: dict[str, str],
    idle: Beginning,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    idle.raises = KeyboardInterrupt
    monkeypatch.setattr(axiogames.cli.commands.simulate, "map_ordered", idle)
    monkeypatch.setattr(axiogames.cli.commands.verify, "map_ordered", idle)
    monkeypatch.setattr(axiogames.cli.commands.dataset, "warm_up_bots", idle)
    needed = given | {"folder": str(tmp_path), "out": str(tmp_path / "out")}
    source = next((one for one in command_of(words).params if one.name == "source"), None)
    ran = run(*call(words, source or click.Option(["--nothing"]), given["source"], needed))
    assert "Traceback" not in ran.err
    if words[0] in LONG_WORK:
        assert ran.code == 130, ran
    if ran.code == 130:
        assert ran.err.startswith("axio: interrupted"), ran
        assert ran.err.count("\n") == 1, ran


@pytest.mark.parametrize("host", ["\0", "a\0b", "x" * 70 + ".invalid", "\ud800"])
def test_an_invalid_host_is_refused(host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert_one_line(ran := run("serve", f"--host={host}", "--no-open"), ["serve", host])
    assert ran.code == 2
    assert "cannot listen on" in ran.err


def test_unknown_commands_and_options_are_reported_in_one_line() -> None:
    for odd in ("", " ", "\udcff", "\0", "x" * 5000, "²"):
        assert_one_line(run(odd), [odd])
        assert_one_line(run("games", f"--{odd}"), [odd])
        assert_one_line(run("games", odd), [odd])
