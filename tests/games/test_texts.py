"""Texts, rules pages and figures of games: complete in every language, with figures that match the rules."""

from __future__ import annotations

import re
import sys
from collections import Counter
from functools import partial
from xml.etree import ElementTree

import pexpect
import pytest

from axiogames.drawing import svg
from axiogames.errors import IllegalMove, Reason, UnknownFigure, UnknownGame
from axiogames.games import GAMES, LANGUAGES, figure, figures, find_variant, game, localization, rules_page
from axiogames.games.illustrations import Figure, load_figures
from axiogames.games.texts import SITUATIONS
from axiogames.model.position import Position
from axiogames.model.table import Table
from axiogames.moves import Move
from tests.cli.test_cli import ENVIRONMENT, assert_refused, run
from tests.games import positions_dominoes, positions_trio
from tests.games.numbers import previewed
from tests.games.playing import table_at
from tests.test_architecture import RULES

NUMBERS = re.compile(r"\((\d+(?:[,–\- ]+\d+)*)\)(?:\s+\[(\w+)\])?")
IMAGE = re.compile(r"^!\[([^\]]+)\]\(figure:(\w+)\)$", re.MULTILINE)
MARKS = {
    "en": {"ruling": "ruling", "reconstruction": "reconstruction"},
    "de": {"Festlegung": "ruling", "Rekonstruktion": "reconstruction"},
}
# Situations that a game does not have.
MISSING = {
    "axio": {"naming"},
    "hex": {"naming", "pyramid"},
    "rota": {"pick", "pyramid", "exchange"},
    "trio": {"naming", "pyramid", "lowest"},
}
# Reasons that a figure illustrates with a cross; any other reason is an error in its data.
REFUSALS = (Reason.FIRST_TILE, Reason.NOT_BESIDE_DISPLAY, Reason.COLOURS_DO_NOT_MATCH)

in_all_languages = pytest.mark.parametrize("language", LANGUAGES)
of_all_games = pytest.mark.parametrize("name", GAMES)
of_all_figures = pytest.mark.parametrize(
    ("name", "shown"), [(name, shown) for name in GAMES for shown in figures(name)]
)


# ---------------------------------------------------------------- texts


@in_all_languages
@of_all_games
def test_texts_are_complete(name: str, language: str) -> None:
    texts, facts = localization(name, language), game(name)
    assert texts.name.strip()
    assert texts.summary.endswith(".")
    assert set(texts.options) == {option.name for option in facts.options}
    assert len(texts.reconstructed) == len(facts.reconstructed)
    assert set(texts.coach) == set(SITUATIONS) - MISSING[name]
    for text in (*texts.options.values(), *texts.reconstructed):
        assert text.strip()
        assert not text.endswith(".")
    for situation, text in texts.coach.items():
        assert 20 < len(text) < 220, situation
        assert text.endswith("."), situation
        # One or two sentences.
        assert 1 <= len(re.findall(r"[.?!](?: |$)", text)) <= 2, situation


@of_all_games
def test_english_texts_are_the_declared_ones(name: str) -> None:
    texts, facts = localization(name), game(name)
    assert (texts.name, texts.summary, texts.reconstructed) == (
        facts.name,
        facts.summary,
        facts.reconstructed,
    )
    assert texts.options == {option.name: option.summary for option in facts.options}


@of_all_games
def test_german_texts_are_translated(name: str) -> None:
    english, german = localization(name, "en"), localization(name, "de")
    assert english.summary != german.summary
    assert not set(english.coach.values()) & set(german.coach.values())
    assert not set(english.reconstructed) & set(german.reconstructed)


@of_all_games
def test_unsupported_languages_fall_back_to_english(name: str) -> None:
    for language in ("fr", "", "xx-YY", "../en"):
        assert localization(name, language) == localization(name, "en")
        assert rules_page(name, language) == rules_page(name)
    for language in ("de-AT", "DE"):
        assert localization(name, language) == localization(name, "de")
        assert rules_page(name, language) == rules_page(name, "de")


def test_errors_for_unknown_names_list_the_known_ones() -> None:
    for function in (localization, rules_page, figures, partial(figure, figure_id="end")):
        with pytest.raises(UnknownGame, match="choose one of axio, hex"):
            function("chess")
    with pytest.raises(UnknownFigure, match="trio has no figure 'end': choose one of board, choice"):
        figure("trio", "end")


# ---------------------------------------------------------------- rules pages


def numbered(page: str, language: str) -> list[tuple[str, str]]:
    """Return the rule numbers on a page in order, each with its mark."""
    return [(numbers, MARKS[language].get(mark, "")) for numbers, mark in NUMBERS.findall(page)]


@in_all_languages
@of_all_games
def test_rules_page_has_every_numbered_rule(name: str, language: str) -> None:
    page = rules_page(name, language)
    found = {int(n) for numbers, _ in numbered(page, language) for n in re.findall(r"\d+", numbers)}
    assert set(range(1, RULES[name] + 1)) <= found
    assert all(f"[{mark}]" in page for mark in MARKS[language])
    assert {"en": "unofficial", "de": "inoffiziell"}[language] in page.lower()


@of_all_games
def test_rules_pages_have_the_same_structure_in_all_languages(name: str) -> None:
    english, german = rules_page(name, "en"), rules_page(name, "de")
    assert numbered(german, "de") == numbered(english, "en")
    for element in (r"^#+ ", r"^(?:- |\d+\. )", r"\]\(figure:\w+\)"):
        assert re.findall(element, german, re.MULTILINE) == re.findall(element, english, re.MULTILINE)

    def spans(page: str) -> list[str]:
        return [span for span in re.findall(r"`([^`]+)`", page) if not span.startswith("[")]

    assert spans(german) == spans(english)


@in_all_languages
@of_all_games
def test_rules_page_has_every_figure_once(name: str, language: str) -> None:
    page = rules_page(name, language)
    assert sorted(shown for _, shown in IMAGE.findall(page)) == sorted(figures(name))
    assert page.count("figure:") == len(figures(name))
    assert 3 <= len(figures(name)) <= 5


@in_all_languages
@of_all_games
def test_captions_match_their_figures(name: str, language: str) -> None:
    for text, shown in IMAGE.findall(rules_page(name, language)):
        about = load_figures(game(name))[shown]
        points = {*about.gain.values(), *about.points.values()}
        assert {int(n) for n in re.findall(r"(\d+) (?:points?|Punkte?)\b", text)} <= points
        if about.place:
            tile, *_ = Move.parse(about.place).tile.split("_")
            assert tile in text or not about.gain
        for cell in Move.parse(about.place).at if about.place else ():
            assert re.search(rf"\b{cell}\b", text), f"the caption of {shown} lacks {cell}"


# ---------------------------------------------------------------- the command


@of_all_games
def test_rules_command_takes_a_language(name: str) -> None:
    assert run("rules", name, "--lang", "de").out == rules_page(name, "de")
    assert run("rules", name, "--lang", "en").out == rules_page(name)
    assert_refused(run("rules", name, "--lang", "xx"), "--lang", "'en', 'de'")


@in_all_languages
def test_rules_command_prints_captions_of_figures(language: str) -> None:
    name = GAMES[0]
    child = pexpect.spawn(
        sys.executable,
        ["-m", "axiogames", "rules", name, "--lang", language],
        env={**ENVIRONMENT, "TERM": "xterm-256color"},
        dimensions=(24, 100),
        encoding="utf-8",
        timeout=60,
    )
    child.expect(pexpect.EOF)
    assert isinstance(child.before, str)
    output = re.sub(r"\x1b\[[0-9;]*m", "", child.before)
    page = rules_page(name, language)
    for mark in MARKS[language]:
        assert output.count(f"[{mark}]") == page.count(f"[{mark}]")
    words = " ".join(output.replace("▌", " ").split())
    for text, _ in IMAGE.findall(page):
        assert text in words
    assert "figure:" not in words
    assert "![" not in words


# ---------------------------------------------------------------- figures


@pytest.mark.parametrize("dark", [False, True])
@of_all_figures
def test_figures_are_valid_svg(name: str, shown: str, dark: bool) -> None:
    picture = figure(name, shown, dark=dark)
    root = ElementTree.fromstring(picture)
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
    assert float(root.get("width", "0")) <= 520
    assert root.findtext("{http://www.w3.org/2000/svg}title") == game(name).name
    assert set(re.findall(r'href="#(\w+)"', picture)) == set(re.findall(r'id="(\w+)"', picture))
    assert picture == figure(name, shown, dark=dark)
    assert svg.render_png(picture, width=100).startswith(b"\x89PNG")


@of_all_figures
def test_dark_figures_differ(name: str, shown: str) -> None:
    assert figure(name, shown) != figure(name, shown, dark=True)


@of_all_figures
def test_positions_of_figures_are_possible(name: str, shown: str) -> None:
    about = load_figures(game(name))[shown]
    variant = find_variant(name, about.players, about.options)
    placed = [*about.tiles, *([about.place] if about.place else [])]
    kinds = [variant.kind_of(Move.parse(move).tile) for move in placed] + [
        variant.kind_of(tile) for tile in about.hand
    ]
    assert None not in kinds
    assert Counter(variant.tile_name(kind or 0) for kind in kinds) <= Counter(variant.tileset)
    if name == "trio":
        for n, move in enumerate(about.tiles):
            assert trio(about.tiles[:n], move).gain(move)


def before(name: str, about: Figure, move: str) -> Position:
    """Return the position of a figure before a move."""
    tile = Move.parse(move).tile
    if name == "trio":
        return trio(about.tiles, move)
    if name == "rota":
        table = Table(find_variant(name, about.players, about.options))
        for laid in (*about.tiles, tile):
            table.draw(laid)
        positions_dominoes.draw_all(table)
        return table
    if about.first:
        (begun,) = about.tiles
        hands = (" ".join([letters] * game(name).hand) for letters in (Move.parse(begun).tile, tile))
        table = positions_dominoes.dealt(name, *hands)
        table.play(begun)
        positions_dominoes.draw_all(table)
        return table
    moves = [Move.parse(text) for text in about.tiles]
    board = {cell: letter for placed in moves for cell, letter in zip(placed.at, placed.tile, strict=True)}
    return positions_dominoes.position(board, game=name, players=about.players, hands=[tile])


def trio(tiles: list[str], move: str) -> Position:
    return positions_trio.position(tiles, [Move.parse(move).tile, ""])


@of_all_figures
def test_figures_agree_with_the_rules(name: str, shown: str) -> None:
    about = load_figures(game(name))[shown]
    if about.place:
        preview = before(name, about, about.place).preview(about.place)
        assert preview.gain == about.gain or not about.gain
        assert list(preview.pyramids) == about.pyramids
    for move in about.refused:
        with pytest.raises(IllegalMove) as caught:
            before(name, about, move).action_of(move)
        assert caught.value.reason in REFUSALS
    if about.results:
        seats = find_variant(name, len(about.results))
        state = seats.new_state()
        state["scores"][0, : seats.players] = [list(row.values()) for row in about.results]
        assert Position(seats, state).ranks == tuple(range(1, seats.players + 1))
        assert all(set(row) == set(game(name).colours) for row in about.results)
    if about.hand:
        assert exchange_is_offered(name, about)


@of_all_figures
def test_previews_name_the_highlighted_symbols(name: str, shown: str) -> None:
    about = load_figures(game(name))[shown]
    if not about.place:
        return
    position = before(name, about, about.place)
    variant = position.variant
    points, _ = previewed(variant, position.state, position.action_of(about.place))

    def spot(cell: str, symbol: int) -> str:
        return f"{cell}:{symbol}" if variant.grows else cell

    found = {(spot(p.target, p.target_symbol), spot(p.cell, p.symbol)) for p in points}
    lines = [line.split() for line in about.count]
    assert found == {(start, other) for start, *others in lines for other in others}


@of_all_figures
def test_highlighted_symbols_are_those_that_score(name: str, shown: str) -> None:
    about = load_figures(game(name))[shown]
    letters = signs(name, about)
    counted: Counter[str] = Counter()
    for line in about.count:
        start, *spots = line.split()
        counted.update(letters[spot] for spot in spots)
        if start not in about.pyramids:
            assert start.partition(":")[0] in Move.parse(about.place).at
            assert {letters[spot] for spot in spots} == {letters[start]}
    if "points" in about.gain:
        stars = find_variant(name).content(find_variant(name).opening, ()).stars
        doubled = 2 if set(stars) & set(Move.parse(about.place).at) else 1
        assert about.gain["points"] == doubled * counted.total()
    else:
        assert counted == Counter(about.gain)


def signs(name: str, about: Figure) -> dict[str, str]:
    """Return the letter on every spot of a figure: a cell, or a cell and the index of a symbol."""
    variant = find_variant(name, about.players, about.options)
    found = dict(variant.content(variant.opening, ()).printed)
    for move in map(Move.parse, (*about.tiles, *([about.place] if about.place else []))):
        letters = move.tile.replace("_", move.named or "_")
        spots = move.at if len(move.at) > 1 else [f"{move.at[0]}:{n}" for n in range(len(letters))]
        found |= zip(spots, letters, strict=True)
    return found


def exchange_is_offered(name: str, about: Figure) -> bool:
    """Return whether an exchange of the hand of a figure is offered after a tile that scores nothing."""
    variant = find_variant(name, about.players)
    other = next(tile for tile in variant.kinds if tile not in about.hand)
    start = positions_dominoes.position(
        game=name, players=about.players, hands=[" ".join((*about.hand, other))], scores=[about.points]
    )
    table = table_at(start)
    scoreless = next(move for move in table.legal_moves() if move.tile == other and not table.gain(move))
    table.play(scoreless)
    return {move.kind for move in table.legal_moves()} == {"exchange", "keep"}


def test_counterexample_of_the_edges_figure() -> None:
    """With a red middle square, the blue neighbour below it would not match."""
    about = load_figures(game("trio"))["edges"]
    with pytest.raises(IllegalMove) as caught:
        before("trio", about, "GRR d6-e6-f6").action_of("GRR d6-e6-f6")
    assert caught.value.reason is Reason.COLOURS_DO_NOT_MATCH
