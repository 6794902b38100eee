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
def outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], str]]:
    """Return the documented and the actual output of each command, run in an empty folder."""
    monkeypatch.chdir(tmp_path)
    commands = [command.splitlines() for block in blocks("console") for command in block.split("$ ")[1:]]
    outputs = []
    for command, *shown in commands:
        code, printed = run(shlex.split(command))
        assert code == 0, printed
        outputs.append((shown, printed))
    return outputs


def test_examples_columns_and_outputs_are_as_documented(outputs: list[tuple[list[str], str]]) -> None:
    assert len(outputs) == 2
    for shown, printed in outputs:
        assert missing(shown, printed) is None, printed
    section = DOCUMENT.partition("## Columns")[2].partition("\n## ")[0]
    columns = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", section, re.M)
    table = read("games.parquet")
    assert [name for name, _ in columns] == table.column_names
    for name, kind in columns:
        assert kind.strip() == documented_type(str(table.schema.field(name).type)), name
    session = DocTestParser().get_doctest("\n".join(blocks("python")), {}, "datasets.md", "datasets.md", 0)
    output = StringIO()
    failed = DocTestRunner(optionflags=ELLIPSIS).run(session, out=output.write).failed
    assert not failed, output.getvalue()
    assert len(session.examples) > 20


def documented_type(kind: str) -> str:
    """Return a pyarrow type as the page writes it."""
    if found := re.fullmatch(r"fixed_size_list<element: (.*) not null>\[(\d+)\]", kind):
        return f"list[{'t' if found[2] == '5' else 'n'}] of {documented_type(found[1])}"
    if found := re.fullmatch(r"list<element: (.*) not null>", kind):
        return f"list of {documented_type(found[1])}"
    return "fixed-size binary" if kind.startswith("fixed_size_binary") else kind
