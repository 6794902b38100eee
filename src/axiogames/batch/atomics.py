"""Atomic words and calls by address, for threads that cooperate in compiled code without the interpreter.

Words are 64-bit integers known by their address. Arguments that one thread owns are read by others at their
address, and functions are called by address. Python has no equivalent: interpreted, all names are `None`.
"""

from __future__ import annotations

from typing import Any

from ..games.runtime.compile import INTERPRETED

WORD_BYTES = 8


def _word_intrinsics() -> tuple[Any, Any, Any, Any]:
    """Return atomic operations on words. Plain ones could be cached in a register or reordered."""
    from llvmlite import ir
    from numba.core.types import boolean, int64, void
    from numba.extending import intrinsic

    def pointer(builder: Any, address: Any) -> Any:
        return builder.inttoptr(address, ir.IntType(8 * WORD_BYTES).as_pointer())

    @intrinsic
    def read(typing: Any, address: Any) -> Any:
        """Return the word at an address."""

        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.load_atomic(pointer(builder, arguments[0]), "acquire", WORD_BYTES)

        return int64(int64), code

    @intrinsic
    def write(typing: Any, address: Any, value: Any) -> Any:
        """Write a word."""

        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            builder.store_atomic(arguments[1], pointer(builder, arguments[0]), "release", WORD_BYTES)
            return context.get_dummy_value()

        return void(int64, int64), code

    @intrinsic
    def add(typing: Any, address: Any, value: Any) -> Any:
        """Add to a word and return its previous value."""

        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.atomic_rmw("add", pointer(builder, arguments[0]), arguments[1], "acq_rel")

        return int64(int64, int64), code

    @intrinsic
    def swap(typing: Any, address: Any, old: Any, new: Any) -> Any:
        """Replace a word by `new` if it is `old`; return whether it was."""

        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            address, old, new = arguments
            found = builder.cmpxchg(pointer(builder, address), old, new, "acq_rel", "acquire")
            return builder.extract_value(found, 1)

        return boolean(int64, int64, int64), code

    return read, write, add, swap


def _address_intrinsics() -> tuple[Any, Any, Any]:
    from llvmlite import ir
    from numba.core import cgutils
    from numba.core.types import int64, void
    from numba.extending import intrinsic

    word = ir.IntType(8 * WORD_BYTES)
    stack_copy: Any = cgutils.alloca_once_value

    @intrinsic
    def address_of(typing: Any, value: Any) -> Any:
        """Return the address of a copy of a value, valid until the calling function returns."""

        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.ptrtoint(stack_copy(builder, arguments[0]), word)

        return int64(value), code

    @intrinsic
    def load_at(typing: Any, address: Any, kind: Any) -> Any:
        """Return the value at an address. The caller must know its type."""

        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            layout = context.get_value_type(signature.return_type)
            return builder.load(builder.inttoptr(arguments[0], layout.as_pointer()))

        return kind.instance_type(int64, kind), code

    @intrinsic
    def call(typing: Any, function: Any, first: Any, second: Any, third: Any) -> Any:
        """Call a function of three integers by its address."""

        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            function, *values = arguments
            kind = ir.FunctionType(ir.VoidType(), [word] * len(values))
            builder.call(builder.inttoptr(function, kind.as_pointer()), values)
            return context.get_dummy_value()

        return void(int64, int64, int64, int64), code

    return address_of, load_at, call


read: Any
write: Any
add: Any
swap: Any
address_of: Any
load_at: Any
call: Any
if INTERPRETED:
    read = write = add = swap = address_of = load_at = call = None
else:
    read, write, add, swap = _word_intrinsics()
    address_of, load_at, call = _address_intrinsics()
