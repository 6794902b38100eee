"""The README tells the truth: its examples run, its commands print what it shows, its pictures are as made.

`python -m tests.docs.test_readme` makes the pictures anew; look at them before you commit them.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from doctest import ELLIPSIS, DocTestParser, DocTestRunner
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from axiogames.cli import main
from axiogames.cli.terminal import session as session_module
from axiogames.players.interface import UNLIMITED

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PICTURES = Path("docs/pictures")


@dataclass
class Command:
    """A command of a block, what is typed into it, and the lines it should print (`...` leaves some out)."""

    line: int
    words: list[str]
    typed: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)


def only(language: str) -> list[str]:
    """The lines of the README, empty but for the blocks in this language."""
    lines, inside = [], False
    for line in README.splitlines():
        if line.startswith("```"):
            inside = line == f"```{language}"
            line = ""
        lines.append(line if inside else "")
    return lines


def commands() -> Iterator[Command]:
    """The commands of all console blocks."""
    command: Command | None = None
    for number, line in enumerate(only("console"), 1):
        if line.startswith("$ "):
            if command:
                yield command
            command = Command(number, shlex.split(line[2:]))
        elif command and line.startswith("> "):
            command.typed.append(line[2:])
        elif command and line.strip():
            command.shown.append(line)
    if command:
        yield command


def run(words: list[str], typed: str = "") -> tuple[int, str]:
    """The exit code of a command and everything it printed."""
    assert words[0] == "axio", f"{words}: only our own program is run"
    written, before = BytesIO(), sys.stdin
    screen = TextIOWrapper(written, "utf-8", write_through=True)
    sys.stdin = StringIO(typed)
    try:
        with redirect_stdout(screen), redirect_stderr(screen):
            code = main(words[1:])
    finally:
        sys.stdin = before
    return code, written.getvalue().decode()


def missing(shown: list[str], printed: str) -> str | None:
    """The first line of `shown` that was not printed after the ones before it."""
    # What is typed is not echoed here, so an answer stands behind the prompt.
    lines = iter([re.sub(r"^(> )+", "", line).rstrip() for line in printed.splitlines()])
    for line in shown:
        wanted = re.compile(
            ".+".join(map(re.escape, line.rstrip().split("…")))
        )  # … leaves out part of a line
        if line != "..." and not any(wanted.fullmatch(found) for found in lines):
            return line
    return None


def make_pictures(folder: Path) -> None:
    """Carry out the commands of the README's comment in a folder."""
    (folder / PICTURES).mkdir(parents=True)
    with chdir(folder):
        for line in re.findall(r"^axio .+$", README.partition("<!--")[2].partition("-->")[0], re.M):
            code, printed = run(shlex.split(line))
            assert code == 0, printed


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, and nobody's saved game."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(
        session_module, "HINT_SECONDS", UNLIMITED
    )  # all rollouts of a hint, however slow the machine
    return tmp_path


def test_the_python_examples_run(elsewhere: Path) -> None:
    # The blocks are one session, and blank lines between them keep the line numbers true.
    session = DocTestParser().get_doctest("\n".join(only("python")) + "\n", {}, "README.md", "README.md", 0)
    assert len(session.examples) > 30
    complaints = StringIO()
    failed = DocTestRunner(optionflags=ELLIPSIS).run(session, out=complaints.write).failed
    assert not failed, complaints.getvalue()


def test_the_commands_print_what_is_shown(elsewhere: Path) -> None:
    told = list(commands())
    assert len(told) > 5
    for command in told:
        code, printed = run(command.words, "".join(f"{line}\n" for line in command.typed))
        where = f"README.md, line {command.line}: {shlex.join(command.words)}"
        assert code == 0, f"{where}\n{printed}"
        line = missing(command.shown, printed)
        assert line is None, f"{where} does not print {line!r} there:\n{printed}"


def test_the_pictures_are_as_made(tmp_path: Path) -> None:
    make_pictures(tmp_path)
    made = sorted(path.name for path in (tmp_path / PICTURES).iterdir())
    assert made == sorted(path.name for path in (ROOT / PICTURES).glob("*.svg"))
    for name in made:
        same = (tmp_path / PICTURES / name).read_bytes() == (ROOT / PICTURES / name).read_bytes()
        assert same, f"{PICTURES / name} is out of date: python -m tests.docs.test_readme makes it anew"


DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]


@pytest.mark.parametrize("document", sorted(str(path.relative_to(ROOT)) for path in DOCUMENTS))
def test_links_lead_somewhere(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)\s]*)?\)", prose):
        assert (ROOT / document).parent.joinpath(link).exists(), f"{document} points to {link}"


if __name__ == "__main__":
    with TemporaryDirectory() as temporary:
        make_pictures(Path(temporary))
        for picture in sorted(Path(temporary, PICTURES).iterdir()):
            target = ROOT / PICTURES / picture.name
            target.write_bytes(picture.read_bytes())
            print(target)
