"""The compiler of rules, which generates no machine code.

A loop contains copies of all rules that it calls. By default Numba also generates machine code for each rule
alone, which nothing calls. Without it, compiling a game takes a sixth less time.
"""

from __future__ import annotations

from typing import Any

from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class RuleCompiler(Compiler):
    """Compiles a function that only compiled code calls, for `njit(pipeline_class=...)`."""

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *settings: Any) -> None:
        library = library or _RuleLibrary(targetctx.codegen(), "rule")  # type: ignore[no-untyped-call]
        super().__init__(typingctx, targetctx, library, *settings)  # type: ignore[no-untyped-call]
        # The context is a copy made for this function.
        self.state.targetctx.get_executable = _stand_in


class _RuleLibrary(JITCodeLibrary):
    """Optimized LLVM code, to be linked into loops."""

    def _finalize_final_module(self) -> None:
        """Do not add the code to the engine, which would generate machine code."""
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._verify_declare_only_symbols()  # type: ignore[no-untyped-call]
        self._finalized = True


def _stand_in(library: Any, description: Any, environment: Any) -> Any:
    """Return an object that identifies the function in its callers. Python must not call it."""
    name = description.qualname.rpartition(".")[2]
    return _dynfunc.make_function(description.lookup_module(), name, "", 0, environment, (library,))
