"""ARCHITECTURE.md lists the files that a click and a bot's move run through; the lists are true."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HEADINGS = {"click": "### The files of a click", "bot_move": "### The files of a bot's move"}


def documented(walk: str) -> list[str]:
    """Return the files that ARCHITECTURE.md lists under the heading of a walk."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    _, found, section = text.partition(f"\n{HEADINGS[walk]}\n")
    assert found, f"ARCHITECTURE.md has no section {HEADINGS[walk]!r}"
    return re.findall(r"`([a-z_/]+\.py)`", re.split(r"\n#+ ", section)[0])


@pytest.mark.parametrize("walk", HEADINGS)
def test_documented_files_are_those_that_run(walk: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.walks", walk],
        cwd=ROOT,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert sorted(documented(walk)) == sorted(json.loads(done.stdout))
