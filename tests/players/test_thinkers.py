"""The players that judge and search: legal, in time, the same again, and without a look at hidden tiles."""

from __future__ import annotations

import time

import numpy as np
import pytest

from axio import Table, View
from axio.chance import Generator
from axio.match import play_match
from axio.players import LEVELS, Budget, player
from axio.search.analysis import analyse

from ..search.positions import VARIANTS, played, redealt

THINKERS = ["mc@60r", "instant", "sim@60r", *(name for name in LEVELS if name != list(LEVELS)[-1])]
LATE = 0.05  # seconds


def choice(name: str, view: View, seed: int = 1) -> str:
    return str(player(name).choose(view, Budget(), Generator(seed)).move)


@pytest.mark.parametrize(("game", "players"), VARIANTS)
@pytest.mark.parametrize("name", ["mc@100r", "instant", "sim@40r"])
def test_whole_games_are_played(game: str, players: int, name: str) -> None:
    others = [player("greedy")] * (players - 1)
    table = play_match(game, [player(name), *others], seed=3)
    assert table.over


@pytest.mark.parametrize(("game", "players"), VARIANTS)
def test_the_same_seed_and_rollouts_give_the_same_choice(game: str, players: int) -> None:
    view = played(game, players, 8).view(0)
    if view.turn != 0:
        view = _to_move(played(game, players, 8))
    for name in THINKERS:
        first = player(name).choose(view, Budget(), Generator(5))
        again = player(name).choose(view, Budget(), Generator(5))
        assert first == again
        assert first.move in view.legal_moves()


def _to_move(table: Table) -> View:
    assert table.turn is not None
    return table.view(table.turn)


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_change_nothing(threads: int) -> None:
    view = _to_move(played("hex", 2, 10))
    alone = player("sim@3000r").choose(view, Budget(), Generator(5))
    together = player(f"sim@3000rx{threads}").choose(view, Budget(), Generator(5))
    assert alone == together


@pytest.mark.parametrize(("game", "players"), [one for one in VARIANTS if one[1] > 1])
def test_no_choice_depends_on_what_is_hidden(game: str, players: int) -> None:
    for plies in range(0, 24, 3):
        table = played(game, players, plies, seed=plies)
        assert table.turn is not None
        for seed in range(3):
            other = redealt(table, table.turn, seed)
            mine, theirs = table.view(table.turn), other.view(table.turn)
            assert mine.state.tobytes() == theirs.state.tobytes()
            for name in ("mc@50r", "instant", "sim@50r", "level1"):
                assert choice(name, mine) == choice(name, theirs)


def test_redealing_does_change_what_is_hidden() -> None:
    table = played("hex", 2, 6)
    assert table.turn is not None
    hands = {redealt(table, table.turn, seed).state["hands"].tobytes() for seed in range(5)}
    assert len(hands) > 1


@pytest.mark.parametrize(("game", "players"), VARIANTS)
@pytest.mark.parametrize("name", ["sim", "mc"])
def test_nobody_thinks_longer_than_agreed(game: str, players: int, name: str) -> None:
    view = _to_move(played(game, players, 2))
    thinker = player(name)
    thinker.choose(view, Budget(rollouts=1), Generator(1))  # what has to be loaded is loaded
    over = []
    for _ in range(3):
        start = time.perf_counter()
        thinker.choose(view, Budget(0.08), Generator(1))
        over.append(time.perf_counter() - start - 0.08)
    assert min(over) < LATE


@pytest.mark.parametrize("rollouts", [200, 1000, 4000])
def test_a_budget_of_rollouts_is_used_and_kept_to(rollouts: int) -> None:
    found = analyse(_to_move(played("axio", 2, 12)), seed=1, rollouts=rollouts)
    assert 0.7 * rollouts <= found.rollouts <= rollouts


def test_values_are_between_nothing_and_everything() -> None:
    for game, players in VARIANTS:
        view = _to_move(played(game, players, 9))
        values = [one.value[0] for one in player("sim@200r").choose(view, Budget(), Generator(1)).candidates]
        assert all(0 <= value <= 1 for value in values)


def test_one_move_needs_no_thought() -> None:
    """Where there is nothing to choose, the only move is made."""
    views = (_to_move(played("axio", 1, 200, seed)) for seed in range(40))
    view = next(view for view in views if len(view.legal_moves()) == 1)
    for name in ("sim@10r", "mc@10r", "instant", *LEVELS):
        assert choice(name, view) == str(view.legal_moves()[0])


@pytest.mark.parametrize("name", ["instant", "sim@150r"])
def test_it_beats_greed(name: str) -> None:
    """Not how strong it is (the arena says that), but that it is not broken."""
    wins = 0.0
    for deal in range(6):
        for seat in range(2):
            seats = [player("greedy"), player("greedy")]
            seats[seat] = player(name)
            result = play_match("axio", seats, seed=f"{name}/{deal}").result
            assert result is not None
            wins += (seat in result.winners) / len(result.winners)
    assert wins >= 7


def test_hidden_tiles_are_guessed_from_what_is_unseen() -> None:
    """Every tile that rollouts give an opponent is one that the seat has not seen."""
    from axio.engine.layout import allocate
    from axio.engine.lots import seeds
    from axio.engine.minds import desk_dtype
    from axio.search.minds import find_mind

    table = played("axio", 2, 10)
    view = _to_move(table)
    variant = view.variant
    states = allocate(view.state.dtype, 3)
    states[0] = view.state[0]
    sums = np.zeros(1)
    for first in range(20):
        actions = view.legal_moves().actions[:1].copy()
        variant.kernels.roll_out(
            variant.tables, states, actions, 1, seeds(9, first, 1), 0, find_mind(variant),
            allocate(desk_dtype(len(variant.tracks))), sums, sums.copy(), np.zeros((1, 2, 5)),
        )  # fmt: skip
        guessed = states[1:2]
        assert (guessed["bag"] >= 0).all()
        assert int(guessed["in_bag"][0]) == int(view.state["in_bag"][0]) == int(guessed["bag"].sum())
        other = 1 - (view.turn or 0)
        hand = guessed["hands"][0, other, : int(guessed["held"][0, other])]
        assert (np.diff(hand.astype(int)) >= 0).all()
        counts = np.bincount(hand, minlength=len(variant.kinds))
        assert (guessed["bag"][0] + counts == view.state["bag"][0]).all()
