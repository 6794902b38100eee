"""Figures in words: the strongest first, and nothing said that is not known."""

from __future__ import annotations

from axiogames.analysis.arena.provenance import provenance
from axiogames.analysis.arena.report import number, page, percent, sentences, sheets
from axiogames.analysis.arena.results import Played
from axiogames.analysis.arena.schedule import Seating
from axiogames.analysis.arena.statistics import Estimate
from axiogames.analysis.arena.summary import summarise
from tests.analysis.arena import planted


def test_the_strongest_comes_first() -> None:
    elo = {"weak": -200.0, "strong": 200.0, "middle": 0.0}
    summary = summarise(planted.settings(tuple(elo)), planted.arena(elo, 60))
    for sheet in sheets(summary):
        if sheet.head[0] in ("bot", "ahead of"):
            assert [row[0] for row in sheet.rows] == ["strong", "middle", "weak"], sheet.title


def test_alone_the_mean_lowest_decides_not_the_number_of_deals() -> None:
    settings = planted.settings(("often", "more"), players=1)
    played = {}
    for deal in range(10):
        for bot, lowest in (("often", 11), ("more", 30 if deal == 0 else 10)):
            game = Played(deal, (bot,), ((lowest, 40),), (1,), (9,), (0.1,), (0.1,))
            played[Seating(deal, (bot,))] = game
    assert [bot.bot for bot in summarise(settings, played).ranking()] == ["more", "often"]


def test_a_table_that_is_not_whole_is_not_counted() -> None:
    played = planted.arena({"a": 0, "b": 0}, 3)
    del played[Seating(1, ("b", "a"))]
    summary = summarise(planted.settings(("a", "b")), played)
    assert (summary.games, summary.deals, summary.left_out) == (4, 2, 1)
    assert sentences(summary)[-1].startswith("1 game not counted: ")


def test_no_games_no_figures() -> None:
    summary = summarise(planted.settings(("a", "b")), {})
    assert (summary.games, summary.bots, sheets(summary), sentences(summary)) == (0, (), [], [])


def test_the_page_does_not_call_a_bot_stronger_than_it_is_known_to_be() -> None:
    for gap, words in ((0.0, "but not surely ahead of "), (800.0, "one is the strongest: it won ")):
        summary = summarise(planted.settings(("one", "other")), planted.arena({"one": gap, "other": 0}, 40))
        assert words in page(summary, provenance(summary), {}, {})


def test_luck_is_never_said_to_be_less_than_nothing() -> None:
    played = planted.arena({"a": 0, "b": 0}, 8, seed=3)
    summary = summarise(planted.settings(("a", "b")), played)
    assert summary.share_of_the_deal is not None
    assert summary.share_of_the_deal.low is not None
    assert summary.share_of_the_deal.low < 0
    (said,) = (sentence for sentence in sentences(summary) if "The deal decided" in sentence)
    assert "-" not in said


def test_a_figure_without_an_interval() -> None:
    assert (percent(Estimate(0.5)), number(Estimate(2.0), ".1f")) == ("50.0 %", "2.0")
