"""What compiled code of several threads needs to work together without the interpreter.

Numbers that all of them look at, known by their addresses; a share of work that one thread has and others
find by its address; a function that is known by its address alone. Python has none of it: interpreted, there
is nothing here.
"""

from __future__ import annotations

from typing import Any

from ..games.runtime.compile import INTERPRETED

BYTES = 8  # of a number


def _reading_and_writing() -> tuple[Any, Any, Any, Any]:
    """Numbers as they are now: compilers may otherwise read one once for all, or write it later."""
    from llvmlite import ir
    from numba.core.types import boolean, int64, void
    from numba.extending import intrinsic

    def place(builder: Any, address: Any) -> Any:
        return builder.inttoptr(address, ir.IntType(8 * BYTES).as_pointer())

    @intrinsic
    def read(typing: Any, address: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.load_atomic(place(builder, arguments[0]), "acquire", BYTES)

        return int64(int64), code

    @intrinsic
    def write(typing: Any, address: Any, value: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            builder.store_atomic(arguments[1], place(builder, arguments[0]), "release", BYTES)
            return context.get_dummy_value()

        return void(int64, int64), code

    @intrinsic
    def add(typing: Any, address: Any, value: Any) -> Any:
        """Add to a number; what it was before."""

        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.atomic_rmw("add", place(builder, arguments[0]), arguments[1], "acq_rel")

        return int64(int64, int64), code

    @intrinsic
    def swap(typing: Any, address: Any, old: Any, new: Any) -> Any:
        """Write a new number if the old one is there; whether it was."""

        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            address, old, new = arguments
            found = builder.cmpxchg(place(builder, address), old, new, "acq_rel", "acquire")
            return builder.extract_value(found, 1)

        return boolean(int64, int64, int64), code

    return read, write, add, swap


def _by_address() -> tuple[Any, Any, Any]:
    from llvmlite import ir
    from numba.core import cgutils
    from numba.core.types import int64, void
    from numba.extending import intrinsic

    word = ir.IntType(8 * BYTES)
    kept: Any = cgutils.alloca_once_value

    @intrinsic
    def address_of(typing: Any, share: Any) -> Any:
        """Where others find this; it is there until the function that asks has ended."""

        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.ptrtoint(kept(builder, arguments[0]), word)

        return int64(share), code

    @intrinsic
    def found_at(typing: Any, address: Any, kind: Any) -> Any:
        """What another thread has there; of which kind it is must be known."""

        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            layout = context.get_value_type(signature.return_type)
            return builder.load(builder.inttoptr(arguments[0], layout.as_pointer()))

        return kind.instance_type(int64, kind), code

    @intrinsic
    def call(typing: Any, function: Any, first: Any, second: Any, third: Any) -> Any:
        """Call a function of three whole numbers by its address."""

        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            function, *numbers = arguments
            kind = ir.FunctionType(ir.VoidType(), [word] * len(numbers))
            builder.call(builder.inttoptr(function, kind.as_pointer()), numbers)
            return context.get_dummy_value()

        return void(int64, int64, int64, int64), code

    return address_of, found_at, call


read: Any
write: Any
add: Any
swap: Any
address_of: Any
found_at: Any
call: Any
if INTERPRETED:
    read = write = add = swap = address_of = found_at = call = None
else:
    read, write, add, swap = _reading_and_writing()
    address_of, found_at, call = _by_address()
