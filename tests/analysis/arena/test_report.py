"""Tables and sentences: the strongest bot first, and only significant differences claimed."""

from __future__ import annotations

from axiogames.analysis.arena.page import provenance_of, render_page
from axiogames.analysis.arena.report import format_estimate, format_percent, report_sentences, report_tables
from axiogames.analysis.arena.results import ArenaGame
from axiogames.analysis.arena.schedule import Seating
from axiogames.analysis.arena.statistics import IntervalEstimate
from axiogames.analysis.arena.summary import summarise
from tests.analysis.arena import simulated


def test_tables_list_the_strongest_bot_first() -> None:
    elo = {"weak": -200.0, "strong": 200.0, "middle": 0.0}
    summary = summarise(simulated.settings(tuple(elo)), simulated.arena(elo, 60))
    for table in report_tables(summary):
        if table.head[0] in ("bot", "ahead of"):
            assert [row[0] for row in table.rows] == ["strong", "middle", "weak"], table.title


def test_one_player_ranking_uses_the_mean_lowest_track() -> None:
    settings = simulated.settings(("often", "more"), players=1)
    played = {}
    for deal in range(10):
        for bot, lowest in (("often", 11), ("more", 30 if deal == 0 else 10)):
            game = ArenaGame(deal, (bot,), ((lowest, 40),), (1,), (9,), (0.1,), (0.1,))
            played[Seating(deal, (bot,))] = game
    assert [bot.bot for bot in summarise(settings, played).ranking()] == ["more", "often"]


def test_incomplete_rounds_are_not_counted() -> None:
    played = simulated.arena({"a": 0, "b": 0}, 3)
    del played[Seating(1, ("b", "a"))]
    summary = summarise(simulated.settings(("a", "b")), played)
    assert (summary.games, summary.deals, summary.uncounted) == (4, 2, 1)
    assert report_sentences(summary)[-1].startswith("1 game not counted: ")


def test_summary_without_games_is_empty() -> None:
    summary = summarise(simulated.settings(("a", "b")), {})
    assert (summary.games, summary.bots, report_tables(summary), report_sentences(summary)) == (0, (), [], [])


def test_page_claims_only_significant_differences() -> None:
    for gap, words in ((0.0, "but not significantly ahead of "), (800.0, "one is the strongest: it won ")):
        summary = summarise(
            simulated.settings(("one", "other")), simulated.arena({"one": gap, "other": 0}, 40)
        )
        assert words in render_page(summary, provenance_of(summary), {}, {})


def test_deal_variance_share_is_never_shown_as_negative() -> None:
    played = simulated.arena({"a": 0, "b": 0}, 8, seed=3)
    summary = summarise(simulated.settings(("a", "b")), played)
    assert summary.deal_variance_share is not None
    assert summary.deal_variance_share.low is not None
    assert summary.deal_variance_share.low < 0
    (sentence,) = (sentence for sentence in report_sentences(summary) if "The deal explains" in sentence)
    assert "-" not in sentence


def test_estimates_without_an_interval() -> None:
    assert (format_percent(IntervalEstimate(0.5)), format_estimate(IntervalEstimate(2.0), ".1f")) == (
        "50.0 %",
        "2.0",
    )
