"""Whole games in compiled code are the games that tables play with the same seeds."""

from __future__ import annotations

from itertools import cycle, islice

import numpy as np
import pytest

from axiogames.analysis.arena.run import play_at_table, play_in_bulk
from axiogames.analysis.arena.schedule import ArenaSettings, Schedule
from axiogames.analysis.dataset.generate import rows_at_table, rows_in_bulk
from axiogames.analysis.dataset.settings import DatasetSettings
from axiogames.cli.commands import simulate
from axiogames.games import GAMES, find_variant, game
from axiogames.games.runtime.compile import INTERPRETED
from axiogames.model.record_writer import RecordWriter
from axiogames.model.table import Table
from axiogames.players import PLAYERS, player
from axiogames.players.bulk import games as bulk
from axiogames.players.bulk.games import BulkGames, bulk_games, policies_of
from axiogames.players.match import play_match
from axiogames.rng import Generator

SIMPLE = ("level1", "balanced", "random", "greedy", "level2")


def _option_sets(name: str) -> list[tuple[str, ...]]:
    """Return no options, each option alone, and all options."""
    options = tuple(option.name for option in game(name).options)
    return list(dict.fromkeys([(), *((option,) for option in options), options]))


pytestmark = pytest.mark.skipif(INTERPRETED, reason="whole games take minutes")


CASES = [
    (name, players, options) for name in GAMES for options in _option_sets(name) for players in range(1, 5)
]


def policies(specs: tuple[str, ...]) -> np.ndarray:
    found = policies_of(specs)
    assert found is not None
    return found


@pytest.mark.parametrize(("name", "players", "options"), CASES)
def test_records_and_results_equal_those_of_tables(name: str, players: int, options: tuple[str, ...]) -> None:
    for first in range(len(SIMPLE)):
        bots = tuple(islice(cycle(SIMPLE), first, first + players))
        games = simulate.GameRange(name, bots, options, "bulk", 2 * first, 2 * first + 2)
        assert simulate.play_in_bulk(games, policies(bots)) == simulate.play_one_by_one(games)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("players", [1, 2])
def test_states_and_actions_equal_those_of_tables(name: str, players: int) -> None:
    bots = tuple(islice(SIMPLE, players))
    variant = find_variant(name, players)
    played = bulk_games(variant).play("log", policies(bots))
    table = play_match(name, [player(bot) for bot in bots], "log")
    assert played.actions.tolist() == table.actions
    assert not played.noisy.any()
    assert len(played.moves) == sum(played.moves_by_seat()) == table.plies
    replayed = Table(variant)
    for state, action in zip(played.states, table.actions, strict=False):
        assert state.tobytes() == replayed.state.tobytes()
        replayed._step(action, checked=False)
    assert played.states[-1].tobytes() == table.state.tobytes()


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("noise", [0.0, 0.3, 1.0])
def test_rows_of_datasets_equal_those_of_tables(name: str, noise: float) -> None:
    bots = ("balanced", "level2", "greedy")
    settings = DatasetSettings.create(name, bots, seed="rows", noise=noise, legal=True)
    for number in range(2):
        seats = settings.seats(number)
        rows = rows_in_bulk(settings, number, policies(seats))
        assert _plain(rows) == _plain(rows_at_table(settings, number))
        assert [*rows[0]] == [*rows_at_table(settings, number)[0]]


def _plain(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Return rows without arrays, so that they can be compared."""
    return [{name: np.asarray(value).tolist() for name, value in row.items()} for row in rows]


@pytest.mark.parametrize("players", [1, 2, 3])
def test_arena_games_equal_those_at_tables(players: int) -> None:
    bots = ("random", "greedy", "level1")
    settings = ArenaSettings.create(GAMES[-1], bots, players=players, seed="arena")
    for seating in Schedule(bots, players).games(0):
        fast = play_in_bulk(settings, seating, policies(seating.seats))
        slow = play_at_table(settings, seating)
        assert (fast.seating, fast.scores, fast.place, fast.moves) == (
            slow.seating,
            slow.scores,
            slow.place,
            slow.moves,
        )
        assert fast.slowest == (0.0,) * players
        assert all(seconds > 0 for seconds in fast.seconds)


def test_long_games_extend_the_log_and_the_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every array is exhausted many times, in the middle of turns."""
    monkeypatch.setattr(bulk, "MORE_WORDS", 2)
    monkeypatch.setattr(bulk, "FIRST_LENGTH", 1)
    variant = find_variant(GAMES[0], 2)
    bots = policies(("greedy", "random"))
    first, second = (BulkGames(variant).play("extended", bots, noise=0.4) for _ in range(2))
    expected = bulk_games(variant).play("extended", bots, noise=0.4)
    for found in (first, second):
        assert found.actions.tolist() == expected.actions.tolist()
        assert found.noisy.tolist() == expected.noisy.tolist()
        assert found.states.tobytes() == expected.states.tobytes()


def test_only_games_of_simple_bots_are_played_in_bulk() -> None:
    simple = [name for name in PLAYERS if policies_of((name,)) is not None]
    assert sorted(simple) == sorted(SIMPLE)
    assert policies_of(("greedy@1s",)) is not None
    assert policies_of(("greedy", "instant")) is None
    assert policies_of(("greedy", "engine:true")) is None


def test_record_writer_checks_names() -> None:
    with pytest.raises(Exception, match="1 names for 2 seats"):
        RecordWriter(find_variant(GAMES[0], 2), ["Ann"])


def test_words_are_the_bits_of_the_generator() -> None:
    one, many = Generator("words", 3), Generator("words", 3)
    expected = [one.bits() for _ in range(5)]
    words = many.words(5)
    assert [int.from_bytes(words[8 * n : 8 * n + 8], "big") for n in range(5)] == expected
    assert one == many
