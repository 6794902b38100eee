"""Lower loops to LLVM IR for wasm32.

Importing this module switches Numba's optimizer and its machine code off for the whole process, so build in a
process of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
from llvmlite import ir
from numba.core import codegen, cpu, dispatcher
from numba.core.bytecode import FunctionIdentity
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.np.numpy_support import as_dtype

from axiogames.games.runtime import (
    compile_cache as compile_cache,  # before the changes below: it makes one of them, too
)
from axiogames.games.runtime.kernels import Kernels
from axiogames.games.runtime.signatures import Template, arguments_of

types: Any = numba.types
typeof: Any = numba.typeof
TRIPLE = "wasm32-unknown-unknown"
I1, I8, I32, I64 = (ir.IntType(bits) for bits in (1, 8, 32, 64))
F32, F64, POINTER, VOID = ir.FloatType(), ir.DoubleType(), ir.PointerType(), ir.VoidType()

# Keep the IR as lowered: no optimizer, no machine code, no cache. Symbols are numbered from 0, so that the
# same sources give the same bytes.
for owner, name, replacement in (
    (codegen.CPUCodeLibrary, "_optimize_functions", lambda self, module: None),
    (codegen.CPUCodeLibrary, "_optimize_final_module", lambda self: None),
    (cpu.CPUContext, "get_executable", lambda *_, **__: [].append),  # a new object for each function
    (dispatcher.Dispatcher, "enable_caching", lambda self: None),
    (FunctionIdentity, "_unique_ids", itertools.count()),
):
    setattr(owner, name, replacement)

# The arrays of exported loops belong to the caller, so reference counts have no effect. A square root is an
# instruction, exact on every platform.
RUNTIME = """
define void @NRT_incref(ptr %p) alwaysinline { ret void }
define void @NRT_decref(ptr %p) alwaysinline { ret void }
declare double @llvm.sqrt.f64(double)
define double @sqrt(double %x) alwaysinline {
  %root = call double @llvm.sqrt.f64(double %x)
  ret double %root
}
"""


@dataclass(frozen=True)
class Export:
    """A loop as an exported function.

    Attributes:
        name: Name of the loop and of the function.
        parameters: Names of the arguments and their types: `i32`, `f32` or `f64`, or the element type of an
            array, with a pair of brackets for each dimension. Records are called `state`, or like the
            argument; fields of a named tuple are `task.seeds`. An array takes a pointer and its lengths.
        results: `i32` or `f64` for each result. A single result is returned. Several are written as `f64` to
            an array, whose pointer is the last parameter.
    """

    name: str
    parameters: tuple[tuple[str, str], ...]
    results: tuple[str, ...]


@dataclass(frozen=True)
class LoweredLoops:
    """Loops of a game as IR for wasm32.

    Attributes:
        source: The IR of all functions.
        exports: The exported functions.
        records: Types of the records that they take, by the name in their parameters.
    """

    source: str
    exports: tuple[Export, ...]
    records: dict[str, np.dtype[Any]]


def lower_loops(kernels: Kernels, templates: tuple[Template, ...]) -> LoweredLoops:
    """Lower loops of a game."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine()
    head = f'target datalayout = "{machine.target_data}"\ntarget triple = "{TRIPLE}"\n'
    module = llvm.parse_assembly(head + RUNTIME)
    exports: list[Export] = []
    records: dict[str, np.dtype[Any]] = {}
    for template in templates:
        lowered = _Lowered(kernels, template)
        exports.append(lowered.export)
        records |= lowered.records
        for source in lowered.modules():
            module.link_in(llvm.parse_assembly(head + _without_target(source)))
    names = {export.name for export in exports}
    for function in module.functions:
        if not function.is_declaration and function.name not in names:
            function.linkage = "internal"
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"
    module.verify()
    return LoweredLoops(str(module), tuple(exports), records)


def _without_target(source: str) -> str:
    lines = source.splitlines()
    return "\n".join(line for line in lines if not line.startswith(("target datalayout", "target triple")))


class _Lowered:
    """One loop, lowered by Numba, and the C function around it."""

    def __init__(self, kernels: Kernels, template: Template) -> None:
        examples = kernels.examples(template)
        bound = kernels.bound(template)
        self._types = tuple(typeof(example) for example in examples)
        self._compiled = bound._compiler.compile(self._types, None)
        with global_compiler_lock:
            self._compiled.library._ensure_finalized()  # links the functions it calls
        self._context = cpu_target.target_context
        self._state = typeof(kernels.states).dtype
        self.records: dict[str, np.dtype[Any]] = {}
        names = tuple(arguments_of(template))
        leaves = [leaf for name, kind in zip(names, self._types, strict=True) for leaf in _leaves(name, kind)]
        self.export = Export(
            template.__name__,
            tuple((name, self._type_name(name, kind)) for name, kind in leaves),
            tuple(_number_name(kind) for kind in self._result_types()),
        )
        self._leaves = [kind for _, kind in leaves]

    def modules(self) -> Iterator[str]:
        """Yield the IR of the loop with all that it calls, and of the function around it."""
        yield str(self._compiled.library._final_module)
        yield self._wrapper()

    def _type_name(self, name: str, kind: Any) -> str:
        if isinstance(kind, types.Array):
            element = str(kind.dtype)
            if isinstance(kind.dtype, types.Record):
                element = "state" if kind.dtype == self._state else name
                self.records[element] = as_dtype(kind.dtype)
            return f"{element}{'[]' * kind.ndim}"
        if isinstance(kind, (types.Integer, types.Boolean)):
            return "i32"
        if kind in (types.float32, types.float64):
            return "f32" if kind == types.float32 else "f64"
        raise TypeError(f"{name}: {kind} cannot be an argument of an exported loop")

    def _result_types(self) -> tuple[Any, ...]:
        kind = self._compiled.signature.return_type
        if kind == types.none:
            return ()
        return tuple(kind.types) if isinstance(kind, types.BaseTuple) else (kind,)

    def _wrapper(self) -> str:
        """Return the IR of a C function with pointers, lengths and numbers that calls the loop.

        The function traps if the loop raises, which no loop does.
        """
        results = self._result_types()
        outer: list[Any] = []
        for kind in self._leaves:
            outer += [POINTER, *[I32] * kind.ndim] if isinstance(kind, types.Array) else [_number_type(kind)]
        if len(results) > 1:
            outer.append(POINTER)
        returned_type = (I32 if self.export.results == ("i32",) else F64) if len(results) == 1 else VOID
        module = ir.Module(self.export.name)
        module.triple = TRIPLE
        function = ir.Function(module, ir.FunctionType(returned_type, outer), self.export.name)
        function.attributes.add("nounwind")
        builder = ir.IRBuilder(function.append_basic_block("entry"))
        given = iter(function.args)
        inner = [value for kind in self._leaves for value in self._unpacked(builder, kind, given)]
        kind = self._compiled.signature.return_type
        kind_type = self._context.get_data_type(kind) if results else I64
        returned, raised = builder.alloca(kind_type), builder.alloca(POINTER)
        signature = ir.FunctionType(I32, [POINTER, POINTER, *[value.type for value in inner]])
        loop = ir.Function(module, signature, self._compiled.fndesc.llvm_func_name)
        status = builder.call(loop, [returned, raised, *inner])
        with builder.if_then(builder.icmp_signed("!=", status, I32(0)), likely=False):
            builder.unreachable()
        value = builder.load(returned, typ=kind_type)
        if not results:
            builder.ret_void()
        elif len(results) == 1:
            builder.ret(_converted(builder, value, kind))
        else:
            out = next(given)
            for i, part in enumerate(results):
                number = _converted(builder, builder.extract_value(value, i), part)
                double = number if isinstance(part, types.Float) else builder.sitofp(number, F64)
                builder.store(double, builder.gep(out, [I32(i)], source_etype=F64))
            builder.ret_void()
        return str(module)

    def _unpacked(self, builder: Any, kind: Any, given: Iterator[Any]) -> list[Any]:
        """Return the values that Numba passes for one argument."""
        if isinstance(kind, types.Array):
            data = next(given)
            lengths = [builder.zext(next(given), I64) for _ in range(kind.ndim)]
            size = _element_size(self._context, kind.dtype)
            total, strides = lengths[0], [I64(size)]
            for length in lengths[1:]:
                total = builder.mul(total, length)
            for length in reversed(lengths[1:]):
                strides.insert(0, builder.mul(strides[0], length))
            null = ir.Constant(POINTER, None)
            return [null, null, total, I64(size), data, *lengths, *strides]
        value = next(given)
        if isinstance(kind, types.Boolean):
            return [builder.trunc(value, ir.IntType(self._context.get_argument_type(kind).width))]
        if isinstance(kind, types.Integer) and kind.bitwidth != 32:
            convert = builder.trunc if kind.bitwidth < 32 else builder.sext if kind.signed else builder.zext
            return [convert(value, ir.IntType(kind.bitwidth))]
        return [value]


def _converted(builder: Any, value: Any, kind: Any) -> Any:
    """Return a number as an `i32` or `f64`."""
    if isinstance(kind, types.Float):
        return builder.fpext(value, F64) if kind.bitwidth < 64 else value
    if value.type.width > 32:
        return builder.trunc(value, I32)
    if value.type.width == 32:
        return value
    extend = builder.sext if getattr(kind, "signed", False) else builder.zext
    return extend(value, I32)


def _number_name(kind: Any) -> str:
    if isinstance(kind, (types.Integer, types.Boolean)):
        return "i32"
    if isinstance(kind, types.Float):
        return "f64"
    raise TypeError(f"{kind} cannot be a result of an exported loop")


def _element_size(context: Any, kind: Any) -> int:
    """Return the number of bytes of an element of an array."""
    if isinstance(kind, types.Record):
        return int(kind.size)
    return int(context.get_abi_sizeof(context.get_data_type(kind)))


def _number_type(kind: Any) -> Any:
    return F32 if kind == types.float32 else F64 if kind == types.float64 else I32


def _leaves(name: str, kind: Any) -> Iterator[tuple[str, Any]]:
    """Yield the arrays and numbers of an argument, those of a record of arguments one by one."""
    if isinstance(kind, types.NamedTuple):
        for field, inner in zip(kind.fields, kind.types, strict=True):
            yield from _leaves(f"{name}.{field}", inner)
    elif isinstance(kind, types.BaseTuple):
        for i, inner in enumerate(kind.types):
            yield from _leaves(f"{name}.{i}", inner)
    else:
        yield name, kind
