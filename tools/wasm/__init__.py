"""The compiler of rule code to WebAssembly.

`python -m tools.wasm` (`make wasm`) builds one file for each board layout. The steps:

- `lower`: Numba lowers the loops to unoptimised LLVM IR, with a plain C function around each.
- `emit`: llvmlite optimises the IR for wasm32 and emits an object; `wasm-ld` links it.
- `build`: what the browser needs of each layout and variant, and the manifest.

Numba's internals are used here only, never at run time; requirements/wasm.txt pins the versions.
"""
