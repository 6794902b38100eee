"""docs/guides/datasets.md: its commands and examples run, and its table lists the columns of a dataset."""

from __future__ import annotations

import re
import shlex
from doctest import ELLIPSIS, DocTestParser, DocTestRunner
from io import StringIO
from pathlib import Path

import pytest

from axiogames.analysis.dataset import read
from tests.docs.test_readme import ROOT, missing, run

DOCUMENT = (ROOT / "docs" / "guides" / "datasets.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", DOCUMENT, re.M | re.S)


@pytest.fixture(autouse=True)
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], str]]:
    """What the commands of the document should print, and did, in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    told = [command.splitlines() for block in blocks("console") for command in block.split("$ ")[1:]]
    ran = []
    for command, *shown in told:
        code, printed = run(shlex.split(command))
        assert code == 0, printed
        ran.append((shown, printed))
    return ran


def test_the_document_tells_the_truth(made: list[tuple[list[str], str]]) -> None:
    assert len(made) == 2
    for shown, printed in made:
        assert missing(shown, printed) is None, printed
    section = DOCUMENT.partition("## Columns")[2].partition("\n## ")[0]
    columns = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", section, re.M)
    table = read("games.parquet")
    assert [name for name, _ in columns] == table.column_names
    for name, kind in columns:
        assert kind.strip() == in_words(str(table.schema.field(name).type)), name
    session = DocTestParser().get_doctest("\n".join(blocks("python")), {}, "datasets.md", "datasets.md", 0)
    complaints = StringIO()
    failed = DocTestRunner(optionflags=ELLIPSIS).run(session, out=complaints.write).failed
    assert not failed, complaints.getvalue()
    assert len(session.examples) > 20


def in_words(kind: str) -> str:
    """A type of pyarrow as the document writes it."""
    if found := re.fullmatch(r"fixed_size_list<element: (.*) not null>\[(\d+)\]", kind):
        return f"list[{'t' if found[2] == '5' else 'n'}] of {in_words(found[1])}"
    if found := re.fullmatch(r"list<element: (.*) not null>", kind):
        return f"list of {in_words(found[1])}"
    return "fixed-size binary" if kind.startswith("fixed_size_binary") else kind
