"""The compiled loops of one game, built on first use."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..protocol import Rules
from .compile import INTERPRETED, bind, bind_part, is_ready, mark_ready
from .hands import hiding_rules
from .signatures import Template, arguments_of, loop_of


class Kernels(dict[Template, Any]):
    """The loops of one game by template: `kernels[loops.step]` is `step` with the game's rules.

    Python calls them with arrays: constants, states and buffers. A loop is built on first use. The first time
    on a machine it is compiled, which takes seconds and is announced on standard error; later it is loaded
    from the cache.

    Args:
        label: Name of the game and board, for messages and the cache.
        rules: Rules of the game.
        constants: Record array of the game's constants.
        state: Type of the game's state.
    """

    def __init__(self, label: str, rules: Rules, constants: Any, state: np.dtype[Any]) -> None:
        super().__init__()
        self.label = label
        self._announced = False
        self.declared = rules
        self.rules = {**rules.by_name(), **hiding_rules(state.names or ())}
        self.constants = constants
        self.states = np.zeros(1, state)
        self.constants_type: np.dtype[Any] = constants.dtype
        self.state_type = state
        self.tracks: int = self.states["scores"].shape[-1]
        self._with_parts: dict[tuple[tuple[Template, ...], bool], dict[str, Any]] = {}

    def __missing__(self, template: Template) -> Any:
        bound = self[template] = self.make(template, self.examples(template))
        return bound

    def compile(self, templates: Iterable[Template]) -> int:
        """Build loops before they are needed, and return their number."""
        return len([self[template] for template in templates])

    def make(self, template: Template, arguments: Sequence[Any]) -> Any:
        """Return a new loop, compiled for arguments of the types of `arguments`."""
        declared = loop_of(template)
        bound = bind(template, self.with_parts(declared.parts, declared.counted), counted=declared.counted)
        if not INTERPRETED:
            self._compile(bound, tuple(arguments))
        return bound

    def examples(self, template: Template, **values: Any) -> tuple[Any, ...]:
        """Return example arguments for a loop, from which Numba infers the types to compile for.

        Args:
            template: A function under `@loop`.
            values: Examples of arguments without an annotation.

        Raises:
            TypeError: The template is not a loop, or an argument has neither an annotation nor a value.
        """
        examples = []
        for name, argument in arguments_of(template).items():
            if argument is None and name not in values:
                raise TypeError(f"{template.__qualname__}: `{name}` has no annotation and no example")
            examples.append(values[name] if argument is None else argument.example(self))
        return tuple(examples)

    def with_parts(self, parts: tuple[Template, ...], counted: bool = True) -> dict[str, Any]:
        """Return the rules together with bound parts: templates that several loops call, compiled once.

        Parts count references or not like the loop they are compiled for, so there is one set for each value
        of `counted`.
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
