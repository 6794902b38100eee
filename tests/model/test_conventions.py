"""Public classes copy, pickle, compare, hash and print as Python programmers expect."""

from __future__ import annotations

import copy
import importlib
import inspect
import pickle
import pydoc
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence

import axiogames as axio
from axiogames.batch import Batch
from axiogames.envs import momaland, pettingzoo
from axiogames.envs.gymnasium import SoloEnv, SoloVectorEnv
from axiogames.errors import AxioError, IllegalMove, InvalidBatchInput, InvalidEnvironment, ParseError, Reason
from axiogames.games import GAMES, find_variant
from axiogames.model.events import Place, Result
from axiogames.model.position import Moves, Preview
from axiogames.players import PLAYERS, Budget, player
from axiogames.players.bots.levels import SampledMoves

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)
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
def test_copies_of_tables_are_independent(game: str, again: Callable[[Any], Any]) -> None:
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
def test_copies_of_positions_views_and_moves_are_equal(game: str, again: Callable[[Any], Any]) -> None:
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
@pytest.mark.parametrize("compact", [False, True])
@each_game
def test_variants_are_singletons(game: str, compact: bool, again: Callable[[Any], Any]) -> None:
    variant = find_variant(game, 3)
    chosen = variant.compact if compact else variant
    assert again(chosen) is chosen
    assert chosen.compact is variant.compact


@each_way
def test_options_distinguish_variants(again: Callable[[Any], Any]) -> None:
    declared = [(game, option.name) for game in GAMES for option in axio.game(game).options]
    assert declared
    for game, option in declared:
        variant = find_variant(game, 2, {option: True})
        assert again(variant) is variant
        assert again(variant) is not find_variant(game, 2)


@each_way
def test_copies_of_generators_continue(again: Callable[[Any], Any]) -> None:
    rng = axio.Generator("seven")
    rng.randint(100)
    other = again(rng)
    assert other == rng
    assert [other.randint(1000) for _ in range(5)] == [rng.randint(1000) for _ in range(5)]
    other.randint(2)
    assert other != rng
    assert rng != "seven"


@each_way
@each_game
def test_copies_of_batches_are_independent(game: str, again: Callable[[Any], Any]) -> None:
    batch = Batch(game, players=2, games=3, seed=4, reward="win", auto_reset=False)
    batch.step(batch.sample())
    other = again(batch)
    assert repr(other) == repr(batch)
    assert (other.auto_reset, other.reward, other.variant) == (False, "win", batch.variant)
    before = batch.states.tobytes()
    for _ in range(2):
        other.step(other.sample())
    assert batch.states.tobytes() == before
    for _ in range(2):
        batch.step(batch.sample())
    assert batch.states.tobytes() == other.states.tobytes()
    assert batch.rngs.tobytes() == other.rngs.tobytes()


@pytest.mark.slow
def test_copy_of_a_compact_batch_is_compact() -> None:
    batch = Batch(GAMES[0], games=2, compact=True)
    assert copy.copy(batch).variant is batch.variant
    assert batch.variant is not find_variant(GAMES[0])


@each_way
@each_game
def test_copies_of_environments_are_independent(game: str, again: Callable[[Any], Any]) -> None:
    for make in (pettingzoo.raw_env, pettingzoo.env, *((momaland.env,) if game != "trio" else ())):
        env = make(game, 2)
        env.reset(seed=1)
        env.step(first_legal(env.last()[0]["action_mask"]))
        other = again(env)
        assert type(other) is type(env)
        before = env.unwrapped._game.states.tobytes(), env.agent_selection, copy.deepcopy(env.last())
        for _ in range(2):
            other.step(first_legal(other.last()[0]["action_mask"]))
        now = env.unwrapped._game.states.tobytes(), env.agent_selection, env.last()
        assert data_equivalence(now, before, exact=True)
        for _ in range(2):
            env.step(first_legal(env.last()[0]["action_mask"]))
        assert data_equivalence(env.last(), other.last(), exact=True)
        other.reset(seed=2)
        assert env.unwrapped._game.states.tobytes() != other.unwrapped._game.states.tobytes()


@each_way
@each_game
def test_copies_of_solo_environments_are_independent(game: str, again: Callable[[Any], Any]) -> None:
    env = SoloEnv(game)
    env.reset(seed=1)
    other = again(env)
    before = env._game.states.tobytes()
    expected = other.step(first_legal(other.action_masks()))
    assert env._game.states.tobytes() == before
    assert data_equivalence(env.step(first_legal(env.action_masks())), expected, exact=True)


@each_way
@each_game
def test_copies_of_vector_environments_are_independent(game: str, again: Callable[[Any], Any]) -> None:
    envs = SoloVectorEnv(game, 3)
    envs.reset(seed=1)
    envs.step(np.array([-1, *envs._batch.masks().argmax(axis=1)[1:]]))  # an illegal action ends the first
    other = again(envs)
    before = envs._batch.states.tobytes(), envs._masks.tobytes()
    steps = [other.step(other._batch.masks().argmax(axis=1)) for _ in range(3)]
    assert (envs._batch.states.tobytes(), envs._masks.tobytes()) == before
    for expected in steps:
        assert data_equivalence(envs.step(envs._batch.masks().argmax(axis=1)), expected, exact=True)


def first_legal(mask: np.ndarray) -> int:
    return int(mask.argmax())


# ------------------------------------------------------------ all public classes


@cache
def public() -> dict[str, Any]:
    """Return one object of every public class, by class name."""
    table = begun("axio")
    view, move = table.view(table.turn), table.legal_moves()[0]
    batch = Batch("rota", games=2, seed=1)
    played = Batch("rota", games=2, seed=1)
    things = [
        table, axio.Position.parse(table.position), view, table.legal_moves(), move, table.preview(move),
        axio.Generator(3), table.variant, axio.game("axio"), axio.record_of(table), Reason.GAME_OVER,
        *table.events, IllegalMove(move, Reason.OCCUPIED), table.content(), table.scene(), *table.laid(),
        Result(({"R": 1},), (1,), (0,)), batch, played.step(played.sample()), batch.observe(),
        batch.step_and_observe(batch.sample()), batch.observation, batch.observation.board, Budget(),
        player("greedy").choose(view, Budget(), axio.Generator(1)),
        *(player(name) for name in (*PLAYERS, "sim@1s")),
        pettingzoo.raw_env("rota"), pettingzoo.env("rota"), momaland.env("rota"), SoloEnv("rota"),
        SoloVectorEnv("rota", 2),
    ]  # fmt: skip
    return {type(thing).__name__: thing for thing in things}


PUBLIC = [
    "Balanced", "Batch", "BatchObservation", "BatchStep", "BoardLayout", "Budget", "Choice", "Content",
    "DominoVariant", "Draw", "FixedBudget", "FlatMonteCarlo", "Game", "GameEnv", "Generator", "Greedy",
    "IllegalMove", "Instant", "Level", "Move", "Moves", "Observation", "Place", "PlacedTile", "Position",
    "Preview", "Random", "Reason", "Record", "Result", "SafeEnv", "SampledMoves", "Scene", "Sim",
    "SoloEnv", "SoloVectorEnv", "StepObservation", "Table", "View",
]  # fmt: skip
each_public = pytest.mark.parametrize("name", PUBLIC)
# Mutable: compare by value and are not hashable.
CHANGES = {"Table", "Generator", "BatchStep", "BatchObservation", "StepObservation"}
# Compare by identity, like the players and environments.
BY_IDENTITY = {"Batch", "IllegalMove", "SafeEnv", "GameEnv", "SoloEnv", "SoloVectorEnv"} | {
    type(player(name)).__name__ for name in (*PLAYERS, "sim@1s") if type(player(name)) is not SampledMoves
}


def test_all_exported_classes_are_tested() -> None:
    exported = {name for name in axio.__all__ if inspect.isclass(getattr(axio, name))}
    assert exported - {"AxioError"} <= set(PUBLIC)
    assert set(public()) == set(PUBLIC)
    assert not (CHANGES | BY_IDENTITY).difference(PUBLIC)


@each_public
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_public_class_pickles_with_every_protocol(name: str, protocol: int) -> None:
    thing = public()[name]
    other = pickle.loads(pickle.dumps(thing, protocol))
    assert type(other) is type(thing)
    if name not in BY_IDENTITY:
        assert other == thing
        assert (other != thing) is False


@each_public
def test_public_classes_compare_hash_and_print(name: str) -> None:
    thing = public()[name]
    same = copy.deepcopy(thing)
    assert (same == thing) == (name not in BY_IDENTITY)
    assert (same != thing) == (name in BY_IDENTITY)
    assert thing != "something else"
    assert thing is not None
    if name in CHANGES:
        with pytest.raises(TypeError, match="unhashable"):
            hash(thing)
    else:
        assert hash(thing) == hash(thing)
        if name not in BY_IDENTITY:
            assert hash(same) == hash(thing)
    assert isinstance(repr(thing), str)
    assert repr(thing)
    if name not in BY_IDENTITY:
        assert repr(same) == repr(thing)
        assert " object at 0x" not in repr(thing)
    listed = dir(thing)
    assert "__class__" in listed
    for attribute in listed:
        if not attribute.startswith("_"):
            # Environments have all listed attributes after the first reset only.
            with suppress(*([AttributeError] if name in {"SafeEnv", "GameEnv", "SoloEnv"} else [])):
                getattr(thing, attribute)


def test_batch_results_compare_by_value() -> None:
    a, b = (Batch("rota", games=2, seed=1) for _ in range(2))
    first, second = a.step(a.sample()), b.step(b.sample())
    assert first == second
    assert a.observe() == b.observe()
    assert a.step_and_observe(a.sample()) != a.step(a.sample())
    second.rewards[0] += 1
    assert first != second
    assert (first == second) is False
    assert first != tuple(first)
    assert a.observation == Batch("rota", games=3).observation
    assert a.observation != Batch("hex").observation
    assert a.observation.board != "board"


# ------------------------------------------------------------ damaged pickles


def damages(array: np.ndarray) -> dict[str, Any]:
    """Return invalid versions of an array."""
    return {
        "type": array.astype([(name, "i8") for name in array.dtype.names]) if array.dtype.names
        else array.astype(np.complex128),
        "bytes": np.frombuffer(array.tobytes(), np.uint8).copy(),
        "objects": np.array([None] * len(array), object),
        "short": array[:0].copy(),
        "long": np.concatenate([array, array]),
        "list": array.tolist(),
        "none": None,
    }  # fmt: skip


def wrong_states(state: np.ndarray) -> list[np.ndarray]:
    """Return states of the right type that no game reaches; compiled rules would write out of bounds."""
    found = []
    for field, value in (("seat", 200), ("phase", 77), ("hands", 99), ("held", 100), ("due", 100)):
        changed = state.copy()
        changed[field][:1] = value
        found.append(changed)
    return found


class Damaged:
    """An object that pickles as an instance of `kind` with a given state."""

    def __init__(self, kind: type, state: Any) -> None:
        self.kind, self.state = kind, state

    def __reduce__(self) -> Any:
        return object.__new__, (self.kind,), self.state


def loaded(kind: type, state: Any) -> Any:
    return pickle.loads(pickle.dumps(Damaged(kind, state)))


@each_game
def test_a_damaged_pickle_of_a_position_is_refused(game: str) -> None:
    table = begun(game)
    for thing in (axio.Position.parse(table.position), table.view(0)):
        whole = vars(thing)
        assert loaded(type(thing), whole) == thing
        for state in (*damages(thing.state).values(), *wrong_states(thing.state)):
            with pytest.raises(ParseError):
                loaded(type(thing), whole | {"state": state})
        other = find_variant(next(name for name in GAMES if name != game), 2)
        for variant in (other, None, "axio"):
            with pytest.raises(ParseError):
                loaded(type(thing), whole | {"variant": variant})
        with pytest.raises(ParseError):
            loaded(type(thing), {})


@each_game
def test_a_damaged_pickle_of_a_table_is_refused(game: str) -> None:
    table = begun(game)
    whole = table.__getstate__()
    again = loaded(axio.Table, whole)
    assert (again, again.position, again.events) == (table, table.position, table.events)
    actions = table.actions
    for wrong in (
        [*actions[:-1], 10**6], [*actions[:-1], -1], [10**30], ["x"], [1.5], None, [*actions, actions[0]],
        [True, *actions[1:]], np.array(actions), tuple(actions),
    ):  # fmt: skip
        with pytest.raises(ParseError):
            loaded(axio.Table, whole | {"actions": wrong})
    for changed in ({"_moves": [0]}, {"_moves": None}, {"variant": None}, {"seed": "\ud800"}):
        with pytest.raises(ParseError):
            loaded(axio.Table, whole | changed)


@each_game
def test_a_damaged_pickle_of_moves_is_refused(game: str) -> None:
    moves = begun(game).legal_moves()
    restore, (position, actions) = moves.__reduce__()
    assert restore(position, actions[::-1].copy()) == moves[::-1]
    for wrong in (actions + 1_000_000, -1 - actions, actions.astype(np.int64), actions[None], list(actions)):
        with pytest.raises(ParseError):
            restore(position, wrong)


@pytest.mark.parametrize(
    ("game", "compact"),
    [
        *((game, False) for game in GAMES),
        # Compiled for these tests only. Other games have one layout.
        pytest.param(GAMES[0], True, marks=pytest.mark.slow),
        pytest.param(GAMES[1], True, marks=pytest.mark.slow),
    ],
)
def test_a_damaged_pickle_of_a_batch_is_refused(game: str, compact: bool) -> None:
    batch = Batch(game, players=2, games=3, seed=4, auto_reset=False, compact=compact)
    batch.step(batch.sample())
    restore, (settings, contents) = batch.__reduce__()
    assert restore(settings, contents).states.tobytes() == batch.states.tobytes()
    for n, array in enumerate(contents):
        for wrong in (*damages(array).values(), np.concatenate([array, array])[::2]):
            with pytest.raises(InvalidBatchInput):
                restore(settings, [*contents[:n], wrong, *contents[n + 1 :]])
    for states in wrong_states(contents[0]):
        with pytest.raises(InvalidBatchInput, match="game 0 of the batch"):
            restore(settings, [states, *contents[1:]])
    for wrong in (contents[1:], None, [contents[0], np.zeros_like(contents[1]), *contents[2:]]):
        with pytest.raises(InvalidBatchInput):
            restore(settings, wrong)
    while not batch.over.all():
        batch.step(batch.sample())
    assert restore(*batch.__reduce__()[1]).over.all()


@each_game
def test_a_damaged_pickle_of_an_environment_is_refused(game: str) -> None:
    env = SoloEnv(game)
    env.reset(seed=1)
    single = env._game
    whole = single.__getstate__()
    assert loaded(type(single), whole).states.tobytes() == single.states.tobytes()
    for name, array in whole["arrays"].items():
        for wrong in (*damages(array).values(), *(wrong_states(array) if name == "states" else ())):
            with pytest.raises(InvalidEnvironment):
                loaded(type(single), whole | {"arrays": whole["arrays"] | {name: wrong}})
    env.step(-1)  # an illegal action ends the game
    assert pickle.loads(pickle.dumps(env)).view().over


# ------------------------------------------------------------ errors


def every_error() -> list[type[AxioError]]:
    found, left = [], [AxioError]
    while left:
        kind = left.pop()
        found.append(kind)
        left += kind.__subclasses__()
    return sorted(found, key=lambda kind: (kind.__module__, kind.__qualname__))


def example_of(kind: type[AxioError]) -> AxioError:
    """Return an error with a value for each parameter of its constructor."""
    values: dict[str, Any] = {"reason": Reason.GAME_OVER, "event": 3, "folder": Path("here"), "url": "there"}
    if kind.__init__ is ValueError.__init__:
        return kind("message")
    names = [
        name
        for name, parameter in inspect.signature(kind.__init__).parameters.items()
        if name != "self" and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]
    return kind(*(values.get(name, f"some {name}") for name in names))


@each_way
def test_errors_can_be_copied_and_pickled(again: Callable[[Any], Any]) -> None:
    importlib.import_module("axiogames.server.app")  # defines more errors
    kinds = every_error()
    assert {"IllegalMove", "InvalidRecord", "EngineTerminated", "Refused"} <= {
        kind.__name__ for kind in kinds
    }
    for kind in kinds:
        error = example_of(kind)
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
def test_views_compare_by_content(game: str) -> None:
    table = begun(game)
    assert table.view(0) == table.view(0)
    assert hash(table.view(0)) == hash(table.view(0))
    assert table.view(0) != table.view(1)
    assert table.view(0) != table.view(None)
    assert table.view(0) != axio.Position.parse(table.view(0).position)
    assert table.view(0) != table.view(0, since=1)


@each_game
def test_tables_compare_by_history(game: str) -> None:
    assert begun(game) == begun(game)
    assert begun(game) != begun(game, 2)
    assert begun(game) != begun(game, seed=6)
    assert begun(game, 0) != axio.new_game(game, players=3, seed=5)
    with pytest.raises(TypeError, match="unhashable"):
        hash(begun(game))


@each_game
def test_moves_compare_by_content(game: str) -> None:
    table = begun(game)
    moves = table.legal_moves()
    assert moves == table.legal_moves()
    assert hash(moves) == hash(table.legal_moves())
    assert moves == table.view(table.turn).legal_moves()
    assert moves[1:] == table.legal_moves()[1:]
    assert moves[1:] != moves
    assert moves != tuple(moves)


@each_game
def test_legal_moves_do_not_change_with_the_table(game: str) -> None:
    table = begun(game)
    moves = table.legal_moves()
    listed = tuple(moves)
    table.play(moves[0])
    assert tuple(moves) == listed
    assert isinstance(moves, Moves)
    assert listed[0] in moves


@each_game
def test_only_legal_moves_are_in_moves(game: str) -> None:
    table = begun(game)
    moves: Any = table.legal_moves()
    for move in (*moves[:20], *moves[-5:]):
        assert move in moves
        assert str(move) in moves
    assert moves[0] not in moves[1:]
    for other in (
        "foo", "", " ", "\0", "GR", "GR z9-z8", "ZZ a1-a2", "exchange ZZ", "x" * 10_000, "\ud800", None, 0,
        -1, 1.5, b"keep", [], {}, (), moves, table, ("GR", "k8"), moves.actions, float("nan"), object(),
        axio.Move, axio.Move("place"), axio.Move("place", "ZZ", ("a1", "a2")),
    ):  # fmt: skip
        assert other not in moves
    assert moves[0] not in axio.new_game(game, players=2, seed=5).legal_moves()[:0]
    over = begun(game)
    while not over.over:
        over.play(over.legal_moves()[0])
    assert not over.legal_moves().__contains__("foo")
    assert moves[0] not in over.legal_moves()


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


def test_dir_and_help_show_the_public_names() -> None:
    assert dir(axio) == sorted(axio.__all__)
    text = pydoc.plain(pydoc.render_doc(axio))
    for name in set(axio.__all__) - {"__version__"}:
        value = getattr(axio, name)
        prefix = "class " if inspect.isclass(value) else ""
        assert f"{prefix}{name}{'(' if callable(value) else ' ='}" in text
    assert "TYPE_CHECKING" not in text


@pytest.mark.parametrize("name", axio.__all__)
def test_public_members_have_docstrings(name: str) -> None:
    value = getattr(axio, name)
    if inspect.isclass(value):
        members = [member for key, member in vars(value).items() if not key.startswith("_")]
        for member in members:
            assert member.__doc__ or not (inspect.isfunction(member) or isinstance(member, property)), member
    assert value.__doc__


# ------------------------------------------------------------ batches


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
@pytest.mark.parametrize("seat", [-1, -128, 2, 100])
def test_batch_refuses_unknown_seats(dtype: type, seat: int) -> None:
    batch = Batch(GAMES[0], players=2, games=4, seed=1)
    with pytest.raises(InvalidBatchInput, match="seats must be from 0 to 1"):
        batch.observe(np.full(4, seat, dtype))


@pytest.mark.parametrize("dtype", [np.uint16, np.uint64])
def test_batch_refuses_seats_beyond_a_byte(dtype: type) -> None:
    batch = Batch(GAMES[0], players=2, games=4, seed=1)
    for seat in (256, 257, 2**16 - 1):
        with pytest.raises(InvalidBatchInput, match="seats must be from 0 to 1"):
            batch.observe(np.full(4, seat, dtype))
