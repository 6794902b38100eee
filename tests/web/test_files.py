"""The page's files: small, without foreign code, every word in every language."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from axiogames.games import GAMES, LANGUAGES
from axiogames.server.routes.static import WEB, render_page
from tests.demanded import need

SCRIPTS = sorted(WEB.rglob("*.js"))
STYLES = sorted(WEB.rglob("*.css"))
PAGES = sorted((WEB / "pages").glob("*.html"))
MOST_BYTES = 150_000
MOST_LINES = 320
IMPORT = re.compile(r"""(?:from|import|@import)\s*["']([^"']+\.(?:js|css))["']""")
# What is loaded when somebody asks for it, and not before.
LAZY = re.compile(r"""(?:import\(|href: )\s*["']([^"']+\.(?:js|css))["']""")
LINK = re.compile(r"""(?:src|href)="/static/([^"?#]+)""")


def name(path: Path) -> str:
    """A file, as tests are named after it."""
    return str(path.relative_to(WEB))


def words(language: str) -> dict[str, str]:
    found: dict[str, str] = json.loads((WEB / "lang" / f"{language}.json").read_text(encoding="utf-8"))
    return found


def loaded_by(page: Path, *links: re.Pattern[str]) -> set[Path]:
    """The scripts and styles that a page loads, with everything they import, or link to in other ways."""
    found: set[Path] = set()
    waiting = [WEB / link for link in LINK.findall(render_page(page.stem))]
    while waiting:
        path = waiting.pop().resolve()
        if path.suffix in (".js", ".css") and path not in found:
            found.add(path)
            for link in (link for pattern in (IMPORT, *links) for link in pattern.findall(code(path))):
                absolute = link.startswith("/static/")
                waiting.append(WEB / link.removeprefix("/static/") if absolute else path.parent / link)
    return found


def code(path: Path) -> str:
    """A file without its comments, as a bundle would have it."""
    return re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_what_a_page_loads_of_script_and_style_is_small(page: Path) -> None:
    loaded = loaded_by(page)
    assert loaded, "no page is without style"
    assert sum(len(code(path).encode()) for path in loaded) < MOST_BYTES
    assert sum(len(gzip.compress(path.read_bytes())) for path in loaded) < MOST_BYTES / 2, "as it travels"


def test_nothing_lies_around_unused() -> None:
    used = set().union(*(loaded_by(page, LAZY) for page in PAGES))
    elsewhere = {WEB / "sw.js"}
    assert {*SCRIPTS, *STYLES} - used == elsewhere


@pytest.mark.parametrize("path", [*SCRIPTS, *STYLES], ids=name)
def test_files_fit_one_topic(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


def test_types_hold() -> None:
    tsc = need("tsc", shutil.which("tsc"))
    done = subprocess.run([tsc, "-p", WEB / "jsconfig.json"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", SCRIPTS, ids=name)
def test_scripts_know_no_game(path: Path) -> None:
    text = path.read_text(encoding="utf-8").replace('const SITE_NAME = "axio";', "")  # the page has a name, too
    for game in GAMES:
        assert not re.search(rf"""["'`]{game}["'`]""", text), f"{path} names {game}"


@pytest.mark.parametrize("path", SCRIPTS, ids=name)
def test_scripts_write_no_html(path: Path) -> None:
    """Names and texts become text nodes, so that nobody's name is ever markup."""
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
def test_pages_hold_no_script_or_style_of_their_own(path: Path) -> None:
    text = render_page(path.stem)
    assert not re.search(r"<script(?![^>]*\bsrc=)", text)
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=", text)
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", text), "nothing comes from elsewhere"


def test_every_page_has_a_head_of_its_own() -> None:
    heads = json.loads((WEB / "pages.json").read_text(encoding="utf-8"))
    assert heads.keys() == {path.stem for path in PAGES}
    assert len({head["description"] for head in heads.values()}) == len(heads)


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_pages_leave_the_head_to_the_layout(path: Path) -> None:
    assert path.read_text(encoding="utf-8").startswith("<main ")
    assert not re.search(
        r"<(?:!doctype|html|head|body|link|meta|script)\b", path.read_text(encoding="utf-8"), re.I
    )
    assert not re.search(r"\$\w", render_page(path.stem)), "every placeholder of the layout is filled"


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_pages_link_to_files_that_exist(path: Path) -> None:
    for link in LINK.findall(render_page(path.stem)):
        assert (WEB / link).is_file(), f"{path.name} links to {link}"


def test_every_language_has_every_word() -> None:
    listed = json.loads((WEB / "lang" / "index.json").read_text(encoding="utf-8"))
    assert (
        {one["code"] for one in listed}
        == {*LANGUAGES}
        == {path.stem for path in (WEB / "lang").glob("*.json")} - {"index"}
    )
    first = words(LANGUAGES[0])
    for language in LANGUAGES[1:]:
        other = words(language)
        assert other.keys() == first.keys()
        for key, text in first.items():
            fields = re.findall(r"\{(\w+)\}", text)
            assert sorted(fields) == sorted(re.findall(r"\{(\w+)\}", other[key])), f"{language}: {key}"


def test_every_word_that_is_used_is_there() -> None:
    known = words(LANGUAGES[0]).keys()
    plain = {key.removesuffix(".one").removesuffix(".other") for key in known}
    texts = {name(path): path.read_text(encoding="utf-8") for path in SCRIPTS}
    texts |= {name(path): render_page(path.stem) for path in PAGES}
    for file, text in texts.items():
        used = re.findall(r"""\bt\(\s*["']([\w.]+)["']\s*[,)]""", text)
        used += re.findall(r"""data-t(?:-\w+)?=["']([\w.]+)["']""", text)
        for key in used:
            assert key in plain or key in known, f"{file} uses {key}"
