"""The sources of the web page are short, self-contained, typed and translated."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest

from axiogames.games import GAMES, LANGUAGES
from axiogames.web.pages import BUNDLES, DEV_VARIABLE, WEB, render_page, script_hash
from tests.demanded import need

SCRIPTS = sorted(path for path in WEB.rglob("*.js") if path.parent != BUNDLES)
STYLES = sorted(path for path in WEB.rglob("*.css") if path.parent != BUNDLES)
PAGES = sorted((WEB / "pages").glob("*.html"))
MAX_LINES = 320
IMPORT = re.compile(r"""(?:from|import|@import)\s*["']([^"']+\.(?:js|css))["']""")
# Files that are loaded on demand.
LAZY = re.compile(r"""(?:import|new URL)\(\s*["']([^"']+\.(?:js|css))["']""")
LINK = re.compile(r"""(?:src|href)="/static/([^"?#]+)""")
INLINE_SCRIPT = re.compile(r"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", re.S)


def name(path: Path) -> str:
    """Return the test id of a file."""
    return str(path.relative_to(WEB))


def texts_of(language: str) -> dict[str, str]:
    """Return the texts of a language by key."""
    texts: dict[str, str] = json.loads((WEB / "lang" / f"{language}.json").read_text(encoding="utf-8"))
    return texts


def loaded_by(page: Path, *links: re.Pattern[str]) -> set[Path]:
    """Return the scripts and styles of a page: those it imports, and references that match `links`."""
    found: set[Path] = set()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(DEV_VARIABLE, "1")
        queue = [WEB / link for link in LINK.findall(render_page(page.stem))]
    while queue:
        path = queue.pop().resolve()
        if path.suffix in (".js", ".css") and path not in found:
            found.add(path)
            text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
            queue += [path.parent / link for pattern in (IMPORT, *links) for link in pattern.findall(text)]
    return found


def test_no_unused_files() -> None:
    used = set().union(*(loaded_by(page, LAZY) for page in PAGES))
    registered = {WEB / "sw.js", WEB / "retire-worker.js"}  # loaded by the browser as a service worker
    assert {*SCRIPTS, *STYLES} - used == registered


@pytest.mark.parametrize("path", [*SCRIPTS, *STYLES], ids=name)
def test_files_are_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_LINES


def test_scripts_are_well_typed() -> None:
    tsc = need("tsc", shutil.which("tsc"))
    done = subprocess.run([tsc, "-p", WEB / "jsconfig.json"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", SCRIPTS, ids=name)
def test_scripts_contain_no_game_name(path: Path) -> None:
    text = path.read_text(encoding="utf-8").replace('const SITE_NAME = "axio";', "")  # the name of the site
    for game in GAMES:
        assert not re.search(rf"""["'`]{game}["'`]""", text), f"{path} names {game}"


@pytest.mark.parametrize("path", SCRIPTS, ids=name)
def test_scripts_write_no_html(path: Path) -> None:
    """Names and texts become text nodes, so that no name is interpreted as markup."""
    text = path.read_text(encoding="utf-8")
    for forbidden in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "new Function",
    ):
        assert forbidden not in text, f"{path} uses {forbidden}"


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_the_only_inline_script_is_the_one_that_the_security_policy_allows(path: Path) -> None:
    text = render_page(path.stem)
    (script,) = INLINE_SCRIPT.findall(text)
    assert f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" == script_hash()
    assert "innerHTML" not in script
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=", text)
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", text), "no resources of other sites"


def test_all_pages_have_heads() -> None:
    heads = json.loads((WEB / "pages.json").read_text(encoding="utf-8"))
    assert heads.keys() == {path.stem for path in PAGES}
    assert len({head["description"] for head in heads.values()}) == len(heads)


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_pages_contain_the_main_element_only(path: Path) -> None:
    assert path.read_text(encoding="utf-8").startswith("<main ")
    assert not re.search(
        r"<(?:!doctype|html|head|body|link|meta|script)\b", path.read_text(encoding="utf-8"), re.I
    )
    assert not re.search(r"\$\w", render_page(path.stem)), "all placeholders of the layout are filled"


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_links_of_pages_exist(path: Path) -> None:
    for link in LINK.findall(render_page(path.stem)):
        assert (WEB / link).is_file(), f"{path.name} links to {link}"


def test_languages_have_the_same_texts() -> None:
    listed = re.findall(r'code: "(\w+)"', (WEB / "js/shared/languages.js").read_text(encoding="utf-8"))
    assert {*listed} == {*LANGUAGES} == {path.stem for path in (WEB / "lang").glob("*.json")}
    first = texts_of(LANGUAGES[0])
    for language in LANGUAGES[1:]:
        other = texts_of(language)
        assert other.keys() == first.keys()
        for key, text in first.items():
            placeholders = re.findall(r"\{(\w+)\}", text)
            assert sorted(placeholders) == sorted(re.findall(r"\{(\w+)\}", other[key])), f"{language}: {key}"


def test_used_texts_exist() -> None:
    keys = texts_of(LANGUAGES[0]).keys()
    keys_without_plural = {key.removesuffix(".one").removesuffix(".other") for key in keys}
    sources = {name(path): path.read_text(encoding="utf-8") for path in SCRIPTS}
    sources |= {name(path): render_page(path.stem) for path in PAGES}
    for file, text in sources.items():
        used = re.findall(r"""\bt\(\s*["']([\w.]+)["']\s*[,)]""", text)
        used += re.findall(r"""data-t(?:-\w+)?=["']([\w.]+)["']""", text)
        for key in used:
            assert key in keys_without_plural or key in keys, f"{file} uses {key}"
