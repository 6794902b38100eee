"""The schedule is balanced: every bot sits in every seat equally often on every deal."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from axiogames.analysis.arena.schedule import Schedule

BOTS = ("a", "b", "c", "d", "e", "f")
SIZES = [(bots, players) for players in range(1, 5) for bots in range(1, 7)]


@pytest.mark.parametrize(("bots", "players"), SIZES)
def test_every_bot_sits_in_every_seat_equally_often_on_every_deal(bots: int, players: int) -> None:
    schedule = Schedule(BOTS[:bots], players)
    for deal in range(7):
        games = schedule.games(deal)
        assert len(set(games)) == len(games), "no game is played twice"
        times = Counter((bot, seat) for game in games for seat, bot in enumerate(game.seats))
        assert len(times) == bots * players
        assert len(set(times.values())) == 1
        assert {game.deal for game in games} == {deal}


@pytest.mark.parametrize(("bots", "players"), [(b, p) for b, p in SIZES if b > 1 and p > 1])
def test_every_pair_of_bots_meets_equally_often(bots: int, players: int) -> None:
    pairs: Counter[frozenset[str]] = Counter()
    for line_up in Schedule(BOTS[:bots], players).line_ups:
        pairs.update(
            frozenset((first, second))
            for n, first in enumerate(line_up)
            for second in line_up[n + 1 :]
            if first != second
        )
    assert len(pairs) == bots * (bots - 1) // 2
    assert len(set(pairs.values())) == 1


@pytest.mark.parametrize("players", [2, 3, 4])
def test_neighbours_vary_from_deal_to_deal(players: int) -> None:
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


def test_in_one_player_games_every_bot_plays_every_deal() -> None:
    schedule = Schedule(("a", "b"), 1)
    assert [game.seats for game in schedule.games(0)] == [("a",), ("b",)]
    assert schedule.deals_for(30) == 30


@pytest.mark.parametrize(
    ("bots", "players", "games", "deals", "rounded"),
    [
        (2, 2, 10, 5, 10),
        (2, 2, 11, 6, 12),
        (4, 3, 10, 4, 12),
        (4, 4, 1, 1, 4),
        (2, 4, 7, 3, 10),
        (1, 2, 5, 5, 5),
    ],
)
def test_numbers_of_games_are_rounded_up_to_whole_deals(
    bots: int, players: int, games: int, deals: int, rounded: int
) -> None:
    schedule = Schedule(BOTS[:bots], players)
    assert schedule.deals_for(games) == deals
    assert schedule.games_in(deals) == rounded


def test_a_longer_arena_starts_with_the_same_games() -> None:
    few, many = (Schedule(("a", "b", "c"), 4) for _ in range(2))
    assert [few.games(deal) for deal in range(3)] == [many.games(deal) for deal in range(9)][:3]
