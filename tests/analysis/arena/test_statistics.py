"""The luck of the deal is measured in simulated arenas, and shared deals remove it from comparisons."""

from __future__ import annotations

import pytest

from axiogames.analysis.arena.results import ArenaGame
from axiogames.analysis.arena.schedule import ArenaSettings, Schedule, Seating
from axiogames.analysis.arena.statistics import bot_differences, complete_rounds, deal_variance_share
from axiogames.analysis.arena.summary import summarise
from tests.analysis.arena import simulated

BOTS = {"one": 30.0, "other": -30.0}


def rounds(luck: float, deals: int = 400, players: int = 2) -> tuple[ArenaSettings, list[list[ArenaGame]]]:
    settings = simulated.settings(tuple(BOTS), players)
    return settings, complete_rounds(settings, simulated.arena(BOTS, deals, players=players, luck=luck))


def test_deal_variance_share_grows_with_luck() -> None:
    shares = []
    for luck in (0.0, 1.0, 4.0):
        share = deal_variance_share(*rounds(luck), 200)
        assert share is not None
        assert share.low is not None
        assert share.high is not None
        assert share.low < share.value < share.high
        shares.append(share)
    assert abs(shares[0].value) < 0.1
    assert shares[0].value < shares[1].value < shares[2].value
    assert shares[2].value > 0.6


def test_deal_variance_share_is_1_or_0_in_the_extremes() -> None:
    settings = simulated.settings(("one", "other"))
    deal_decides, deal_irrelevant = [], []
    for deal in range(40):
        seatings = Schedule(settings.bots, 2).games(deal)
        deal_decides.append([simulated.game(seating, (deal % 2, 1 - deal % 2)) for seating in seatings])
        # The first seat wins the first game on half of the deals, and the second game on a different half.
        deal_irrelevant.append(
            [
                simulated.game(seating, (won, 1 - won))
                for seating, won in zip(seatings, (deal % 2, deal // 2 % 2), strict=True)
            ]
        )
    full, zero = (deal_variance_share(settings, games, 200) for games in (deal_decides, deal_irrelevant))
    assert full is not None
    assert zero is not None
    assert full.value == pytest.approx(1)
    assert zero.value == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_shared_deals_reduce_the_error_of_the_difference(players: int) -> None:
    settings, played = rounds(3.0, 200, players)
    difference = bot_differences(settings, played, 200)["one", "other"]
    assert difference.error is not None
    assert difference.independent_error is not None
    assert difference.games_ratio is not None
    assert difference.error < 0.8 * difference.independent_error
    assert difference.games_ratio > 1.5


def test_shared_deals_gain_nothing_without_luck() -> None:
    difference = bot_differences(*rounds(0.0, 300), 200)["one", "other"]
    assert difference.games_ratio == pytest.approx(1, abs=0.25)


def test_difference_equals_difference_of_win_rates() -> None:
    settings, played = rounds(1.0, 50)
    difference = bot_differences(settings, played, 200)["one", "other"]
    bots = summarise(
        settings, {game.seating: game for games in played for game in games}, openskill=False
    ).bots
    assert difference.value == pytest.approx(bots[0].win_rate.value - bots[1].win_rate.value)
    assert sum(difference.deal_counts) == 50


def test_one_player_bots_are_compared_on_the_same_deals() -> None:
    """One bot always scores 2 more. Only shared deals show it, because scores vary widely between deals."""
    settings = simulated.settings(("one", "other"), players=1)
    played = {}
    for deal in range(30):
        for bot, more in (("one", 2), ("other", 0)):
            seating = Seating(deal, (bot,))
            lowest = 5 + deal * 7 % 11 + more
            played[seating] = ArenaGame(deal, (bot,), ((lowest, 50),), (1,), (9,), (0.1,), (0.1,))
    summary = summarise(settings, played)
    (pair,) = summary.pairs
    assert pair.ahead.value == 1
    assert (pair.difference.value, pair.difference.low, pair.difference.high) == pytest.approx((2, 2, 2))
    assert pair.difference.error == 0
    assert pair.difference.independent_error is not None
    assert pair.difference.independent_error > 0.5
    assert summary.deal_variance_share is not None
    assert summary.deal_variance_share.value == pytest.approx(1)
    assert [bot.win_rate.value for bot in summary.bots] == [1, 0]
    assert summary.seats == ()


def test_deal_variance_share_needs_two_deals() -> None:
    assert deal_variance_share(*rounds(1.0, 1), 100) is None
