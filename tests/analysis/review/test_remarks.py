"""Remarks: texts in every language, and the remark that fits the difference of two moves."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest
from msgspec.structs import replace

import axiogames.analysis.review
from axiogames.analysis.review.judging import JudgedMove, Judgement
from axiogames.analysis.review.remarks import Remark, Wording, hint_remarks, remark_on, review_texts
from axiogames.analysis.review.review import decisions, judge_decision
from axiogames.analysis.review.values import ValueScale
from axiogames.games import GAMES, LANGUAGES
from axiogames.model.view import View
from tests.analysis.review.games import QUICK, short_game, whole_game

SOURCE = Path(axiogames.analysis.review.__file__).parent
WIN = ValueScale("win", 100.0)


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_languages_have_the_same_texts(language: str) -> None:
    texts, english = review_texts(language), review_texts("en")
    assert list(texts) == list(english)
    for key, text in texts.items():
        assert text.strip()
        assert placeholders(text) == placeholders(english[key]), key


def test_every_remark_has_a_text() -> None:
    keys = re.findall(r'"(\w+)"', "".join(re.findall(r"Remark\(\s*[^)]*|key = .*", _source("remarks.py"))))
    used = {key for key in keys if key in review_texts("en")}
    assert {"bottleneck", "opened", "wasted", "turn_given_away", "exchange_better", "equal"} <= used
    assert not [
        key
        for key in re.findall(r'Remark\(\s*"(\w+)"', _source("remarks.py"))
        if key not in review_texts("en")
    ]


def _source(name: str) -> str:
    return (SOURCE / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", GAMES)
def test_remarks_are_sentences(name: str, language: str) -> None:
    record = short_game(name)
    for decision in decisions(record):
        found = judge_decision(decision, QUICK, "0")
        sentence = Wording(language, WIN, record.players).remark(remark_on(decision.view, found))
        assert sentence[0].isupper() or not sentence[0].isalpha()
        assert sentence.endswith(".")
        assert "{" not in sentence
        for candidate in found.candidates[:1]:
            for remark in hint_remarks(decision.view, candidate):
                assert Wording(language, WIN).remark(remark).endswith(".")


# ---------------------------------------------------------------- remarks on two moves


def first_view() -> View:
    return next(decisions(whole_game(GAMES[0]))).view


def candidate(view: View, **other: object) -> JudgedMove:
    """Return a neutral move, with the fields in `other` changed."""
    points = tuple((8.0,) * len(view.variant.tracks) for _ in range(view.players))
    errors = tuple((0.01,) * len(view.variant.tracks) for _ in range(view.players))
    gain = (1,) + (0,) * (len(view.variant.tracks) - 1)
    plain = JudgedMove("GR c5-c6", 0, 0.5, 0.01, 0.0, 0.0, gain, 0, False, points, errors)
    return replace(plain, **other)


def changed(view: View, seat: int, track: int, points: float) -> tuple[tuple[float, ...], ...]:
    rows = [list(row) for row in candidate(view).points]
    rows[seat][track] = points
    return tuple(map(tuple, rows))


def remark_on_worse(**better: object) -> Remark:
    view = first_view()
    best = candidate(view, **{"move": "BB d5-d6", "value": 0.6, **better})
    worse = candidate(view, behind=0.1, behind_error=0.01)
    return remark_on(view, Judgement((best, worse), 1))


def test_remark_on_a_bottleneck() -> None:
    view = first_view()
    points = changed(view, 0, 2, 6.0)
    best = candidate(view, move="c5-c6", points=changed(view, 0, 2, 9.0))
    worse = candidate(view, behind=0.1, points=points)
    remark = remark_on(view, Judgement((best, worse), 1))
    assert remark == Remark("bottleneck", "c5-c6", view.variant.tracks[2], mine=6.0, other=9.0)
    sentence = Wording("en", WIN).remark(replace(remark, move="BB c5-c6"))
    colour = review_texts("en")[f"colour.{view.variant.tracks[2]}"]
    assert sentence == (
        f"Your {colour} was the bottleneck; this kept it at 6, while BB c5-c6 would have made 9 likely."
    )


def test_points_opened_for_the_next_seat() -> None:
    view = first_view()
    best = candidate(view, move="BB d5-d6", points=changed(view, 1, 0, 5.0))
    worse = candidate(view, behind=0.1)
    remark = remark_on(view, Judgement((best, worse), 1))
    assert (remark.key, remark.seat, remark.mine, remark.other) == ("opened", 1, 8.0, 5.0)


def test_remarks_on_lost_turns_exchanges_and_wasted_points() -> None:
    assert remark_on_worse(wins_turn=True).key == "turn_given_away"
    assert remark_on_worse(gain=(), move="exchange").key == "exchange_better"
    assert remark_on_worse().key == "overall"
    view = first_view()
    best = candidate(view, move="BB d5-d6", points=changed(view, 0, 0, 11.0))
    worse = candidate(view, behind=0.1, wasted=3)
    remark = remark_on(view, Judgement((best, worse), 1))
    assert (remark.key, remark.count) == ("wasted", 3)
    exchanged = candidate(view, behind=0.1, gain=(), move="exchange")
    assert remark_on(view, Judgement((best, exchanged), 1)).key == "place_better"


def test_remarks_on_the_best_move_compare_it_with_the_next_best() -> None:
    view = first_view()
    plain, rival = candidate(view), candidate(view, move="BB d5-d6", behind=0.1)

    def remark_on_best(best: JudgedMove, rival: JudgedMove = rival) -> Remark:
        return remark_on(view, Judgement((best, rival), 0))

    assert remark_on_best(plain).key == "best"
    raising = remark_on_best(candidate(view, points=changed(view, 0, 1, 12.0)), candidate(view, behind=0.1))
    assert (raising.key, raising.mine, raising.other) == ("best_raises", 12.0, 8.0)
    denying = remark_on_best(candidate(view, points=changed(view, 1, 3, 5.0)))
    assert (denying.key, denying.seat, denying.mine, denying.other) == ("best_denies", 1, 5.0, 8.0)
    assert remark_on_best(candidate(view, wins_turn=True)).key == "best_turn"
    assert remark_on_best(candidate(view, gain=(), move="exchange")).key == "best_without_place"


def test_insignificant_differences_are_reported() -> None:
    view = first_view()
    best, other = candidate(view, move="BB d5-d6"), candidate(view, behind=0.02, behind_error=0.015)
    judgement = Judgement((best, other), 1)
    assert judgement.loss == 0
    remark = remark_on(view, judgement)
    assert (remark.key, remark.behind, remark.within) == ("equal", 0.02, 0.03)
    assert "2.0% apart, within an error of 3.0%" in Wording("en", WIN).remark(remark)
    assert remark_on(view, Judgement((best, other), 0)).key == "best_of_equals"
    assert remark_on(view, Judgement(())).key == "forced"
    lost = Judgement((replace(best, value=0.004), replace(other, value=0.003, behind=0.001)), 1)
    assert remark_on(view, lost).key == "decided"


@pytest.mark.parametrize(
    ("scale", "value", "change"),
    [
        (WIN, "62%", "+4.0%"),
        (ValueScale("place", 3.0), "place 2.14", "+0.12 places"),
        (ValueScale("lowest", 36.0), "22.3", "+1.4 points"),
    ],
)
def test_values_and_changes(scale: ValueScale, value: str, change: str) -> None:
    wording = Wording("en", scale)
    assert wording.value(0.62) == value
    assert wording.change(0.04, signed=True) == change
    assert wording.change(0.0, signed=True)[0] == "0"
    assert "," in Wording("de", scale).change(0.04)
