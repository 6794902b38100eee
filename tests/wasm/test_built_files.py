"""The committed files of the rules in WebAssembly: complete, up to date, and the same when built again."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from axiogames.games.runtime.compile import INTERPRETED
from tools.wasm.build import (
    INDEX,
    OUTPUT,
    Layout,
    hashed_name,
    layouts,
    module_file,
    read_sources,
    unused_files,
    used_files,
    variant_bytes,
)
from tools.wasm.variants import all_variants, variant_name

from ..demanded import skip_or_fail

REBUILD = "the rules have changed: run `make wasm` and commit the result"


@pytest.mark.skipif(INTERPRETED, reason="the sources of interpreted rules are not those of compiled ones")
@pytest.mark.parametrize("layout", layouts(), ids=lambda layout: layout.name)
def test_layout_is_up_to_date(layout: Layout) -> None:
    entry = read_sources()[layout.name]
    content = (OUTPUT / entry["file"]).read_bytes()
    assert hashed_name(layout.name, content, "wasm") == entry["file"]
    assert layout.digest == entry["sources"], REBUILD


def test_variants_are_up_to_date() -> None:
    index = json.loads((OUTPUT / INDEX).read_bytes())["variants"]
    assert sorted(index) == sorted(map(variant_name, all_variants()))
    for variant in all_variants():
        entry = index[variant_name(variant)]
        assert (OUTPUT / entry["data"]).read_bytes() == variant_bytes(variant), REBUILD
        assert OUTPUT / entry["module"] == module_file(variant)


def test_there_are_no_unused_files() -> None:
    assert not unused_files()
    assert {name for name in used_files() if not name.endswith(".br")} <= {p.name for p in OUTPUT.iterdir()}


@pytest.mark.slow
def test_build_is_reproducible(tmp_path: Path) -> None:
    if find_spec("ziglang") is None:
        skip_or_fail("ziglang", "ziglang is not installed")
    subprocess.run([sys.executable, "-m", "tools.wasm", "--all", "--out", tmp_path], check=True)
    files = [name for name in used_files() if not name.endswith(".br")]
    different = [name for name in files if (tmp_path / name).read_bytes() != (OUTPUT / name).read_bytes()]
    assert not different
    shutil.rmtree(tmp_path)


def test_digest_ignores_comments_and_sees_code() -> None:
    from tools.wasm.sources import code_text

    def plain(x: int) -> int:
        return x + 1

    def commented(x: int) -> int:
        """Return the next number."""
        # A comment.
        return x + 1

    def different(x: int) -> int:
        return x + 2

    functions: list[Any] = [plain, commented, different]
    texts = [code_text(f).split(" ", 2)[2] for f in functions]
    assert texts[0] == texts[1] != texts[2]
