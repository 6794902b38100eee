"""The report: a self-contained page, plots, and figures with their provenance."""

from __future__ import annotations

import json
import re
import shlex
from html.parser import HTMLParser
from pathlib import Path

import pytest

import axiogames as axio
from axiogames.analysis.arena.page import REPORT_FILE, SUMMARY_FILE
from axiogames.analysis.arena.results import RESULTS_FILE
from axiogames.games import GAMES
from tests.cli.test_cli import assert_refused, run

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished arena."""
    path = tmp_path_factory.mktemp("arena")
    bots = ("--bots", "random,greedy,balanced", "--games", "4", "--seed", "a 'seed' <b>")
    ran = run("arena", "run", GAMES[0], *bots, "--out", str(path))
    assert ran.code == 0, ran
    assert ran.err.endswith(f"The report is {path / REPORT_FILE}\n")
    return path


def test_folder_contains_all_files(folder: Path) -> None:
    plots = {"ratings.png", "cross.png", "running.png", "scores.png"}
    assert {path.name for path in folder.iterdir()} == {RESULTS_FILE, REPORT_FILE, SUMMARY_FILE} | plots
    for plot in plots:
        assert (folder / plot).read_bytes().startswith(PNG)


class Tags(HTMLParser):
    """Collects the links of a page and checks that all elements are closed."""

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


def test_page_is_self_contained_and_has_a_dark_scheme(folder: Path) -> None:
    text = (folder / REPORT_FILE).read_text(encoding="utf-8")
    page = Tags()
    page.feed(text)
    assert page.open == []
    assert len(page.links) == 8  # four plots in two colour schemes
    assert all(link.startswith("data:image/svg+xml;base64,") for link in page.links)
    assert not re.search(r"https?://", re.sub(r"base64,[^\"]+", "", text))
    assert "prefers-color-scheme: dark" in text
    assert "a &#x27;seed&#x27; &lt;b&gt;" in text
    assert "<b>" not in text


def test_command_of_the_provenance_reproduces_the_figures(folder: Path, tmp_path: Path) -> None:
    report = json.loads((folder / SUMMARY_FILE).read_text(encoding="utf-8"))
    provenance = report["made"]
    assert provenance["version"] == axio.__version__
    assert set(provenance["libraries"]) == {"numpy", "numba", "openskill", "matplotlib"}
    assert "cores" in provenance["machine"]
    program, *arguments = shlex.split(provenance["command"])
    assert program == "axio"
    again = json.loads(run(*arguments, "--json").out)
    for bot, same in zip(report["summary"]["bots"], again["bots"], strict=True):
        assert bot["elo"] == same["elo"]
        assert bot["mean_vector"] == same["mean_vector"]


def test_report_is_reproduced_from_the_games(folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for name in before:
        if name != RESULTS_FILE:
            (folder / name).unlink()
    ran = run("arena", "report", str(folder))
    assert ran.code == 0
    assert "mean place" in ran.out
    assert set(before) == {path.name for path in folder.iterdir()}
    for name, content in before.items():
        if name not in (REPORT_FILE, SUMMARY_FILE):  # these contain the time
            assert (folder / name).read_bytes() == content, name
    assert (
        json.loads(run("arena", "report", str(folder), "--json").out)
        == json.loads(before[SUMMARY_FILE])["summary"]
    )


@pytest.mark.parametrize(
    ("bots", "players"), [("greedy", "2"), ("greedy,random", "1"), ("greedy,random", "4")]
)
def test_reports_for_any_number_of_bots_and_players(bots: str, players: str, tmp_path: Path) -> None:
    common = ("arena", "run", GAMES[-1], "--bots", bots, "--players", players, "--games", "2")
    assert run(*common, "--out", str(tmp_path)).code == 0
    assert (tmp_path / REPORT_FILE).exists()


def test_report_needs_a_complete_round(tmp_path: Path, folder: Path) -> None:
    lines = (folder / RESULTS_FILE).read_bytes().splitlines(keepends=True)
    (tmp_path / RESULTS_FILE).write_bytes(b"".join(lines[:2]))
    assert_refused(run("arena", "report", str(tmp_path)), "nothing to report yet")
