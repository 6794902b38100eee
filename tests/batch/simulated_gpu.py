"""Threads of a GPU in plain Python: `python -m tests.batch.simulated_gpu GAME compact|full [--greedy]`.

Numba simulates GPUs if the environment says so (`NUMBA_ENABLE_CUDASIM`); what its simulator lacks is added
here. Ends with an error if a batch there answers anything else than one on the processor.
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
from axiogames.batch import cuda as on_gpu
from axiogames.games.runtime.state import allocate
from tests.batch.traces import trace

GAMES = 5  # not as many as a block has room for
ROUNDS = 1
HOPPER = SimpleNamespace(
    MAX_SHARED_MEMORY_PER_MULTIPROCESSOR=228 * 1024, MAX_REGISTERS_PER_MULTIPROCESSOR=65536
)


class Memory:
    """Arrays of records as rules know them; fast memory is everybody's, since blocks run one by one."""

    def __init__(self, shared: bool) -> None:
        self._shared = shared
        self._arrays: dict[tuple[int, Any], np.ndarray] = {}

    def array(self, size: int, kind: Any) -> np.ndarray:
        """Room for so many records, or for so many numbers of a kind that Numba knows."""
        dtype = kind if isinstance(kind, np.dtype) else as_dtype(kind)
        room = allocate(dtype, size) if dtype.fields else np.zeros(size, dtype)
        return self._arrays.setdefault((size, kind), room) if self._shared else room


class Simulated:
    """Numba's module for CUDA: inside a kernel that of the thread, which the simulator puts in its place."""

    shared, local = Memory(shared=True), Memory(shared=False)

    def __getattr__(self, name: str) -> Any:
        # All threads of a block may wait for each other where those of a warp do.
        return getattr(vars(cuda_kernels)["cuda"], "syncthreads" if name == "syncwarp" else name)

    def jit(self, function: Any = None, **options: Any) -> Any:
        """A kernel; the simulator does not know how many registers there should be."""
        made: Callable[..., Any] = cuda.jit
        return made(function) if function else made

    def get_current_device(self) -> SimpleNamespace:
        """How much it has of what threads share."""
        return HOPPER


class SimulatedCuda(on_gpu.CudaBackend):
    """Looks at fields are copies here: the simulator has no other ones."""

    def field(self, states: Any, name: str) -> Any:
        """A copy of one field of all states."""
        return cuda.to_device(np.ascontiguousarray(states.copy_to_host()[name]))

    def given(self, values: Any, dtype: type) -> Any:
        """What a caller hands in, where loops can read it."""
        return values if hasattr(values, "copy_to_host") else super().given(values, dtype)


def simulate() -> None:
    """Let batches on a GPU run in the simulator."""
    vars(cuda_kernels)["cuda"] = cuda
    vars(numba)["from_dtype"] = lambda dtype: dtype  # what Numba makes of empty fields, NumPy cannot copy
    simulated = Simulated()
    vars(on_gpu)["find_cuda"] = lambda: simulated
    vars(sys.modules[Batch.__module__])["Cuda"] = SimulatedCuda


def main(game: str, kind: str, greedy: bool) -> None:
    """Compare everything that a batch does, with one kind of states."""
    compact = kind == "compact"
    there, here = (
        Batch(game, 2, GAMES, seed=3, device=device, compact=compact) for device in ("cuda", "cpu")
    )
    looked, told = (batch.step_and_look(batch.sample(), sample=True) for batch in (there, here))
    assert looked.masks.copy_to_host().tobytes() == told.masks.tobytes()
    assert looked.seen.board.copy_to_host().tobytes() == told.seen.board.tobytes()
    assert looked.sampled.copy_to_host().tobytes() == told.sampled.tobytes()
    assert trace(there, ROUNDS, greedy=greedy) == trace(here, ROUNDS, greedy=greedy)
    print("the same")


if __name__ == "__main__":
    simulate()
    game, kind, *options = sys.argv[1:]
    main(game, kind, "--greedy" in options)
