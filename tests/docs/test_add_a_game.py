"""docs/tutorials/add_a_game.md: its examples and commands run, and its table lists every derived hook."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from doctest import ELLIPSIS, DocTestParser, DocTestRunner
from importlib import import_module
from io import StringIO
from pathlib import Path

import pytest

from axiogames import parallel
from axiogames.games import unregister_game
from axiogames.games.protocol import HOOKS
from axiogames.games.runtime.compile import INTERPRETED
from axiogames.games.runtime.defaults import DEFAULTS
from tests.docs.test_readme import ROOT, empty_folder, missing, run

PAGE = (ROOT / "docs" / "tutorials" / "add_a_game.md").read_text(encoding="utf-8")
PACKAGE = "examples.tiny_game"

__all__ = ["empty_folder"]  # a fixture


def blocks(language: str) -> list[str]:
    """Return the code blocks of the page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Restore the rules that the page replaces, and remove the game after the test."""
    variant = import_module(f"{PACKAGE}.variant")
    monkeypatch.setattr(variant, "RULES", variant.RULES)
    monkeypatch.setattr(parallel, "_worker_setup", [])
    yield
    unregister_game("tiny")


@pytest.mark.skipif(INTERPRETED, reason="searches take long where rules are interpreted")
def test_examples_run() -> None:
    examples = DocTestParser().get_doctest("\n".join(blocks("python")), {}, "add_a_game", None, 0)
    output = StringIO()
    failed, tried = DocTestRunner(optionflags=ELLIPSIS).run(examples, out=output.write)
    assert not failed, output.getvalue()
    assert tried > 35


def test_commands_print_the_documented_output(empty_folder: Path) -> None:
    commands = [command for block in blocks("console") for command in block.split("$ ")[1:]]
    assert len(commands) >= 5
    for command in commands:
        line, *rest = command.splitlines()
        assert line.startswith(f"axio --register {PACKAGE} ")
        typed = [text[2:] for text in rest if text.startswith("> ")]
        shown = [text for text in rest if text.strip() and not text.startswith("> ")]
        code, printed = run(shlex.split(line), "".join(f"{text}\n" for text in typed))
        assert code == 0, f"{line}\n{printed}"
        assert missing(shown, printed) is None, f"{line}\n{printed}"


@pytest.mark.parametrize(
    "by_option", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["option", "function"]
)
def test_workers_know_registered_games(by_option: bool, tmp_path: Path) -> None:
    out = tmp_path / "games.jsonl"
    simulate = ["simulate", "tiny", "--bots", "greedy,random", "--games", "6", "--jobs", "2"]
    simulate += ["--out", str(out)]
    if by_option:
        python = [sys.executable, "-m", "axiogames", "--register", PACKAGE, *simulate]
    else:  # without a main module that workers could import, as in a notebook
        register = f"from axiogames.games import register_game; register_game({PACKAGE!r})"
        program = f"{register}; from axiogames.cli import main; exit(main({simulate!r}))"
        python = [sys.executable, "-c", program]
    done = subprocess.run(python, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert len(out.read_text(encoding="utf-8").splitlines()) == 6


def test_table_lists_every_derived_hook() -> None:
    section = PAGE.partition("## 10.")[2].partition("\n## ")[0]
    listed = [
        name for row in re.findall(r"^\| (`.+?) \|", section, re.M) for name in re.findall(r"`(\w+)\(", row)
    ]
    assert listed == [name for name in HOOKS if name in DEFAULTS]
    assert f"The other {len(listed)} hooks have defaults" in section


def test_included_files_exist() -> None:
    included = re.findall(r"^```\{literalinclude\} (\S+)$", PAGE, re.M)
    assert len(included) > 10
    for file in included:
        assert (ROOT / "docs" / "tutorials" / file).is_file(), file
