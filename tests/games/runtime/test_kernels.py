"""Kernels: every loop has example arguments and is built once per game."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

from axiogames.analysis.review import review_loops
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
from axiogames.players.search import search_loops
from benchmarks.search import parts

EVERY = (
    *loops.LOOPS,
    loops.random_playouts,
    loops.greedy_playouts,
    *rollout_loops.LOOPS,
    *search_loops.LOOPS,
    *review_loops.LOOPS,
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
    """Add two numbers."""
    return first + second


def unmarked(constants: Any, states: Any) -> None:
    """A function without `@loop`."""


def flat(arguments: Iterable[Any]) -> Iterator[Any]:
    """Yield arguments, and the fields of those that are records."""
    for argument in arguments:
        yield from flat(argument) if isinstance(argument, tuple) else (argument,)


@pytest.mark.parametrize("template", EVERY, ids=lambda template: template.__name__)
def test_every_argument_of_a_loop_has_an_example(template: Callable[..., Any]) -> None:
    assert all(arguments_of(template).values())
    for game in GAMES:
        kernels = find_variant(game, 2).kernels
        values = list(flat(kernels.examples(template)))
        assert all(isinstance(value, np.ndarray | np.float32 | int) for value in values)
        types = [value.dtype for value in values if isinstance(value, np.ndarray)]
        if loop_of(template).bound:
            assert types[0] == kernels.constants_type
            assert kernels.state_type in types
        else:
            assert types[0] != kernels.constants_type
            assert kernels.state_type not in types


def test_loops_without_rules_are_compiled_once_for_all_games() -> None:
    templates = [template for template in EVERY if not loop_of(template).bound]
    assert templates
    if INTERPRETED:
        return
    for template in templates:
        built = [find_variant(game, 2).kernels[template] for game in GAMES]
        assert len({str(one._cache.cache_path) for one in built}) == 1


def test_arguments_without_annotation_need_an_example() -> None:
    kernels, observation = find_variant(GAMES[0], 2).kernels, (np.zeros((2, 3, 4), np.int8),)
    unannotated = [name for name, argument in arguments_of(step_and_observe).items() if argument is None]
    assert unannotated == ["observation"]
    assert any(
        argument is observation for argument in kernels.examples(step_and_observe, observation=observation)
    )
    with pytest.raises(TypeError, match="`observation` has no annotation and no example"):
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


def test_array_annotation_sets_the_dimensions() -> None:
    example = array(np.int16, 3).example(find_variant(GAMES[0], 2).kernels)
    assert (example.ndim, example.dtype) == (3, np.int16)


def test_loops_are_built_once_on_first_use() -> None:
    variant = find_variant(GAMES[0], 2)
    kernels = variant.kernels
    kernels.pop(total, None)
    bound = kernels[total]
    assert bound is kernels[total]
    assert kernels.compile([total, total]) == 2
    assert kernels[total] is bound
    assert bound is not find_variant(GAMES[1], 2).kernels[total]
    assert bound(variant.constants, allocate(variant.opening.dtype), 4, 5) == 9
    assert INTERPRETED or len(bound.signatures) == 1  # the call needed no other types


def test_functions_without_loop_decorator_are_refused() -> None:
    with pytest.raises(TypeError, match="unmarked is not a loop"):
        find_variant(GAMES[0], 2).kernels[unmarked]


def test_loops_with_equal_counting_share_parts() -> None:
    kernels = find_variant(GAMES[0], 2).kernels
    assert kernels.with_parts(()) is kernels.rules
    assert kernels.with_parts(rollout_loops.PARTS) is kernels.with_parts(rollout_loops.PARTS)
    longer = kernels.with_parts(loop_of(parts.trace).parts)
    assert longer["rollout"] is kernels.with_parts(rollout_loops.PARTS)["rollout"]
    counted, uncounted = (kernels.with_parts(loops.PARTS, counted) for counted in (True, False))
    assert counted["resolve_chance"] is not uncounted["resolve_chance"]
