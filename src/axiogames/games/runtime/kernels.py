"""The compiled loops of one game, made when they are first asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..protocol import Rules
from .compile import INTERPRETED, bind, bind_part, is_ready, mark_ready
from .signatures import Template, arguments_of, loop_of


class Kernels(dict[Template, Any]):
    """The loops of one game by their templates: `kernels[loops.step]` is `step` with the game's rules.

    Python calls them with arrays: tables, states and buffers. A loop is made when it is first asked for. The
    first time on a machine it is compiled, which takes seconds and is said on standard error; afterwards it
    comes from the cache.
    """

    def __init__(self, label: str, rules: Rules, constants: Any, state: np.dtype[Any]) -> None:
        super().__init__()
        self.label = label
        self._announced = False
        self.declared = rules
        self.rules = rules.by_name()
        self.constants = constants
        self.states = np.zeros(1, state)
        self.constants_type: np.dtype[Any] = constants.dtype
        self.state_type = state
        self.tracks: int = self.states["scores"].shape[-1]
        self._with_parts: dict[tuple[tuple[Template, ...], bool], dict[str, Any]] = {}

    def __missing__(self, template: Template) -> Any:
        made = self[template] = self.make(template, self.examples(template))
        return made

    def compile(self, templates: Iterable[Template]) -> int:
        """Make loops ready before they are needed; how many there are."""
        return len([self[template] for template in templates])

    def make(self, template: Template, arguments: Sequence[Any]) -> Any:
        """A loop for such arguments: anew with every call."""
        wanted = loop_of(template)
        bound = bind(template, self.with_parts(wanted.parts, wanted.counted), counted=wanted.counted)
        if not INTERPRETED:
            self._compile(bound, tuple(arguments))
        return bound

    def examples(self, template: Template, **given: Any) -> tuple[Any, ...]:
        """Arguments as a loop will get them, by its annotations; those are given that these leave open.

        Raises `TypeError` for a template that is no loop, and for an argument whose type nobody says.
        """
        examples = []
        for name, argument in arguments_of(template).items():
            if argument is None and name not in given:
                raise TypeError(f"{template.__qualname__}: nobody says what `{name}` is compiled for")
            examples.append(given[name] if argument is None else argument.example(self))
        return tuple(examples)

    def with_parts(self, parts: tuple[Template, ...], counted: bool = True) -> dict[str, Any]:
        """The rules, and with them templates that are parts of loops: compiled once for all of the loops.

        Parts count as the loop does that they are compiled for, so they serve only those that do the same.
        """
        if not parts:
            return self.rules
        if (parts, counted) not in self._with_parts:
            rules = self.with_parts(parts[:-1], counted)
            self._with_parts[parts, counted] = {**rules, parts[-1].__name__: bind_part(parts[-1], rules)}
        return self._with_parts[parts, counted]

    def _compile(self, bound: Any, arguments: tuple[Any, ...]) -> None:
        from numba import typeof

        name = f"{self.label}.{bound.py_func.__name__}"
        if not self._announced and not is_ready(name, self.rules):
            self._announced = True
            print(
                f"axio: compiling the rules of {self.label}, once on this machine ...",
                file=sys.stderr,
                flush=True,
            )
        bound.compile(tuple(typeof(argument) for argument in arguments))  # type: ignore[no-untyped-call]
        mark_ready(name, self.rules)
