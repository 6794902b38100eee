"""Solving deals: the draws are those of the table, lines are replayed, the same deal has the same answer."""

from __future__ import annotations

import pytest

from axiogames.analysis.solve.solo import deal_of_record, deal_of_seed, solve
from axiogames.errors import AxioError, InvalidPlayers
from axiogames.games import GAMES
from axiogames.model.record import record_of, replay
from axiogames.model.table import new_game
from axiogames.players import player
from axiogames.players.match import play_match
from tests.analysis.solve.late import solo_record, sorted_points
from tests.analysis.solve.test_bound import DOMINOES


@pytest.mark.parametrize("name", DOMINOES)
@pytest.mark.parametrize("seed", [0, 7, "the daily one"])
def test_a_table_draws_what_the_deal_says_whatever_is_played(name: str, seed: int | str) -> None:
    deal = deal_of_seed(name, seed)
    assert len(deal.kinds) == sum(deal.variant.tileset.values())
    for which in (0, -1):
        table = new_game(name, 1, seed=seed)
        while not table.over:
            assert table.hand(0) == (deal.variant.kinds[deal.kinds[table.plies]],)
            table.play(table.legal_moves()[which])


@pytest.mark.parametrize("name", DOMINOES)
def test_the_best_line_is_a_record_that_replays(name: str) -> None:
    solution, record = solve(deal_of_seed(name, "x"), width=5)
    table = replay(record)
    assert table.over
    assert record.seed == "x"
    assert sorted_points(table) == solution.best.points
    assert [str(move) for move in table.moves] == list(solution.best.moves)
    assert solution.gap == solution.bound.points[0] - solution.best.points[0] >= 0


def test_the_same_deal_and_width_give_the_same_line_in_any_number_of_threads() -> None:
    lines = [solve(deal_of_seed(GAMES[0], 5), width=80, threads=threads)[0].best for threads in (1, 1, 2)]
    assert lines[0] == lines[1] == lines[2]


def test_a_beam_does_better_than_simple_players() -> None:
    record = solo_record(GAMES[0], by="balanced")
    solution, _ = solve(deal_of_record(record), width=20)
    assert solution.played is not None
    assert solution.best.points > solution.played.points
    assert not solution.best_was_played


def test_beams_grow_while_there_is_time_and_not_beyond_the_width() -> None:
    shares: list[float] = []
    solution, _ = solve(deal_of_seed(GAMES[0], 1), width=20, seconds=60, tick=shares.append)
    assert solution.width == 20
    assert 0 <= min(shares) <= max(shares) <= 1
    hurried, _ = solve(deal_of_seed(GAMES[0], 1), seconds=0.001)
    assert hurried.width == 16, "there is always an answer"


def test_without_a_seed_only_the_tiles_of_the_record_are_known() -> None:
    record = solo_record(GAMES[0], with_seed=False)
    deal = deal_of_record(record)
    assert deal.seed is None
    assert len(deal.kinds) == len(replay(record).moves)
    solution, best = solve(deal, width=10)
    assert solution.known == len(deal.kinds) >= solution.best.tiles
    assert replay(best).plies == solution.best.tiles


def test_a_game_that_nothing_beats_is_told_as_the_best() -> None:
    record = solo_record(GAMES[0])
    plies = len(replay(record).moves)
    solution, best = solve(deal_of_record(record, plies=plies))
    assert solution.best_was_played
    assert solution.bound.exact
    assert solution.gap == 0
    assert best.events == record.events


def test_what_cannot_be_solved() -> None:
    other = next(name for name in GAMES if name not in DOMINOES)
    with pytest.raises(AxioError, match="only those with dominoes"):
        deal_of_seed(other, 1)
    with pytest.raises(AxioError, match="only those with dominoes"):
        deal_of_record(solo_record(other))
    with pytest.raises(AxioError, match="no move 99"):
        deal_of_record(solo_record(GAMES[0]), plies=99)
    with pytest.raises(InvalidPlayers, match="2 players"):
        deal_of_record(record_of(play_match(GAMES[0], [player("random")] * 2, 1)))
