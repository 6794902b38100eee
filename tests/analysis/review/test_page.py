"""The review page: complete and self-contained for every game and number of players."""

from __future__ import annotations

import re

import pytest

from axiogames.analysis.html import Markup, tag
from axiogames.analysis.review.page import render_page
from axiogames.analysis.review.page_figures import render_graph
from axiogames.analysis.review.remarks import Wording
from axiogames.analysis.review.review import decisions
from axiogames.games import GAMES, LANGUAGES
from axiogames.model.record import Record, replay
from tests.analysis.review.games import half_of_all, reviewed, short_game, whole_game


def rendered_page(record: Record, language: str = "en") -> str:
    found = reviewed(record.to_json())
    wording = Wording(language, found.scale, record.players)
    return render_page(found, replay(record), list(decisions(record)), wording)


@pytest.mark.parametrize(("name", "players"), half_of_all(range(1, 5)))
def test_page_is_self_contained(name: str, players: int) -> None:
    html = rendered_page(short_game(name, players, moves=3))
    assert "http" not in html.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"\{\w+\}", html.split("<style>")[0])
    assert html.count("<article") == 3
    assert html.count('class="line"') == 2 * players  # in the graph and in its legend


def test_names_are_escaped() -> None:
    record = short_game(GAMES[0])
    record = Record.parse(record.to_json().replace("Ada", "<b>Ada</b>"))
    html = rendered_page(record)
    assert "<b>Ada" not in html
    assert "&lt;b&gt;Ada" in html


@pytest.mark.parametrize("language", LANGUAGES)
def test_graph_has_a_strip_for_every_move(language: str) -> None:
    found = reviewed(whole_game(GAMES[2], 3).to_json())
    svg = render_graph(found, Wording(language, found.scale))
    assert svg.count('class="strip"') == len(found.moves)
    assert 'role="img" aria-label="' in svg


def test_markup_escapes_text_and_keeps_markup() -> None:
    assert tag("p", "<", Markup("<b>"), data_x='"') == '<p data-x="&quot;">&lt;<b></p>'


def test_page_of_a_game_without_moves() -> None:
    html = rendered_page(short_game(GAMES[0], moves=0))
    assert "<script" not in html
