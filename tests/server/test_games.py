"""Routes of games, rules, bots and colours."""

from __future__ import annotations

import re

import pytest

from axiogames.games import GAMES, find_variant, game, localization
from axiogames.players import LEVELS
from axiogames.web.pages import WEB
from tests.server.driving import Client, Json, RunningServer, count_offers


@pytest.fixture
def anonymous(sqlite_server: RunningServer) -> Client:
    """Client without authentication: these routes are public."""
    return Client(sqlite_server.url)


def test_game_descriptions_match_declarations(anonymous: Client) -> None:
    summaries = anonymous.get("/api/games")
    assert [summary["id"] for summary in summaries] == list(GAMES)
    for summary in summaries:
        declared, variant = game(summary["id"]), find_variant(summary["id"])
        shown = summary["tiles"], summary["hand"], summary["cap"]
        assert shown == (declared.tiles, declared.hand, declared.cap)
        assert summary["tracks"] == list(variant.tracks)
        assert [option["name"] for option in summary["options"]] == [
            option.name for option in declared.options
        ]
        assert summary["name"] == localization(summary["id"]).name
        assert summary["most_players"] == 4
        assert summary["summary"]
        assert all(isinstance(text, str) and text for text in summary["coach"].values())


@pytest.mark.parametrize("language", ["de", "de-AT", "xx", "", "EN"])
def test_unsupported_languages_fall_back_to_english(anonymous: Client, language: str) -> None:
    summaries = anonymous.get(f"/api/games?lang={language}")
    assert [summary["id"] for summary in summaries] == list(GAMES)
    assert all(summary["name"] and summary["summary"] for summary in summaries)


@pytest.mark.parametrize("name", GAMES)
def test_figures_of_rules_pages_exist(anonymous: Client, name: str) -> None:
    page = anonymous.get(f"/api/games/{name}/rules")
    assert page["title"]
    assert "<script" not in page["html"]
    assert "<h2" in page["html"]
    figures = re.findall(r'src="(/api/games/[^"]+)"', page["html"])
    for address in figures:
        response = anonymous.request("GET", address)
        assert response.status == 200
        assert response.headers["content-type"].startswith("image/svg+xml")
        assert response.text.startswith("<svg")
        assert anonymous.request("GET", f"{address}?dark=true").text != response.text
    assert "figure:" not in page["html"]


@pytest.mark.parametrize("name", GAMES)
def test_every_game_has_an_example_picture(anonymous: Client, name: str) -> None:
    light, dark = (anonymous.request("GET", f"/api/games/{name}/picture.svg?dark={dark}") for dark in (0, 1))
    assert light.text.startswith("<svg")
    assert light.text != dark.text
    assert anonymous.request("GET", f"/api/games/{name}/picture.svg?dark=0").text == light.text


def test_bots_are_listed_weakest_first(anonymous: Client) -> None:
    bots = anonymous.get("/api/bots")
    assert [bot["level"] for bot in bots] == list(LEVELS)
    assert [bot["default"] for bot in bots].count(True) == 1


def test_every_letter_has_symbol_and_colours(anonymous: Client) -> None:
    look = anonymous.get("/api/look")
    theme = (WEB / "generated" / "theme.css").read_text(encoding="utf-8")
    letters = {letter for name in GAMES for letter in find_variant(name).colours}
    assert letters <= set(look["symbols"])
    assert len({symbol["path"] for symbol in look["symbols"].values()}) == len(look["symbols"])
    for letter in letters:
        for part in ("fill", "rim", "tint"):
            assert theme.count(f"--{letter}-{part}:") >= 2  # light and dark
    assert "--page:" in theme


@pytest.mark.parametrize("players", [1, 2, 3, 4])
@pytest.mark.parametrize("name", GAMES)
def test_first_view_is_consistent(sqlite_server: RunningServer, name: str, players: int) -> None:
    ann = sqlite_server.guest()
    view: Json = ann.view(ann.open(name, ["me"] + ["random"] * (players - 1)).id)
    now, moves, board = view["now"], view["moves"], view["board"]
    assert len(view["seats"]) == len(now["hands"]) == len(now["scores"]) == len(now["standing"]) == players
    assert all(len(row) == len(view["table"]["tracks"]) for row in now["scores"])
    columns = ("tile", "look", "place", "gain")
    assert len({len(moves[column]) for column in columns}) == 1
    assert moves["named"] is None or len(moves["named"]) == len(moves["tile"])
    assert count_offers(moves) > 0
    hand = now["hands"][0]
    for tile, look, place in zip(moves["tile"], moves["look"], moves["place"], strict=True):
        assert sorted(moves["looks"][look]) == sorted(hand[tile])
        shape, _, _, cells = moves["places"][place]
        assert len(board["shapes"][shape]["spots"]) == len(hand[tile])
        assert cells
    names = {cell[0] for cell in board["cells"]}
    assert len(names) == len(board["cells"])
    assert all(outline < len(board["outlines"]) for _, _, _, outline, _, _ in board["cells"])
    assert {cell[4] for cell in board["cells"]} <= {"plain", "outer", "printed", "star", "blocked", "free"}
    assert board["hand"] < len(board["shapes"])
    assert all(tile["shape"] < len(board["shapes"]) for tile in view["tiles"])
