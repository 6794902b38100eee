"""The documentation site builds without warnings."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.demanded import need

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_site_builds_without_warnings(tmp_path: Path) -> None:
    need("sphinx", "sphinx" if find_spec("furo") else None)
    build = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", "docs"]
    done = subprocess.run([*build, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for page in ("index", "glossary", "reference/api", "reference/cli", "reference/http_api"):
        assert (tmp_path / f"{page}.html").is_file()
    commands = (tmp_path / "reference" / "cli.html").read_text(encoding="utf-8")
    assert "axio-simulate" in commands
    assert "for any --jobs" in commands  # smart quotes would turn the hyphens into a dash
    requests = (tmp_path / "reference" / "http_api.html").read_text(encoding="utf-8")
    assert "/api/tables/{table_id}/join" in requests
