"""The bundles match their sources, and the first visit loads little."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from axiogames.web.pages import BUNDLES, MANIFEST, WEB, manifest
from tests.demanded import need
from tools.page.generate import FOLDER, generated_files

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools" / "page"
REBUILD = "the bundles are not built from these sources: run `make bundles` and commit web/bundles"
MAX_SCRIPT_AND_STYLES = {"table": 40_000}  # with brotli; other pages:
MAX_OTHERS = 15_000


def digest(path: Path) -> str:
    """Return the digest of a file as in sources.json."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def recorded() -> Any:
    """Return the digests that were recorded when the bundles were built."""
    return json.loads((BUNDLES / "sources.json").read_text(encoding="utf-8"))


def transferred(name: str) -> int:
    """Return the size of a bundle as it is transferred with brotli."""
    path = BUNDLES / name
    compressed = path.with_name(f"{name}.br")
    return (compressed if compressed.exists() else path).stat().st_size


def test_bundles_are_built_from_these_sources() -> None:
    sources = recorded()["sources"]
    assert {path: digest(ROOT / path) for path in sources if (ROOT / path).exists()} == sources, REBUILD
    scripts = [path for folder in ("css", "js", "lang") for path in (WEB / folder).rglob("*.[cj]s*")]
    assert {path.relative_to(ROOT).as_posix() for path in scripts} <= sources.keys(), REBUILD


def test_bundles_are_those_that_were_built() -> None:
    found = {path.name: digest(path) for path in BUNDLES.iterdir() if path.name != "sources.json"}
    assert found == recorded()["built"], REBUILD
    files = {*manifest().files.values()}
    assert {name for name in found if not name.endswith(".br")} == {*files, MANIFEST.name, "sw.js"}


def test_generated_sources_follow_from_the_code() -> None:
    found = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()}
    expected = generated_files()
    assert found.keys() == expected.keys()
    for name, text in expected.items():
        assert found[name] == text, f"{name}: run `make bundles`"


def test_rebuilt_bundles_are_byte_equal(tmp_path: Path) -> None:
    node = need("esbuild", shutil.which("node"))
    need("esbuild", shutil.which("esbuild", path=str(TOOL / "node_modules" / ".bin")))
    done = subprocess.run(
        [node, TOOL / "build.mjs", tmp_path / "bundles"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    rebuilt = {path.name: path for path in (tmp_path / "bundles").iterdir()}
    assert {*rebuilt} == {path.name for path in BUNDLES.iterdir()}, REBUILD
    for name, path in rebuilt.items():
        # Versions of Node may compress differently.
        if not name.endswith(".br") and name != "sources.json":
            assert path.read_bytes() == (BUNDLES / name).read_bytes(), f"{name}: {REBUILD}"


def test_compressed_bundles_have_the_content_of_the_bundles() -> None:
    node = need("esbuild", shutil.which("node"))
    script = """
        const { readFileSync } = require("node:fs");
        const { brotliDecompressSync } = require("node:zlib");
        for (const path of process.argv.slice(1)) {
          const same = brotliDecompressSync(readFileSync(path)).equals(readFileSync(path.slice(0, -3)));
          if (!same) throw new Error(path);
        }
    """
    paths = sorted(BUNDLES.glob("*.br"))
    assert len(paths) > 20
    done = subprocess.run([node, "-e", script, *paths], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_the_lock_file_pins_every_package_and_names_no_registry() -> None:
    lock = json.loads((TOOL / "package-lock.json").read_text(encoding="utf-8"))
    packages = {path: package for path, package in lock["packages"].items() if path}
    assert packages
    for path, package in packages.items():
        assert package["integrity"].startswith("sha512-"), path
        assert "resolved" not in package, path
    asked = json.loads((TOOL / "package.json").read_text(encoding="utf-8"))["devDependencies"]
    assert all(re.fullmatch(r"[\d.]+", version) for version in asked.values()), "exact versions"


@pytest.mark.parametrize("page", manifest().pages)
def test_script_and_styles_of_a_page_are_small(page: str) -> None:
    bundles = manifest().pages[page]
    loaded = transferred(bundles.script) + transferred(bundles.styles)
    assert loaded < MAX_SCRIPT_AND_STYLES.get(page, MAX_OTHERS)


def test_names_of_bundles_change_with_their_content() -> None:
    for name, hashed in manifest().files.items():
        suffix = Path(name).suffix
        assert re.fullmatch(rf"[\w-]+\.[0-9A-Z]{{8}}{re.escape(suffix)}", hashed), name


def test_bundles_refer_to_files_relative_to_themselves() -> None:
    """So that they work below any path."""
    for name in manifest().files.values():
        text = (BUNDLES / name).read_text(encoding="utf-8")
        assert "/static/" not in text, name
        for address in re.findall(r"new URL\(\"([^\"]+)\",import\.meta\.url\)", text):
            assert (BUNDLES / address).exists(), f"{name} refers to {address}"
