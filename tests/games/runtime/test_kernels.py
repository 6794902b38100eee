"""Loops say what they are compiled for, and every game has each of them once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

from axiogames.analysis.solve.beam import expand, follow
from axiogames.batch.loops import LOOPS
from axiogames.envs.openspiel.resampling import resample_one
from axiogames.envs.openspiel.returns import write_returns
from axiogames.envs.single import step_and_observe
from axiogames.games import GAMES, find_variant
from axiogames.games.runtime import loops
from axiogames.games.runtime.compile import INTERPRETED
from axiogames.games.runtime.signatures import (
    Constants,
    GameArrays,
    Int,
    States,
    arguments_of,
    array,
    loop,
    loop_of,
    record_argument,
)
from axiogames.games.runtime.state import allocate
from axiogames.players.evaluation import rollout_loops
from benchmarks.search import parts

EVERY = (
    *loops.LOOPS,
    loops.random_playouts,
    loops.greedy_playouts,
    *rollout_loops.LOOPS,
    rollout_loops.self_play,
    rollout_loops.play_matches,
    *LOOPS,
    write_returns,
    resample_one,
    expand,
    follow,
    parts.trace,
    parts.repeat,
)


@loop
def total(constants: Constants, states: States, first: Int, second: Int):  # type: ignore[no-untyped-def]
    """Something that needs no rules."""
    return first + second


def unmarked(constants: Any, states: Any) -> None:
    """No loop."""


def flat(arguments: Iterable[Any]) -> Iterator[Any]:
    """Yield arguments, and the fields of those that are records."""
    for argument in arguments:
        yield from flat(argument) if isinstance(argument, tuple) else (argument,)


@pytest.mark.parametrize("template", EVERY, ids=lambda template: template.__name__)
def test_every_argument_of_a_loop_has_an_example(template: Callable[..., Any]) -> None:
    assert all(arguments_of(template).values())
    for game in GAMES:
        kernels = find_variant(game, 2).kernels
        constants, *others = kernels.examples(template)
        assert constants.dtype == kernels.constants_type
        values = list(flat(others))
        assert all(isinstance(value, np.ndarray | np.float32 | int) for value in values)
        assert any(value.dtype == kernels.state_type for value in values if isinstance(value, np.ndarray))


def test_what_an_annotation_leaves_open_is_given() -> None:
    kernels, observation = find_variant(GAMES[0], 2).kernels, (np.zeros((2, 3, 4), np.int8),)
    open_ones = [name for name, argument in arguments_of(step_and_observe).items() if argument is None]
    assert open_ones == ["observation"]
    assert any(
        argument is observation for argument in kernels.examples(step_and_observe, observation=observation)
    )
    with pytest.raises(TypeError, match="nobody says what `observation` is"):
        kernels.examples(step_and_observe)


class Unknown(NamedTuple):
    known: Int
    open: Any


def test_records_have_an_example_of_each_field() -> None:
    kernels = find_variant(GAMES[0], 2).kernels
    named, plain = (record_argument(GameArrays, plain).example(kernels) for plain in (False, True))
    assert isinstance(named, GameArrays)
    assert type(plain) is tuple
    for fields in (named, plain):
        assert [field.dtype for field in fields] == [kernels.state_type, kernels.state_type, np.uint64]
    with pytest.raises(TypeError, match="Unknown: the annotation of `open` names no argument type"):
        record_argument(Unknown)


def test_the_dimensions_of_an_array_are_those_that_were_said() -> None:
    example = array(np.int16, 3).example(find_variant(GAMES[0], 2).kernels)
    assert (example.ndim, example.dtype) == (3, np.int16)


def test_a_loop_is_made_once_when_it_is_asked_for() -> None:
    variant = find_variant(GAMES[0], 2)
    kernels = variant.kernels
    kernels.pop(total, None)
    made = kernels[total]
    assert made is kernels[total]
    assert kernels.compile([total, total]) == 2
    assert kernels[total] is made
    assert made is not find_variant(GAMES[1], 2).kernels[total]
    assert made(variant.constants, allocate(variant.opening.dtype), 4, 5) == 9
    assert INTERPRETED or len(made.signatures) == 1  # it was compiled for what it was called with


def test_what_is_no_loop_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="unmarked is no loop"):
        find_variant(GAMES[0], 2).kernels[unmarked]


def test_loops_share_the_parts_that_count_alike() -> None:
    kernels = find_variant(GAMES[0], 2).kernels
    assert kernels.with_parts(()) is kernels.rules
    assert kernels.with_parts(rollout_loops.PARTS) is kernels.with_parts(rollout_loops.PARTS)
    longer = kernels.with_parts(loop_of(parts.trace).parts)
    assert longer["rollout"] is kernels.with_parts(rollout_loops.PARTS)["rollout"]
    counted, others = (kernels.with_parts(loops.PARTS, counted) for counted in (True, False))
    assert counted["resolve_chance"] is not others["resolve_chance"]
