"""The decorator `@loop` for loops that Python calls, and annotations for their arguments.

A loop is a template, written once for all games, and its annotations are the types that it is compiled for.
Numba infers a type from an example, and every game has its own types of states and constants. An annotation
therefore carries a function that returns an example for a game; `Kernels` calls it on first use of the loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple, Protocol, get_type_hints, overload

import numpy as np

Template = Callable[..., Any]


class GameLayout(Protocol):
    """The types of a game that are known before any of its loops is compiled."""

    constants: Any
    states: Any
    state_type: np.dtype[Any]
    tracks: int


class Loop(NamedTuple):
    """Compilation settings of a loop."""

    parts: tuple[
        Template, ...
    ] = ()  # templates that it calls, in an order in which each calls only earlier ones
    counted: bool = True  # see `compile.bind`
    bound: bool = True  # whether it calls rules; otherwise all games share its machine code


class Argument(NamedTuple):
    """An annotation with a function that returns an example of the argument for a game."""

    example: Callable[[GameLayout], Any]


def array(dtype: Any, dimensions: int = 1) -> Argument:
    """Return the annotation of an array whose type is the same for all games."""
    return Argument(lambda game: np.zeros((1,) * dimensions, dtype))


Constants = Annotated[Any, Argument(lambda game: game.constants)]
States = Annotated[Any, Argument(lambda game: game.states)]
Rng = Annotated[Any, array(np.uint64)]  # generator states, see `xorshift`

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
def loop(
    *, parts: tuple[Template, ...] = (), counted: bool = True, bound: bool = True
) -> Callable[[Template], Template]: ...
def loop(
    template: Template | None = None,
    *,
    parts: tuple[Template, ...] = (),
    counted: bool = True,
    bound: bool = True,
) -> Any:
    """Mark a template as a loop that Python calls as `variant.kernels[template]`.

    Args:
        template: The function.
        parts: Templates that the loop calls and that are bound to the game's rules with it, in an order in
            which each calls only earlier ones.
        counted: Whether arrays are reference-counted, see `compile.bind`.
        bound: Whether the loop calls rules. Otherwise it is compiled once for all games, and not once for
            each.
    """

    def mark(template: Template) -> Template:
        vars(template)["loop"] = Loop(parts, counted, bound)
        return template

    return mark(template) if template else mark


def loop_of(template: Template) -> Loop:
    """Return the compilation settings of a template. Raises `TypeError` if it is not a loop."""
    found = vars(template).get("loop")
    if not isinstance(found, Loop):
        raise TypeError(f"{template.__qualname__} is not a loop: decorate it with @loop")
    return found


def arguments_of(template: Template) -> dict[str, Argument | None]:
    """Return the annotations of a loop by argument, `None` for arguments without one.

    Raises `TypeError` if the template is not a loop.
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
    metadata = getattr(hint, "__metadata__", ())
    return next((item for item in metadata if isinstance(item, Argument)), None)
