"""Every page of the documentation: examples run and print the documented output, and no page is omitted.

Pages with more to check have a test module of their own.
"""

from __future__ import annotations

import re
import shlex
from doctest import ELLIPSIS, DocTestParser, DocTestRunner
from io import StringIO
from pathlib import Path

import click
import pytest

import axiogames
from axiogames.cli import program
from tests.docs.test_readme import ROOT, empty_folder, missing, run

DOCS = ROOT / "docs"
OWN_TESTS = {
    "tutorials/add_a_game",
    "explanation/players",  # figures, no examples
    "guides/arena",
    "guides/datasets",
    "guides/environments",
    "reference/engine_protocol",
    "reference/observations",
}
PAGES = {
    str(path.relative_to(DOCS).with_suffix("")): path.read_text(encoding="utf-8")
    for path in sorted(DOCS.rglob("*.md"))
}

__all__ = ["empty_folder"]  # a fixture


def blocks(page: str, language: str) -> list[str]:
    """Return the code blocks of a page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGES[page], re.M | re.S)


def pages_with(language: str, mark: str) -> list[str]:
    """Return the pages without a test module of their own that contain `mark` in a block in `language`."""
    return [
        page
        for page in PAGES
        if page not in OWN_TESTS and any(mark in block for block in blocks(page, language))
    ]


@pytest.mark.parametrize("page", pages_with("python", ">>> "))
def test_python_examples_run(page: str, empty_folder: Path) -> None:
    text = "\n".join(blocks(page, "python"))
    examples = DocTestParser().get_doctest(text, {}, page, f"docs/{page}.md", 0)
    output = StringIO()
    failed = DocTestRunner(optionflags=ELLIPSIS).run(examples, out=output.write).failed
    assert not failed, output.getvalue()


@pytest.mark.parametrize("page", pages_with("console", "$ axio"))
def test_commands_print_the_documented_output(page: str, empty_folder: Path) -> None:
    for block in blocks(page, "console"):
        for command in block.split("$ ")[1:]:
            line, *rest = command.splitlines()
            typed = [text[2:] for text in rest if text.startswith("> ")]
            shown = [text for text in rest if text.strip() and not text.startswith("> ")]
            code, printed = run(shlex.split(line), "".join(f"{text}\n" for text in typed))
            assert code == 0, f"{line}\n{printed}"
            assert missing(shown, printed) is None, f"{line}\n{printed}"


def test_pages_with_examples_are_tested_somewhere() -> None:
    modules = "".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "docs").glob("test_*.py")
    )
    for page in OWN_TESTS - {"explanation/players"}:
        section, _, name = page.partition("/")
        assert f'"{section}" / "{name}.md"' in modules or f"docs/{page}.md" in modules, page


def test_every_page_is_in_the_table_of_contents() -> None:
    listed = {
        line.strip()
        for toc in re.findall(r"```{toctree}\n(.*?)```", PAGES["index"], re.S)
        for line in toc.split()
    }
    assert {page for page in PAGES if page != "index"} <= listed


def test_reference_has_every_public_name() -> None:
    directives = re.findall(r"^\.\. (?:auto)?\w+:: ([\w.]+)$", PAGES["reference/api"], re.M)
    named = {name.rpartition(".")[2] for name in directives}
    assert set(axiogames.__all__) - {"__version__"} <= named


def test_commands_are_documented_under_their_names() -> None:
    context = click.Context(program)
    for name in program.list_commands(context):
        command = program.get_command(context, name)
        assert command is not None
        assert command.name == name


def test_glossary_is_sorted() -> None:
    terms = re.findall(r"^(\w[\w -]*)\n    \S", PAGES["glossary"], re.M)
    assert {"commitment", "pyramid", "refusal", "shortlist", "table", "track", "view"} <= set(terms)
    assert terms == sorted(terms)
