"""The bound is never below the optimum, and beams find the optimum that exhaustive search finds."""

from __future__ import annotations

from functools import cache

import pytest

from axiogames.analysis.solve.solo import SoloDeal, deal_from_seed, solvable_variant, solve
from axiogames.games import GAMES, find_variant
from axiogames.games.dominoes.bound import FREE, OWN, longest_line, upper_bound
from axiogames.games.dominoes.variant import DominoVariant
from axiogames.players import player
from axiogames.players.match import play_match
from tests.analysis.solve.positions import Points, exhaustive_search, late_table, sorted_points

DOMINOES = tuple(name for name in GAMES if isinstance(find_variant(name, 1), DominoVariant))
LATE = [
    pytest.param(name, seed, 3, marks=[pytest.mark.slow] if seed > 0 else [])
    for name in DOMINOES
    for seed in range(6)
]


def late_deal(name: str, seed: int, tiles: int) -> SoloDeal:
    whole = deal_from_seed(name, seed)
    table = late_table(name, seed, tiles)
    return SoloDeal(whole.variant, whole.kinds, seed, tuple(map(str, table.moves)))


@cache
def optimum(name: str, seed: int, tiles: int) -> tuple[Points, int]:
    return exhaustive_search(late_table(name, seed, tiles))


@pytest.mark.parametrize(("name", "seed", "tiles"), LATE)
def test_bound_is_at_least_the_optimum(name: str, seed: int, tiles: int) -> None:
    points, total = optimum(name, seed, tiles)
    deal = late_deal(name, seed, tiles)
    start = deal.table()
    bound = upper_bound(deal.variant, start.state, deal.kinds[start.plies :])
    assert bound.points >= points
    assert bound.points[0] >= points[0]
    assert bound.total >= total


@pytest.mark.parametrize(("name", "seed", "tiles"), LATE)
def test_beams_find_the_optimum(name: str, seed: int, tiles: int) -> None:
    points, _ = optimum(name, seed, tiles)
    solution, _ = solve(late_deal(name, seed, tiles), width=200)
    assert solution.best.points == points
    wide, _ = solve(late_deal(name, seed, tiles), width=100_000)
    assert wide.bound.exact
    assert wide.best.points == wide.bound.points == points


@pytest.mark.parametrize("name", DOMINOES)
def test_late_bounds_are_below_the_cap(name: str) -> None:
    deal = late_deal(name, 1, 3)
    start = deal.table()
    bound = upper_bound(deal.variant, start.state, deal.kinds[start.plies :])
    assert bound.points[0] < deal.variant.cap
    assert bound.total < deal.variant.cap * len(deal.variant.colours)


@pytest.mark.parametrize("name", DOMINOES)
def test_games_stay_below_the_bound_from_any_position(name: str) -> None:
    """Check whole games of simple bots every four moves, with all draws known and with some."""
    for seed, bot in ((1, "greedy"), (2, "balanced"), (3, "random")):
        played = play_match(name, [player(bot)], seed)
        result = sorted_points(played)
        moves = tuple(map(str, played.moves))
        whole = deal_from_seed(name, seed)
        for plies in range(0, len(moves) + 1, 4):
            start = SoloDeal(whole.variant, whole.kinds, seed, moves[:plies]).table()
            for known in (len(moves), len(whole.kinds)):
                bound = upper_bound(whole.variant, start.state, whole.kinds[plies:known])
                assert bound.points >= result
                assert bound.total >= sum(result)


@pytest.mark.parametrize("name", DOMINOES)
def test_bound_of_a_finished_game_is_its_result(name: str) -> None:
    played = play_match(name, [player("greedy")], 1)
    bound = upper_bound(solvable_variant(played.variant), played.state, ())
    assert bound.points == sorted_points(played)
    assert bound.total == sum(sorted_points(played))


def test_longest_lines() -> None:
    assert longest_line((FREE,) * 9)[9] == 36
    assert longest_line((FREE, OWN, FREE)) == (0, 1, 3)
    assert longest_line((OWN, FREE, FREE, OWN)) == (0, 1, 4)
    assert longest_line((OWN, FREE, OWN, FREE, OWN)) == (0, 2, 6)
