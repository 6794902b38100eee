"""A batch on Numba's simulated GPU: `python -m tests.batch.simulated_gpu GAME compact|full [--greedy]`.

Needs `NUMBA_ENABLE_CUDASIM=1`. This module adds features that the simulator lacks. It fails if a batch on the
simulated GPU differs from one on the CPU in any result.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numba
import numpy as np
from numba import cuda
from numba.np.numpy_support import as_dtype

from axiogames.batch import Batch, cuda_kernels
from axiogames.batch import cuda as cuda_backend
from axiogames.games.runtime.state import allocate
from tests.batch.traces import trace

GAMES = 5  # fewer than fit into a block
ROUNDS = 1
HOPPER = SimpleNamespace(
    MAX_SHARED_MEMORY_PER_MULTIPROCESSOR=228 * 1024, MAX_REGISTERS_PER_MULTIPROCESSOR=65536
)


class Memory:
    """Arrays in shared or local memory. Shared ones are common to all threads: blocks run one by one."""

    def __init__(self, shared: bool) -> None:
        self._shared = shared
        self._arrays: dict[tuple[int, Any], np.ndarray] = {}

    def array(self, size: int, element_type: Any) -> np.ndarray:
        """Return an array of records, or of a type of Numba."""
        dtype = element_type if isinstance(element_type, np.dtype) else as_dtype(element_type)
        array = allocate(dtype, size) if dtype.fields else np.zeros(size, dtype)
        return self._arrays.setdefault((size, element_type), array) if self._shared else array


class Simulated:
    """Numba's module for CUDA. In a kernel, the simulator replaces it by one for each thread."""

    shared, local = Memory(shared=True), Memory(shared=False)

    def __getattr__(self, name: str) -> Any:
        # The simulator has no barrier for a warp; one for the block is stricter.
        return getattr(vars(cuda_kernels)["cuda"], "syncthreads" if name == "syncwarp" else name)

    def jit(self, function: Any = None, **options: Any) -> Any:
        """Return a kernel. The simulator has no options for registers and memory."""
        jit: Callable[..., Any] = cuda.jit
        return jit(function) if function else jit

    def get_current_device(self) -> SimpleNamespace:
        """Return the limits of the simulated device."""
        return HOPPER


class SimulatedCuda(cuda_backend.CudaBackend):
    """A backend whose views of fields are copies: the simulator has no views."""

    def field(self, states: Any, name: str) -> Any:
        """Return a copy of one field of all states."""
        return cuda.to_device(np.ascontiguousarray(states.copy_to_host()[name]))

    def as_input(self, values: Any, dtype: type) -> Any:
        """Return an argument of a caller as an array for loops."""
        return values if hasattr(values, "copy_to_host") else super().as_input(values, dtype)


def simulate() -> None:
    """Run batches with `device="cuda"` in the simulator."""
    vars(cuda_kernels)["cuda"] = cuda
    vars(numba)["from_dtype"] = lambda dtype: dtype  # NumPy cannot copy Numba's types with empty fields
    simulated = Simulated()
    vars(cuda_backend)["find_cuda"] = lambda: simulated
    vars(sys.modules[Batch.__module__])["CudaBackend"] = SimulatedCuda


def main(game: str, layout: str, greedy: bool) -> None:
    """Compare all results of a batch on the GPU and on the CPU, for one layout of states."""
    compact = layout == "compact"
    gpu, cpu = (Batch(game, 2, GAMES, seed=3, device=device, compact=compact) for device in ("cuda", "cpu"))
    found, expected = (batch.step_and_observe(batch.sample(), sample=True) for batch in (gpu, cpu))
    assert found.masks.copy_to_host().tobytes() == expected.masks.tobytes()
    assert found.observation.board.copy_to_host().tobytes() == expected.observation.board.tobytes()
    assert found.sampled.copy_to_host().tobytes() == expected.sampled.tobytes()
    assert trace(gpu, ROUNDS, greedy=greedy) == trace(cpu, ROUNDS, greedy=greedy)
    print("equal")


if __name__ == "__main__":
    simulate()
    game, layout, *options = sys.argv[1:]
    main(game, layout, "--greedy" in options)
