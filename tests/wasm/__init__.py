"""The rules in WebAssembly, compared with the same rules compiled by Numba."""
