"""The decorator of loops that Python calls, and the types of their arguments.

A loop is a template, written once for all games; its annotations are what it is compiled for. Numba learns
a type from an example, and states and tables are each game's own. So an annotation carries a function that
makes an example for a game; `Kernels` calls it when the loop is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple, Protocol, get_type_hints, overload

import numpy as np

Template = Callable[..., Any]


class GameLayout(Protocol):
    """What is known of a game before any of its loops is compiled."""

    constants: Any
    states: Any
    state_type: np.dtype[Any]
    tracks: int


class Loop(NamedTuple):
    """What a loop wants to be compiled with."""

    parts: tuple[Template, ...] = ()  # templates that it calls, each after those that it calls itself
    counted: bool = True  # see `compile.bind`


class Argument(NamedTuple):
    """Makes an example of an argument for a game."""

    example: Callable[[GameLayout], Any]


def array(dtype: Any, dimensions: int = 1) -> Argument:
    """An array of numbers that is the same for all games."""
    return Argument(lambda game: np.zeros((1,) * dimensions, dtype))


Constants = Annotated[Any, Argument(lambda game: game.constants)]
States = Annotated[Any, Argument(lambda game: game.states)]
Rng = Annotated[Any, array(np.uint64)]  # generators, see `rng`

Int = Annotated[Any, Argument(lambda game: 0)]
Bool = Annotated[Any, Argument(lambda game: False)]
Float32 = Annotated[Any, Argument(lambda game: np.float32(0))]

Actions = Annotated[Any, array(np.int32)]
Flags = Annotated[Any, array(np.bool_)]
Int16s = Annotated[Any, array(np.int16)]
Int16Rows = Annotated[Any, array(np.int16, 2)]
Int64s = Annotated[Any, array(np.int64)]
Int64Rows = Annotated[Any, array(np.int64, 2)]
Float32s = Annotated[Any, array(np.float32)]
Float32Rows = Annotated[Any, array(np.float32, 2)]
Float64s = Annotated[Any, array(np.float64)]


@overload
def loop(template: Template) -> Template: ...
@overload
def loop(*, parts: tuple[Template, ...] = (), counted: bool = True) -> Callable[[Template], Template]: ...
def loop(template: Template | None = None, *, parts: tuple[Template, ...] = (), counted: bool = True) -> Any:
    """Mark a template as a loop that Python calls: `variant.kernels[template]` is the one of a game.

    `parts` are templates that are bound to the game's rules with it.
    """

    def mark(template: Template) -> Template:
        vars(template)["loop"] = Loop(parts, counted)
        return template

    return mark(template) if template else mark


def loop_of(template: Template) -> Loop:
    """What a template wants to be compiled with. Raises `TypeError` for one that is no loop."""
    found = vars(template).get("loop")
    if not isinstance(found, Loop):
        raise TypeError(f"{template.__qualname__} is no loop: put @loop above it")
    return found


def arguments_of(template: Template) -> dict[str, Argument | None]:
    """The arguments of a loop by name, `None` for one whose type its annotation does not say.

    Raises `TypeError` for a template that is no loop.
    """
    loop_of(template)
    hints = get_type_hints(template, include_extras=True)
    code = template.__code__
    return {name: _argument(hints.get(name)) for name in code.co_varnames[: code.co_argcount]}


class GameArrays(NamedTuple):
    """Games in progress, and what they start from."""

    openings: States  # one entry: the state that every game starts from
    states: States
    rngs: Rng  # a random generator for each state


def record_argument(record: Any, plain: bool = False) -> Argument:
    """Return the argument for a `NamedTuple` of arguments.

    Args:
        record: the class. Each field has an annotation like those of loops.
        plain: Python passes a plain tuple, which takes Numba 0.1 µs to recognize instead of 0.5 µs.
    """
    fields = []
    for name, hint in get_type_hints(record, include_extras=True).items():
        if (field := _argument(hint)) is None:
            raise TypeError(f"{record.__qualname__}: the annotation of `{name}` names no argument type")
        fields.append(field)

    def example(game: GameLayout) -> Any:
        values = (field.example(game) for field in fields)
        return tuple(values) if plain else record(*values)

    return Argument(example)


def _argument(hint: Any) -> Argument | None:
    if isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields"):
        return record_argument(hint)
    return next((said for said in getattr(hint, "__metadata__", ()) if isinstance(said, Argument)), None)
