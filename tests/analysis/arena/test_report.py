"""The report: one page with everything in it, plots, and figures with where they come from."""

from __future__ import annotations

import json
import re
import shlex
from html.parser import HTMLParser
from pathlib import Path

import pytest

import axiogames as axio
from axiogames.analysis.arena.report import FIGURES, PAGE
from axiogames.analysis.arena.results import FILE
from axiogames.games import GAMES
from tests.cli.test_cli import assert_refused, run

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("arena")
    bots = ("--bots", "random,greedy,balanced", "--games", "4", "--seed", "a 'seed' <b>")
    ran = run("arena", GAMES[0], *bots, "--out", str(made))
    assert ran.code == 0, ran
    assert ran.err.endswith(f"The report is {made / PAGE}\n")
    return made


def test_the_folder_holds_everything(folder: Path) -> None:
    plots = {"ratings.png", "cross.png", "running.png", "scores.png"}
    assert {path.name for path in folder.iterdir()} == {FILE, PAGE, FIGURES} | plots
    for plot in plots:
        assert (folder / plot).read_bytes().startswith(PNG)


class Tags(HTMLParser):
    """Collects what a page points to, and sees to it that what opens also closes."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "srcset")]
        if tag not in ("meta", "img", "source"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_needs_nothing_else_and_knows_day_and_night(folder: Path) -> None:
    text = (folder / PAGE).read_text(encoding="utf-8")
    page = Tags()
    page.feed(text)
    assert page.open == []
    assert len(page.links) == 8  # four plots, by day and by night
    assert all(link.startswith("data:image/svg+xml;base64,") for link in page.links)
    assert not re.search(r"https?://", re.sub(r"base64,[^\"]+", "", text))
    assert "prefers-color-scheme: dark" in text
    assert "a &#x27;seed&#x27; &lt;b&gt;" in text
    assert "<b>" not in text


def test_the_figures_say_where_they_come_from(folder: Path, tmp_path: Path) -> None:
    report = json.loads((folder / FIGURES).read_text(encoding="utf-8"))
    made = report["made"]
    assert made["version"] == axio.__version__
    assert set(made["libraries"]) == {"numpy", "numba", "joblib", "openskill", "matplotlib"}
    assert "cores" in made["machine"]
    program, *arguments = shlex.split(made["command"])
    assert program == "axio"
    again = json.loads(run(*arguments, "--json").out)
    for bot, same in zip(report["summary"]["bots"], again["bots"], strict=True):
        assert bot["elo"] == same["elo"]
        assert bot["mean_vector"] == same["mean_vector"]


def test_a_report_can_be_made_anew(folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for name in before:
        if name != FILE:
            (folder / name).unlink()
    ran = run("report", str(folder))
    assert ran.code == 0
    assert "mean place" in ran.out
    assert set(before) == {path.name for path in folder.iterdir()}
    for name, content in before.items():
        if name not in (PAGE, FIGURES):  # these say when they were made
            assert (folder / name).read_bytes() == content, name
    assert json.loads(run("report", str(folder), "--json").out) == json.loads(before[FIGURES])["summary"]


@pytest.mark.parametrize(
    ("bots", "players"), [("greedy", "2"), ("greedy,random", "1"), ("greedy,random", "4")]
)
def test_every_kind_of_arena_can_be_reported(bots: str, players: str, tmp_path: Path) -> None:
    common = ("arena", GAMES[-1], "--bots", bots, "--players", players, "--games", "2")
    assert run(*common, "--out", str(tmp_path)).code == 0
    assert (tmp_path / PAGE).exists()


def test_nothing_to_report_yet(tmp_path: Path, folder: Path) -> None:
    lines = (folder / FILE).read_bytes().splitlines(keepends=True)
    (tmp_path / FILE).write_bytes(b"".join(lines[:2]))
    assert_refused(run("report", str(tmp_path)), "nothing to report yet")
