"""Solving deals: known draws, replayed lines, reproducible results."""

from __future__ import annotations

import pytest

from axiogames.analysis.solve.solo import deal_from_record, deal_from_seed, solve
from axiogames.errors import AxioError, InvalidPlayers
from axiogames.games import GAMES
from axiogames.model.record import record_of, replay
from axiogames.model.table import new_game
from axiogames.players import player
from axiogames.players.match import play_match
from tests.analysis.solve.positions import solo_record, sorted_points
from tests.analysis.solve.test_bound import DOMINOES


@pytest.mark.parametrize("name", DOMINOES)
@pytest.mark.parametrize("seed", [0, 7, "the daily one"])
def test_draws_of_a_table_do_not_depend_on_the_moves(name: str, seed: int | str) -> None:
    deal = deal_from_seed(name, seed)
    assert len(deal.kinds) == sum(deal.variant.tileset.values())
    for index in (0, -1):
        table = new_game(name, 1, seed=seed)
        while not table.over:
            assert table.hand(0) == (deal.variant.kinds[deal.kinds[table.plies]],)
            table.play(table.legal_moves()[index])


@pytest.mark.parametrize("name", DOMINOES)
def test_record_of_the_best_line_replays(name: str) -> None:
    solution, record = solve(deal_from_seed(name, "x"), width=5)
    table = replay(record)
    assert table.over
    assert record.seed == "x"
    assert sorted_points(table) == solution.best.points
    assert [str(move) for move in table.moves] == list(solution.best.moves)
    assert solution.gap == solution.bound.points[0] - solution.best.points[0] >= 0


def test_lines_are_the_same_for_any_number_of_threads() -> None:
    lines = [solve(deal_from_seed(GAMES[0], 5), width=80, threads=threads)[0].best for threads in (1, 1, 2)]
    assert lines[0] == lines[1] == lines[2]


def test_beams_beat_simple_bots() -> None:
    record = solo_record(GAMES[0], bot="balanced")
    solution, _ = solve(deal_from_record(record), width=20)
    assert solution.played is not None
    assert solution.best.points > solution.played.points
    assert not solution.best_was_played


def test_beams_grow_up_to_the_time_limit_and_width() -> None:
    shares: list[float] = []
    solution, _ = solve(deal_from_seed(GAMES[0], 1), width=20, seconds=60, on_progress=shares.append)
    assert solution.width == 20
    assert 0 <= min(shares) <= max(shares) <= 1
    short, _ = solve(deal_from_seed(GAMES[0], 1), seconds=0.001)
    assert short.width == 16, "the first beam is always completed"


def test_without_a_seed_only_the_recorded_draws_are_known() -> None:
    record = solo_record(GAMES[0], with_seed=False)
    deal = deal_from_record(record)
    assert deal.seed is None
    assert len(deal.kinds) == len(replay(record).moves)
    solution, best = solve(deal, width=10)
    assert solution.known == len(deal.kinds) >= solution.best.tiles
    assert replay(best).plies == solution.best.tiles


def test_an_unbeaten_recorded_game_is_the_best_line() -> None:
    record = solo_record(GAMES[0])
    plies = len(replay(record).moves)
    solution, best = solve(deal_from_record(record, plies=plies))
    assert solution.best_was_played
    assert solution.bound.exact
    assert solution.gap == 0
    assert best.events == record.events


def test_unsolvable_deals_are_rejected() -> None:
    unsolvable = next(name for name in GAMES if name not in DOMINOES)
    with pytest.raises(AxioError, match="only domino games"):
        deal_from_seed(unsolvable, 1)
    with pytest.raises(AxioError, match="only domino games"):
        deal_from_record(solo_record(unsolvable))
    with pytest.raises(AxioError, match="ply 99 is out of range"):
        deal_from_record(solo_record(GAMES[0]), plies=99)
    with pytest.raises(InvalidPlayers, match="2 players"):
        deal_from_record(record_of(play_match(GAMES[0], [player("random")] * 2, 1)))
