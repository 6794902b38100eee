"""Public classes copy, pickle, compare, hash and print as Python programmers expect."""

from __future__ import annotations

import copy
import importlib
import inspect
import pickle
import pydoc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import axio
from axio.batch import Batch
from axio.errors import AxioError, IllegalMove, WrongBatch
from axio.events import Place, Result
from axio.games import GAMES, find_variant
from axio.position import Moves, Preview
from axio.reasons import Reason

WAYS: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda thing: pickle.loads(pickle.dumps(thing)),
}
each_way = pytest.mark.parametrize("again", WAYS.values(), ids=WAYS)
each_game = pytest.mark.parametrize("game", GAMES)


def begun(game: str, moves: int = 3, seed: int = 5) -> axio.Table:
    table = axio.new_game(game, players=2, seed=seed)
    for _ in range(moves):
        table.play(table.legal_moves()[0])
    return table


# ------------------------------------------------------------ copies and pickles


@each_way
@each_game
def test_a_copy_of_a_table_goes_its_own_way(game: str, again: Callable[[Any], Any]) -> None:
    table = begun(game)
    before, events = table.position, table.events
    other = again(table)
    assert other == table
    assert type(other) is axio.Table
    other.play(other.legal_moves()[0])
    assert (table.position, table.events) == (before, events)
    assert other != table
    table.play(table.legal_moves()[0])
    assert other == table
    assert other.events == table.events
    other.undo()
    assert other.position == before


@each_way
@each_game
def test_positions_views_and_moves_come_back_equal(game: str, again: Callable[[Any], Any]) -> None:
    table = begun(game)
    view = table.view(table.turn)
    for thing in (axio.Position.parse(table.position), view, view.legal_moves(), table.legal_moves()):
        other = again(thing)
        assert other == thing
        assert hash(other) == hash(thing)
        assert repr(other) == repr(thing)
    assert again(view).events == view.events
    assert (again(view).gains(again(view).legal_moves()) == view.gains(view.legal_moves())).all()


@each_way
@pytest.mark.parametrize("lean", [False, True])
@each_game
def test_a_variant_is_one_object(game: str, lean: bool, again: Callable[[Any], Any]) -> None:
    variant = find_variant(game, 3)
    chosen = variant.lean if lean else variant
    assert again(chosen) is chosen
    assert chosen.lean is variant.lean


@each_way
def test_options_are_part_of_a_variant(again: Callable[[Any], Any]) -> None:
    declared = [(game, option.name) for game in GAMES for option in axio.game(game).options]
    assert declared
    for game, option in declared:
        variant = find_variant(game, 2, {option: True})
        assert again(variant) is variant
        assert again(variant) is not find_variant(game, 2)


@each_way
def test_a_generator_goes_on_where_it_was(again: Callable[[Any], Any]) -> None:
    lots = axio.Generator("seven")
    lots.below(100)
    other = again(lots)
    assert other == lots
    assert [other.below(1000) for _ in range(5)] == [lots.below(1000) for _ in range(5)]
    other.below(2)
    assert other != lots
    assert lots != "seven"


@each_way
@each_game
def test_a_copy_of_a_batch_goes_its_own_way(game: str, again: Callable[[Any], Any]) -> None:
    batch = Batch(game, players=2, games=3, seed=4, reward="win", renew=False)
    batch.step(batch.sample())
    other = again(batch)
    assert repr(other) == repr(batch)
    assert (other.renew, other.reward, other.variant) == (False, "win", batch.variant)
    before = batch.states.tobytes()
    for _ in range(2):
        other.step(other.sample())
    assert batch.states.tobytes() == before
    for _ in range(2):
        batch.step(batch.sample())
    assert batch.states.tobytes() == other.states.tobytes()
    assert batch.rngs.tobytes() == other.rngs.tobytes()


def test_a_lean_batch_stays_lean() -> None:
    batch = Batch(GAMES[0], games=2, lean=True)
    assert copy.copy(batch).variant is batch.variant
    assert batch.variant is not find_variant(GAMES[0])


# ------------------------------------------------------------ errors


def every_error() -> list[type[AxioError]]:
    found, left = [], [AxioError]
    while left:
        kind = left.pop()
        found.append(kind)
        left += kind.__subclasses__()
    return sorted(found, key=lambda kind: (kind.__module__, kind.__qualname__))


def one_of(kind: type[AxioError]) -> AxioError:
    """An error with something for each parameter of its constructor."""
    given: dict[str, Any] = {"reason": Reason.GAME_OVER, "event": 3, "folder": Path("here"), "url": "there"}
    if kind.__init__ is ValueError.__init__:
        return kind("what was wrong")
    names = [
        name
        for name, parameter in inspect.signature(kind.__init__).parameters.items()
        if name != "self" and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]
    return kind(*(given.get(name, f"some {name}") for name in names))


@each_way
def test_every_error_comes_back_whole(again: Callable[[Any], Any]) -> None:
    importlib.import_module("axio.server.app")  # brings errors of its own
    kinds = every_error()
    assert {"IllegalMove", "BadRecord", "EngineGone", "Refused", "BadName"} <= {
        kind.__name__ for kind in kinds
    }
    for kind in kinds:
        error = one_of(kind)
        other = again(error)
        assert type(other) is kind
        assert (str(other), other.args, vars(other)) == (str(error), error.args, vars(error))


def test_an_illegal_move_from_a_table_can_be_pickled() -> None:
    table = axio.new_game(GAMES[0], seed=1)
    with pytest.raises(IllegalMove) as caught:
        table.play("RR z9-z8")
    other = pickle.loads(pickle.dumps(caught.value))
    assert other.reason is caught.value.reason
    assert other.move == caught.value.move
    assert str(other) == str(caught.value)


# ------------------------------------------------------------ equality and hashes


@each_game
def test_positions_compare_by_value(game: str) -> None:
    table = begun(game)
    parsed = axio.Position.parse(table.position)
    assert parsed == axio.Position.parse(table.position)
    assert hash(parsed) == hash(axio.Position.parse(table.position))
    assert parsed != axio.Position.parse(begun(game, 2).position)
    assert parsed != table.position
    assert len({parsed, axio.Position.parse(table.position)}) == 1


@each_game
def test_views_compare_by_what_they_know(game: str) -> None:
    table = begun(game)
    assert table.view(0) == table.view(0)
    assert hash(table.view(0)) == hash(table.view(0))
    assert table.view(0) != table.view(1)
    assert table.view(0) != table.view(None)
    assert table.view(0) != axio.Position.parse(table.view(0).position)
    assert table.view(0) != table.view(0, since=1)


@each_game
def test_tables_compare_by_their_games(game: str) -> None:
    assert begun(game) == begun(game)
    assert begun(game) != begun(game, 2)
    assert begun(game) != begun(game, seed=6)
    assert begun(game, 0) != axio.new_game(game, players=3, seed=5)
    with pytest.raises(TypeError, match="unhashable"):
        hash(begun(game))


@each_game
def test_moves_compare_by_what_they_list(game: str) -> None:
    table = begun(game)
    moves = table.legal_moves()
    assert moves == table.legal_moves()
    assert hash(moves) == hash(table.legal_moves())
    assert moves == table.view(table.turn).legal_moves()
    assert moves[1:] == table.legal_moves()[1:]
    assert moves[1:] != moves
    assert moves != tuple(moves)


@each_game
def test_moves_stay_what_they_were_when_the_table_goes_on(game: str) -> None:
    table = begun(game)
    moves = table.legal_moves()
    listed = tuple(moves)
    table.play(moves[0])
    assert tuple(moves) == listed
    assert isinstance(moves, Moves)
    assert listed[0] in moves


@each_game
def test_records_events_and_results_can_be_hashed(game: str) -> None:
    table = axio.new_game(game, players=2, seed=3)
    while not table.over:
        table.play(table.legal_moves()[0])
    record = axio.record_of(table, with_seed=True)
    again = axio.Record.parse(record.to_json())
    assert again == record
    assert hash(again) == hash(record)
    assert len({*record.events, *again.events}) == len(set(record.events))
    assert hash(Result(table.scores, (1, 2), (0,))) == hash(Result(table.scores, (1, 2), (0,)))
    ahead, behind = ({"R": 1, "G": 2}, {"G": 2, "R": 1})
    assert hash(Place(0, "RG", ("a1",), ahead)) == hash(Place(0, "RG", ("a1",), behind))
    assert hash(Preview(ahead)) == hash(Preview(behind))


# ------------------------------------------------------------ the module


def test_the_module_lists_what_it_has() -> None:
    assert set(axio.__all__) <= set(dir(axio))
    told = pydoc.plain(pydoc.render_doc(axio))
    for name in ("class Table", "class Position", "new_game(", "read_records("):
        assert name in told


# ------------------------------------------------------------ batches


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
@pytest.mark.parametrize("seat", [-1, -128, 2, 100])
def test_a_seat_that_does_not_exist_is_nobodys(dtype: type, seat: int) -> None:
    batch = Batch(GAMES[0], players=2, games=4, seed=1)
    with pytest.raises(WrongBatch, match="seats are 0 to 1"):
        batch.observe(np.full(4, seat, dtype))


@pytest.mark.parametrize("dtype", [np.uint16, np.uint64])
def test_a_seat_too_large_for_a_byte_is_nobodys(dtype: type) -> None:
    batch = Batch(GAMES[0], players=2, games=4, seed=1)
    for seat in (256, 257, 2**16 - 1):
        with pytest.raises(WrongBatch, match="seats are 0 to 1"):
            batch.observe(np.full(4, seat, dtype))
