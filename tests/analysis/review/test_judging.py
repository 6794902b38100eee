"""Judging decisions: independent of hidden tiles, reproducible, with correct standard errors."""

from __future__ import annotations

import numpy as np
import pytest

from axiogames.analysis.review.judging import judge, rollout_policy_action
from axiogames.analysis.review.review import decisions, judge_decision
from axiogames.analysis.review.values import has_unbounded_values, result_values, value_scale
from axiogames.games import GAMES, find_variant
from axiogames.model.record import replay
from axiogames.model.view import View
from axiogames.moves import Move
from axiogames.players import Budget
from axiogames.players.evaluation.weights import load_weights
from axiogames.players.search.rollouts import TO_THE_END, Rollouts
from tests.analysis.review.games import QUICK, half_of_all, reviewed, short_game, whole_game
from tests.players.search.positions import EACH_VARIANT

of_all_games = pytest.mark.parametrize("name", GAMES)
of_some_games = pytest.mark.parametrize(("name", "players"), half_of_all(range(1, 5)))


@of_some_games
def test_every_decision_is_judged(name: str, players: int) -> None:
    record = short_game(name, players, moves=3)
    for decision in decisions(record):
        found = judge_decision(decision, QUICK, "0")
        assert decision.seat == decision.view.seat == decision.view.turn
        if found.forced:
            assert len(decision.view.legal_moves()) == 1
            continue
        values = [candidate.value for candidate in found.candidates]
        assert values == sorted(values, reverse=True)
        assert found.chosen.action == decision.action
        assert found.candidates[0].behind == 0
        for candidate in found.candidates:
            assert Move.parse(candidate.move) in decision.view.legal_moves()
            assert candidate.behind == pytest.approx(values[0] - candidate.value)
            assert len(candidate.points) == players
            assert all(points >= 0 for row in candidate.points for points in row)
        assert found.loss == 0 or found.chosen.significantly_worse
        assert found.chosen.value == pytest.approx(found.policy_value.value + found.choice.value)
        assert rollout_policy_action(decision.view) in decision.view.legal_moves().actions


@of_all_games
def test_judgement_does_not_depend_on_hidden_tiles(name: str) -> None:
    """Exchanging a tile in a hidden hand for one from the bag does not change the judgement."""
    decision = list(decisions(short_game(name)))[-1]
    table = replay(short_game(name), upto=decision.ply - 1)
    state, other = table.state.copy(), 1 - decision.seat
    hand, bag = state["hands"][0, other], state["bag"][0]
    old, new = int(hand[0]), next(kind for kind, n in enumerate(bag.tolist()) if n and kind != hand[0])
    bag[old] += 1
    bag[new] -= 1
    hand[0] = new
    hand[: state["held"][0, other]].sort()
    view = View(table.variant, table.variant.redact(state, decision.seat), decision.seat, ())
    assert judge(view, decision.action, QUICK, 7) == judge(decision.view, decision.action, QUICK, 7)
    assert set(view.hand(other)) == {"?"}


def test_equal_seeds_give_equal_reviews_for_any_number_of_threads() -> None:
    record = short_game(GAMES[0])
    assert reviewed.__wrapped__(record.to_json()) == reviewed(record.to_json())
    decision = next(decisions(record))
    one_thread, two_threads = (
        judge_decision(decision, Budget(rollouts=400, threads=threads), "0") for threads in (1, 2)
    )
    assert one_thread == two_threads
    assert judge_decision(decision, Budget(rollouts=400), "1") != one_thread


def test_time_limits_are_respected() -> None:
    decision = next(decisions(short_game(GAMES[0])))
    judge_decision(decision, Budget(0.05), "0")  # compiles
    longer, shorter = (judge_decision(decision, Budget(seconds), "0").rollouts for seconds in (0.4, 0.1))
    assert longer > shorter


def test_standard_errors_are_correct() -> None:
    """The spread of many judgements agrees with the standard error of each."""
    decision = next(decisions(short_game(GAMES[0])))
    values, errors = [], []
    for seed in range(24):
        found = judge_decision(decision, Budget(rollouts=1200), seed)
        values.append(found.chosen.value)
        errors.append(found.chosen.error)
    assert 0.5 < np.std(values, ddof=1) / np.mean(errors) < 1.8


@pytest.mark.parametrize(("name", "players"), EACH_VARIANT)
def test_value_of_a_result_agrees_with_the_search(name: str, players: int) -> None:
    record = whole_game(name, players)
    table = replay(record)
    assert table.result is not None
    last = table.copy()
    move = last.undo()
    points = [tuple(scores.values()) for scores in table.result.scores]
    seat = last.turn
    assert seat is not None
    rollouts = Rollouts(last.view(seat), load_weights(last.variant), 0)
    (stats,) = rollouts.run(np.array([last.action_of(move)], np.int32), 0, 1, TO_THE_END)
    value = float(stats.means[0])
    if has_unbounded_values(last.variant):
        value /= 1 - value
    found = result_values(last.variant, table.result.place, points)
    assert found[seat] == pytest.approx(value, abs=1e-5)


def test_value_scales() -> None:
    two, four, solo = (value_scale(replay(whole_game(GAMES[0], n), upto=0).variant) for n in (2, 4, 1))
    assert (two.kind, two.to_display(0.62)) == ("win", 62)
    assert (four.kind, four.to_display(1.0), four.to_display(0.0)) == ("place", 1.0, 4.0)
    assert solo.kind == "lowest"
    assert solo.to_display(0.5) == solo.full / 2
    assert value_scale(find_variant(GAMES[-1], 1)).kind == "points"
