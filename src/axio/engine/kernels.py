"""The compiled loops of one game, made when they are first asked for."""

from __future__ import annotations

import sys
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np

from . import loops, thinking
from .compile import INTERPRETED, bind, is_ready, mark_ready, part
from .lots import seeded
from .minds import desk_dtype, mind_dtype

HOOKS = (
    "action_for",
    "add_hidden",
    "apply",
    "count_legal",
    "goes_on",
    "gone",
    "greediest",
    "hope",
    "instead",
    "keen",
    "lay",
    "legal",
    "lot",
    "mark_legal",
    "nth_legal",
    "number_for",
    "others",
    "outlook",
    "pick",
    "rate",
    "refusal",
    "show_board",
    "show_counters",
)
# No loop, and loops that only training and measuring need.
NOT_FOR_PLAYING = ("thinking_rules", "self_play", "contest", "random_playouts", "greedy_playouts")


class Kernels:
    """The loops of `engine.loops`, bound to a game's rules and compiled for one layout of its state.

    Python calls them with arrays: tables, states and buffers. The first time on a machine a loop is
    compiled, which takes seconds and is said on standard error; afterwards it comes from the cache.
    """

    def __init__(self, label: str, rules: dict[str, Any], tables: Any, state: np.dtype[Any]) -> None:
        self.label = label
        self._announced = False
        self.rules = rules
        self.tables_type: np.dtype[Any] = tables.dtype
        self.state_type = state
        self._tables = tables
        self._states = np.zeros(1, state)
        self._actions = np.zeros(1, np.int32)

    @cached_property
    def step(self) -> Any:
        return self._make(loops.step, self._tables, self._states, 0, False)

    @cached_property
    def list_legal(self) -> Any:
        return self._make(loops.list_legal, self._tables, self._states, self._actions)

    @cached_property
    def rate_all(self) -> Any:
        gains = np.zeros((1, 1), np.int16)
        return self._make(loops.rate_all, self._tables, self._states, self._actions, 0, gains)

    @cached_property
    def lay_all(self) -> Any:
        places = np.zeros(1, np.int64)
        return self._make(loops.lay_all, self._tables, self._states, places, places, 0)

    @cached_property
    def random_playouts(self) -> Any:
        return self._make_game(loops.random_playouts)

    @cached_property
    def greedy_playouts(self) -> Any:
        return self._make_game(loops.greedy_playouts)

    # ------------------------------------------------------------ thinking, in `engine.thinking`

    @cached_property
    def thinking_rules(self) -> dict[str, Any]:
        """The rules, and with them the parts that thinking is made of."""
        return self.with_parts(thinking.PARTS)

    @cached_property
    def _minds(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        tracks = self._states["scores"].shape[-1]
        return np.zeros(1, mind_dtype(tracks)), np.zeros(1, desk_dtype(tracks)), self._actions

    @cached_property
    def glance_at(self) -> Any:
        return self._make_thinking(thinking.glance_at, self._tables, self._states, 0, *self._minds)

    @cached_property
    def keenest_at(self) -> Any:
        mind, desk, _ = self._minds
        return self._make_thinking(thinking.keenest_at, self._tables, self._states, seeded(0), mind, desk)

    @cached_property
    def roll_out(self) -> Any:
        mind, desk, room = self._minds
        sums, points = np.zeros(1, np.float64), np.zeros((1, 1, 1), np.float64)
        seeds, lots, late = np.zeros(1, np.uint64), np.zeros((1, 2), np.int64), np.float32(0)
        return self._make_thinking(
            thinking.roll_out, self._tables, self._states, room, 0, seeds, 0, late, lots, lots, mind, desk,
            room, sums, sums, points,
        )  # fmt: skip

    @cached_property
    def self_play(self) -> Any:
        inputs, results = np.zeros((1, 1), np.float32), np.zeros(1, np.float32)
        owners = np.zeros(1, np.int64)
        return self._make_thinking(
            thinking.self_play, self._tables, self._states, self._states, 0, 0, seeded(0), *self._minds,
            inputs, results, owners, 0,
        )  # fmt: skip

    @cached_property
    def contest(self) -> Any:
        keeps, points = np.zeros(1, np.int64), np.zeros(1, np.float64)
        return self._make_thinking(
            thinking.contest,
            self._tables,
            self._states,
            self._states,
            keeps,
            0,
            seeded(0),
            *self._minds,
            points,
        )

    def compile_all(self) -> int:
        """Make all loops ready that playing needs; how many there are."""
        names = [
            name
            for name, value in vars(type(self)).items()
            if isinstance(value, cached_property) and not name.startswith("_") and name not in NOT_FOR_PLAYING
        ]
        for name in names:
            getattr(self, name)
        return len(names)

    def with_parts(self, parts: tuple[Any, ...]) -> dict[str, Any]:
        """The rules, and with them templates that are parts of loops."""
        rules = dict(self.rules)
        for template in parts:
            rules[template.__name__] = part(template, rules)
        return rules

    def make(self, loop: Any, rules: dict[str, Any], *arguments: Any, counted: bool = True) -> Any:
        """A loop with these rules, compiled for such arguments."""
        return self._compiled(bind(loop, rules, counted=counted), arguments)

    def _make(self, loop: Any, *arguments: Any) -> Any:
        return self.make(loop, self.rules, *arguments)

    def _make_game(self, loop: Any) -> Any:
        rules = self.with_parts(loops.PARTS)
        return self.make(loop, rules, self._tables, self._states, self._states, seeded(0), 0)

    def _make_thinking(self, loop: Any, *arguments: Any) -> Any:
        return self.make(loop, self.thinking_rules, *arguments)

    def _compiled(self, bound: Any, arguments: tuple[Any, ...]) -> Any:
        if not INTERPRETED:
            self._compile(bound, arguments)
        return bound

    def _compile(self, bound: Any, arguments: tuple[Any, ...]) -> None:
        from numba import typeof

        name = f"{self.label}.{bound.py_func.__name__}"
        if not self._announced and not is_ready(name):
            self._announced = True
            print(
                f"axio: compiling the rules of {self.label}, once on this machine ...",
                file=sys.stderr,
                flush=True,
            )
        bound.compile(tuple(typeof(argument) for argument in arguments))  # type: ignore[no-untyped-call]
        mark_ready(name)


def hooks(*modules: ModuleType) -> dict[str, Any]:
    """A game's rules by the names that the loops use, from the modules they stand in."""
    found = {}
    for name in HOOKS:
        (found[name],) = (vars(module)[name] for module in modules if _defines(module, name))
    return found


def _defines(module: ModuleType, name: str) -> bool:
    function = vars(module).get(name)
    return getattr(function, "__module__", None) == module.__name__
