"""Luck cancels: every bot gets every seat on every deal equally often."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from axiogames.analysis.arena.schedule import Schedule

BOTS = ("a", "b", "c", "d", "e", "f")
TABLES = [(bots, players) for players in range(1, 5) for bots in range(1, 7)]


@pytest.mark.parametrize(("bots", "players"), TABLES)
def test_every_bot_sits_in_every_seat_equally_often_on_every_deal(bots: int, players: int) -> None:
    schedule = Schedule(BOTS[:bots], players)
    for deal in range(7):
        games = schedule.games(deal)
        assert len(set(games)) == len(games), "no game is played twice"
        often = Counter((bot, seat) for game in games for seat, bot in enumerate(game.seats))
        assert len(often) == bots * players
        assert len(set(often.values())) == 1
        assert {game.deal for game in games} == {deal}


@pytest.mark.parametrize(("bots", "players"), [(b, p) for b, p in TABLES if b > 1 and p > 1])
def test_every_two_bots_meet_equally_often(bots: int, players: int) -> None:
    met: Counter[frozenset[str]] = Counter()
    for table in Schedule(BOTS[:bots], players).line_ups:
        met.update(
            frozenset((one, other)) for n, one in enumerate(table) for other in table[n + 1 :] if one != other
        )
    assert len(met) == bots * (bots - 1) // 2
    assert len(set(met.values())) == 1


@pytest.mark.parametrize("players", [2, 3, 4])
def test_nobody_always_follows_the_same_neighbour(players: int) -> None:
    schedule = Schedule(BOTS[:players], players)
    after = Counter(
        pair
        for deal in range(6)
        for game in schedule.games(deal)
        for pair in pairwise((*game.seats, game.seats[0]))
    )
    assert len(after) == players * (players - 1)
    assert len(set(after.values())) == 1


def test_two_players_play_each_deal_twice_with_seats_swapped() -> None:
    schedule = Schedule(("a", "b", "c"), 2)
    assert [game.seats for game in schedule.games(5)] == [
        ("a", "b"), ("b", "a"), ("a", "c"), ("c", "a"), ("b", "c"), ("c", "b"),
    ]  # fmt: skip


def test_alone_every_bot_plays_every_deal() -> None:
    schedule = Schedule(("a", "b"), 1)
    assert [game.seats for game in schedule.games(0)] == [("a",), ("b",)]
    assert schedule.deals_for(30) == 30


@pytest.mark.parametrize(
    ("bots", "players", "games", "deals", "in_them"),
    [
        (2, 2, 10, 5, 10),
        (2, 2, 11, 6, 12),
        (4, 3, 10, 4, 12),
        (4, 4, 1, 1, 4),
        (2, 4, 7, 3, 10),
        (1, 2, 5, 5, 5),
    ],
)
def test_games_are_rounded_up_to_whole_deals(
    bots: int, players: int, games: int, deals: int, in_them: int
) -> None:
    schedule = Schedule(BOTS[:bots], players)
    assert schedule.deals_for(games) == deals
    assert schedule.games_in(deals) == in_them


def test_more_games_begin_with_the_same_games() -> None:
    few, many = (Schedule(("a", "b", "c"), 4) for _ in range(2))
    assert [few.games(deal) for deal in range(3)] == [many.games(deal) for deal in range(9)][:3]
