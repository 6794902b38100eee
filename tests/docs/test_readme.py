"""README.md: its examples run, its commands print the documented output, and its pictures are up to date.

`python -m tests.docs.test_readme` rewrites the pictures; look at them before you commit.
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
    """A command of a block, its input, and the expected lines of output; `...` stands for any lines."""

    line: int
    words: list[str]
    typed: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)


def blank_except(language: str) -> list[str]:
    """Return the lines of the README, with an empty text for each line outside the blocks in a language."""
    lines, inside = [], False
    for line in README.splitlines():
        if line.startswith("```"):
            inside = line == f"```{language}"
            line = ""
        lines.append(line if inside else "")
    return lines


def commands() -> Iterator[Command]:
    """Yield the commands of all console blocks."""
    command: Command | None = None
    for number, line in enumerate(blank_except("console"), 1):
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
    """Return the exit code of a command and its output, standard error included."""
    assert words[0] == "axio", f"{words}: only `axio` can be run"
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
    """Return the first line of `shown` that `printed` does not contain after the lines before it."""
    # Input is not echoed here, so a response follows the prompt on the same line.
    lines = iter([re.sub(r"^(> )+", "", line).rstrip() for line in printed.splitlines()])
    for line in shown:
        # `…` stands for any part of a line.
        pattern = re.compile(".+".join(map(re.escape, line.rstrip().split("…"))))
        if line != "..." and not any(pattern.fullmatch(candidate) for candidate in lines):
            return line
    return None


def make_pictures(folder: Path) -> None:
    """Run the commands of the README's comment in a folder."""
    (folder / PICTURES).mkdir(parents=True)
    with chdir(folder):
        for line in re.findall(r"^axio .+$", README.partition("<!--")[2].partition("-->")[0], re.M):
            code, printed = run(shlex.split(line))
            assert code == 0, printed


@pytest.fixture
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, without a saved game."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "80")
    # A hint then runs all its rollouts on a slow machine, too.
    monkeypatch.setattr(session_module, "HINT_SECONDS", UNLIMITED)
    return tmp_path


def test_readme_has_at_most_150_lines() -> None:
    assert len(README.splitlines()) <= 150


def test_python_examples_run(empty_folder: Path) -> None:
    # The blocks are one session. Blank lines between them preserve the line numbers.
    session = DocTestParser().get_doctest(
        "\n".join(blank_except("python")) + "\n", {}, "README.md", "README.md", 0
    )
    assert len(session.examples) >= 10
    output = StringIO()
    failed = DocTestRunner(optionflags=ELLIPSIS).run(session, out=output.write).failed
    assert not failed, output.getvalue()


def test_commands_print_the_documented_output(empty_folder: Path) -> None:
    documented = list(commands())
    assert len(documented) >= 5
    for command in documented:
        code, printed = run(command.words, "".join(f"{line}\n" for line in command.typed))
        where = f"README.md, line {command.line}: {shlex.join(command.words)}"
        assert code == 0, f"{where}\n{printed}"
        line = missing(command.shown, printed)
        assert line is None, f"{where} does not print {line!r} there:\n{printed}"


def test_pictures_are_up_to_date(tmp_path: Path) -> None:
    make_pictures(tmp_path)
    names = sorted(path.name for path in (tmp_path / PICTURES).iterdir())
    assert names == sorted(path.name for path in (ROOT / PICTURES).glob("*.svg"))
    for name in names:
        same = (tmp_path / PICTURES / name).read_bytes() == (ROOT / PICTURES / name).read_bytes()
        assert same, f"{PICTURES / name} is out of date: python -m tests.docs.test_readme rewrites it"


DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]


@pytest.mark.parametrize("document", sorted(str(path.relative_to(ROOT)) for path in DOCUMENTS))
def test_links_have_a_target(document: str) -> None:
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
