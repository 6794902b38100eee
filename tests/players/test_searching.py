"""Searching bots: legal moves within the time limit, deterministic, and independent of hidden tiles."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from axiogames import Table, View, new_game
from axiogames.players import LEVELS, Budget, player
from axiogames.players.match import play_match
from axiogames.players.search.analysis import FULL_SECONDS, analyse
from axiogames.rng import Generator
from tests.clock import Clock
from tests.players.search.positions import (
    EACH_VARIANT,
    QUICK_VARIANTS,
    SLOW_VARIANTS,
    VARIANTS,
    played,
    redealt,
)

SEARCHERS = ["mc@60r", "instant", "sim@60r", *(name for name in LEVELS if name != list(LEVELS)[-1])]
STEP = 0.004  # seconds between two readings of the clock
TOLERANCE = 5  # readings of the clock by which a bot may miss its time limit


def each_with_some(found: Sequence[tuple[object, ...]]) -> list[Any]:
    """Combine every game and number of players with one of `found` in turn; `make slow` has all."""

    def is_slow(number: int, turn: int) -> bool:
        return number % len(found) != turn or VARIANTS[number] in SLOW_VARIANTS

    return [
        pytest.param(*variant, *one, marks=[pytest.mark.slow] if is_slow(number, turn) else [])
        for number, variant in enumerate(VARIANTS)
        for turn, one in enumerate(found)
    ]


def choice(name: str, view: View, seed: int = 1) -> str:
    return str(player(name).choose(view, Budget(), Generator(seed)).move)


@pytest.mark.parametrize(
    ("game", "players", "name"), each_with_some([("mc@100r",), ("instant",), ("sim@40r",)])
)
def test_bots_play_whole_games(game: str, players: int, name: str) -> None:
    others = [player("greedy")] * (players - 1)
    table = play_match(game, [player(name), *others], seed=3)
    assert table.over


@pytest.mark.parametrize(("game", "players"), EACH_VARIANT)
def test_the_same_seed_and_rollouts_give_the_same_choice(game: str, players: int) -> None:
    view = played(game, players, 8).view(0)
    if view.turn != 0:
        view = _to_move(played(game, players, 8))
    for name in SEARCHERS:
        first = player(name).choose(view, Budget(rollouts=100), Generator(5))
        again = player(name).choose(view, Budget(rollouts=100), Generator(5))
        assert first == again
        assert first.move in view.legal_moves()


def _to_move(table: Table) -> View:
    assert table.turn is not None
    return table.view(table.turn)


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_do_not_change_the_choice(threads: int) -> None:
    view = _to_move(played("hex", 2, 10))
    alone = player("sim@3000r").choose(view, Budget(), Generator(5))
    together = player(f"sim@3000rx{threads}").choose(view, Budget(), Generator(5))
    assert alone == together


@pytest.mark.parametrize(
    ("game", "players"),
    [pytest.param(*one, marks=[pytest.mark.slow] if one[1] == 3 else []) for one in VARIANTS if one[1] > 1],
)
def test_choice_does_not_depend_on_hidden_tiles(game: str, players: int) -> None:
    """Thousands of positions: 12 variants, 13 or 25 positions of a game, 4 or 8 deals of the hidden tiles.

    The slow bots take turns.
    """
    quick, slow = [player("instant"), player("level4")], [player("sim@20r"), player("mc@20r")]
    few = players > 2  # larger boards take longer
    for plies, table in enumerate(_game(game, players, 25)):
        if few and plies % 2:
            continue
        mine = _to_move(table)
        assert mine.seat is not None
        choices = {who.name: who.choose(mine, Budget(), Generator(plies)) for who in (*quick, *slow)}
        for deal in range(4 if few else 8):
            theirs = redealt(table, mine.seat, deal).view(mine.seat)
            assert mine.state.tobytes() == theirs.state.tobytes()
            assert mine.events == theirs.events
            for who in (*quick, *slow[deal % 4 : deal % 4 + 1]):
                assert who.choose(theirs, Budget(), Generator(plies)) == choices[who.name]


def _game(game: str, players: int, moves: int) -> Iterator[Table]:
    """Yield a table before each of at most `moves` moves of a game."""
    table, rng = new_game(game, players, seed=players), Generator(players)
    for _ in range(moves):
        if table.over:
            return
        yield table
        table.play(player("greedy").choose(_to_move(table), Budget(), rng).move)


def test_redealt_changes_hidden_hands() -> None:
    table = played("hex", 2, 6)
    assert table.turn is not None
    hands = {redealt(table, table.turn, seed).state["hands"].tobytes() for seed in range(5)}
    assert len(hands) > 1


@pytest.mark.parametrize(
    ("game", "players", "name", "seconds"),
    each_with_some([("sim", 0.08), ("sim", FULL_SECONDS), ("mc", 0.08)]),
)
def test_time_limit_holds(
    game: str, players: int, name: str, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = _to_move(played(game, players, 2))
    clock = Clock(STEP)
    monkeypatch.setattr(time, "perf_counter", clock)
    player(name).choose(view, Budget(seconds), Generator(1))
    assert seconds - TOLERANCE * STEP <= clock.now <= seconds + TOLERANCE * STEP


@pytest.mark.parametrize("rollouts", [200, 1000, 4000])
def test_rollout_budget_is_used_and_not_exceeded(rollouts: int) -> None:
    found = analyse(_to_move(played("axio", 2, 12)), seed=1, rollouts=rollouts)
    assert 0.7 * rollouts <= found.rollouts <= rollouts


def test_values_are_between_0_and_1() -> None:
    for game, players in QUICK_VARIANTS:
        view = _to_move(played(game, players, 9))
        values = [one.value[0] for one in player("sim@200r").choose(view, Budget(), Generator(1)).candidates]
        assert all(0 <= value <= 1 for value in values)


def test_only_legal_move_is_chosen() -> None:
    """With one legal move, every bot returns it."""
    views = (_to_move(played("axio", 1, 200, seed)) for seed in range(40))
    view = next(view for view in views if len(view.legal_moves()) == 1)
    for name in ("sim@10r", "mc@10r", "instant", *LEVELS):
        assert choice(name, view) == str(view.legal_moves()[0])


@pytest.mark.parametrize("name", ["instant", "sim@150r"])
def test_search_beats_greedy(name: str) -> None:
    """A sanity check; the arena measures strength."""
    wins = 0.0
    for deal in range(6):
        for seat in range(2):
            seats = [player("greedy"), player("greedy")]
            seats[seat] = player(name)
            result = play_match("axio", seats, seed=f"{name}/{deal}").result
            assert result is not None
            wins += (seat in result.winners) / len(result.winners)
    assert wins >= 7
