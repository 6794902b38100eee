"""The compiled loops of one game, built on first use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..protocol import Rules
from .compile import (
    INTERPRETED,
    announce,
    bind,
    bind_part,
    cache_folder,
    interpret,
    is_ready,
    mark_ready,
    mark_wanted,
    unmark_ready,
    wanted_since,
)
from .hands import hiding_rules
from .signatures import Template, arguments_of, loop_of

# Loops loaded by `Kernels.load`, by the rules, the types of constants and states, and the template.
_loaded: dict[tuple[Rules, np.dtype[Any], np.dtype[Any], Template], Any] = {}


class Kernels(dict[Template, Any]):
    """The loops of one game by template: `kernels[loops.step]` is `step` with the game's rules.

    Python calls them with arrays: constants, states and buffers. A loop is built on first use. The first time
    on a machine it is compiled, which takes seconds and is announced on standard error; later it is loaded
    from the cache. A server instead sets `on_missing`, so that nothing waits for a compilation.

    Args:
        label: Name of the game and board, for messages and the cache.
        rules: Rules of the game.
        constants: Record array of the game's constants.
        state: Type of the game's state.
    """

    on_missing: ClassVar[Callable[[Kernels, Template], Any] | None] = None
    """Returns what runs in place of a loop that is neither compiled nor loaded in this process."""

    def __init__(self, label: str, rules: Rules, constants: Any, state: np.dtype[Any]) -> None:
        super().__init__()
        self.label = label
        self._announced: set[tuple[Template, ...]] = set()  # parts of loops
        self._interpreted: dict[Template, Callable[..., Any]] = {}
        self.declared = rules
        self.rules = {**rules.by_name(), **hiding_rules(state.names or ())}
        self.constants = constants
        self.states = np.zeros(1, state)
        self.constants_type: np.dtype[Any] = constants.dtype
        self.state_type = state
        self.tracks: int = self.states["scores"].shape[-1]
        self._with_parts: dict[tuple[tuple[Template, ...], bool], dict[str, Any]] = {}

    def __missing__(self, template: Template) -> Any:
        if Kernels.on_missing is not None:
            return Kernels.on_missing(self, template)
        return self.build(template)

    def build(self, template: Template) -> Any:
        """Compile a loop, or load it from the cache, and return it."""
        bound = self[template] = self.make(template, self.examples(template))
        return bound

    def compile(self, templates: Iterable[Template]) -> int:
        """Build loops before they are needed, and return their number."""
        return len([self[template] for template in templates])

    @cached_property
    def folder(self) -> Path | None:
        """The cache folder of the loops."""
        return cache_folder(self.rules)

    def interpreted(self, template: Template) -> Callable[..., Any]:
        """Return a loop that runs interpreted: thousands of times slower, but at once."""
        if template not in self._interpreted:
            self._interpreted[template] = interpret(template, self._rules_of(template))
        return self._interpreted[template]

    def is_compiled(self, template: Template) -> bool:
        """Return whether the cache has a loop, without importing Numba."""
        return is_ready(self._name(template), self.folder)

    def want(self, template: Template) -> None:
        """Ask the process that compiles loops to compile this one first."""
        mark_wanted(self._name(template), self.folder)

    def wanted_since(self, template: Template) -> float:
        """Return the time at which a process began to want a loop, infinity if none does."""
        return wanted_since(self._name(template), self.folder)

    def load(self, template: Template) -> bool:
        """Load a loop from the cache without ever compiling it. Return whether the cache had it.

        Games with equal types share loaded loops.
        """
        if template in self or INTERPRETED:
            return True
        from .compile_cache import NotCached

        key = self.declared, self.constants_type, self.state_type, template
        if key not in _loaded:
            bound = self.bound(template)
            bound._cache.only_load = True
            try:
                self._compile_for(bound, self.examples(template))
            except NotCached:
                unmark_ready(self._name(template), self.folder)
                return False
            bound._cache.only_load = False
            _loaded[key] = bound
        self[template] = _loaded[key]
        return True

    def make(self, template: Template, arguments: Sequence[Any]) -> Any:
        """Return a new loop, compiled for arguments of the types of `arguments`."""
        bound = self.bound(template)
        if not INTERPRETED:
            self._announce(template)
            self._compile(bound, tuple(arguments))
        return bound

    def bound(self, template: Template) -> Any:
        """Return a new loop with the rules of the game, not yet compiled."""
        return bind(template, self._rules_of(template), counted=loop_of(template).counted)

    def _rules_of(self, template: Template) -> dict[str, Any]:
        """Return what replaces the stand-ins of a loop."""
        declared = loop_of(template)
        return self.with_parts(declared.parts, declared.counted) if declared.bound else {}

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

    def _name(self, template: Template) -> str:
        return f"{self.label}.{template.__name__}"

    def _announce(self, template: Template) -> None:
        """Announce a compilation once for all loops that share parts: the first one compiles them."""
        parts = loop_of(template).parts
        if parts not in self._announced and not self.is_compiled(template):
            self._announced.add(parts)
            announce(f"the {'search' if parts else 'rules'} of {self.label}")

    def _compile(self, bound: Any, arguments: tuple[Any, ...]) -> None:
        self._compile_for(bound, arguments)
        mark_ready(f"{self.label}.{bound.py_func.__name__}", self.folder)

    def _compile_for(self, bound: Any, arguments: Iterable[Any]) -> None:
        from numba import typeof

        bound.compile(tuple(typeof(argument) for argument in arguments))  # type: ignore[no-untyped-call]
