"""Optimize LLVM IR for wasm32, emit an object and link it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import llvmlite.binding as llvm

from .lower import TRIPLE

STACK_BYTES = 1 << 16
PASSES = 2  # the second run inlines what the first has simplified


def emit(source: str, exports: tuple[str, ...], folder: Path) -> bytes:
    """Return a WebAssembly module of IR.

    Args:
        source: The IR of all functions.
        exports: Names of the exported functions. The module also exports its memory and `__heap_base`.
        folder: An empty folder for temporary files.
    """
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(
        cpu="generic", features="", opt=3, reloc="static"
    )
    module = llvm.parse_assembly(source)
    for _ in range(PASSES):  # a pass manager runs once
        options = llvm.create_pipeline_tuning_options(speed_level=3)
        options.loop_vectorization = options.slp_vectorization = True
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
    missing = sorted(f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm."))
    if missing:
        raise RuntimeError(f"rule code calls functions that WebAssembly does not have: {', '.join(missing)}")
    object_file, linked = folder / "rules.o", folder / "rules.wasm"
    object_file.write_bytes(machine.emit_object(module))
    subprocess.run(
        [
            *(sys.executable, "-m", "ziglang", "wasm-ld", object_file, "-o", linked),
            *("--no-entry", "--gc-sections", "--strip-all", "-z", f"stack-size={STACK_BYTES}"),
            "--stack-first",  # an overflow traps instead of overwriting data
            "--export=__heap_base",
            *(f"--export={name}" for name in exports),
        ],
        check=True,
    )
    return linked.read_bytes()
