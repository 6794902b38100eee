"""How threads tell each other something without the interpreter: by numbers in memory that both look at.

To be woken takes a thread a tenth of a millisecond, the third part of what it then has to do in a step of a
thousand games; and a thread that comes back into Python while another one is there sleeps until it has left.
So whoever expects something soon looks out for it in compiled code.
"""

from __future__ import annotations

from typing import Any

from ..engine.compile import INTERPRETED, entry


def _atomic() -> tuple[Any, Any]:
    """Reading and writing a number as it is now: compilers may otherwise read it once for all."""
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    def place(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        array = context.make_array(kind)(context, builder, arguments[0])
        find: Any = cgutils.get_item_pointer
        return find(context, builder, kind, array, [arguments[1]], wraparound=False)

    @intrinsic
    def read(typing: Any, numbers: Any, at: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.load_atomic(place(context, builder, signature, arguments), "acquire", 8)

        return types.int64(numbers, types.intp), code

    @intrinsic
    def write(typing: Any, numbers: Any, at: Any, value: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            builder.store_atomic(arguments[2], place(context, builder, signature, arguments), "release", 8)
            return context.get_dummy_value()

        return types.void(numbers, types.intp, types.int64), code

    return read, write


if INTERPRETED:

    def read(numbers: Any, at: int) -> Any:
        """The number that stands there now."""
        return numbers[at]

    def write(numbers: Any, at: int, value: int) -> None:
        """Let a number stand there."""
        numbers[at] = value

else:
    read, write = _atomic()


@entry
def tell_and_wait(numbers: Any, tell: int, told: int, look: int, awaited: int, looks: int, rest: int) -> bool:
    """Write a number; then look for another one so many times, and go on looking for `rest` when it is there.

    Whether it was there.
    """
    write(numbers, tell, told)
    left = looks
    while left > 0 and read(numbers, look) != awaited:
        left -= 1
    there: bool = read(numbers, look) == awaited
    while there and rest > 0 and read(numbers, look) == awaited:
        rest -= 1
    return there
