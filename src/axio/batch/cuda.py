"""Games in the memory of an NVIDIA GPU: the same loops, a thread for every game.

A loop of `engine.batches` goes over a range of games; here every thread runs it for a range of one. Whole
games are played in the fast memory of the processors that play them, where states are small enough: most of a
move is reading and writing single bytes here and there, which the memory of a GPU is worst at.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ..engine import batches
from ..engine.compile import INTERPRETED, part
from ..engine.kernels import Kernels
from ..errors import NoSuchDevice, NotInstalled
from ..games.variant import Variant
from .loops import LOOPS
from .occupancy import BLOCK, USUAL, WARP, Kernel, Manner, Room, share_of

EXTRA = "cuda"
WHOLE_GAMES = {"random_games": "random_game", "greedy_games": "greedy_game"}


@cache
def find_cuda() -> Any:
    """Numba's module for CUDA. Raises `NotInstalled`, or `NoSuchDevice` where there is no GPU."""
    if INTERPRETED:
        raise NoSuchDevice("interpreted rules (NUMBA_DISABLE_JIT) do not run on a GPU")
    for old, new in (("row_stack", "vstack"), ("in1d", "isin"), ("trapz", "trapezoid")):
        if not hasattr(np, old):  # numba-cuda still asks for names that NumPy has dropped
            setattr(np, old, getattr(np, new))
    try:
        import numba_cuda  # noqa: F401  # Numba's own CUDA part is too old for new toolkits
        from numba import cuda
    except ImportError:
        raise NotInstalled(
            f'device="cuda" needs numba-cuda, which is not installed: pip install "axio[{EXTRA}]" brings it'
        ) from None
    if not cuda.is_available():  # type: ignore[no-untyped-call]
        raise NoSuchDevice('device="cuda", but no NVIDIA GPU can be used here; device="cpu" is the processor')
    return cuda


class Cuda:
    """Runs loops over the games of a batch; arrays are Numba's, others take them without a copy."""

    threads = 1

    def __init__(self, variant: Variant, games: int, manner: Manner = USUAL) -> None:
        self.games = games
        self._manner = manner
        self._cuda = find_cuda()
        self._variant = variant
        self._tables = self._cuda.to_device(variant.tables)
        self._kernels: dict[str, Any] = {}

    def states(self, dtype: np.dtype[Any]) -> Any:
        """Room for a state of every game."""
        return self._cuda.device_array(self.games, dtype)

    def field(self, states: Any, name: str) -> Any:
        """A look at one field of all states."""
        dtype, offset = states.dtype.fields[name][:2]
        inner = dtype.base
        steps = np.empty(dtype.shape, inner).strides
        return self._cuda.as_cuda_array(
            _Look(states, offset, (self.games, *dtype.shape), (states.dtype.itemsize, *steps), inner)
        )

    def zeros(self, shape: tuple[int, ...], dtype: type) -> Any:
        """An array that loops can write into."""
        return self._cuda.to_device(np.zeros(shape, dtype))

    def put(self, array: np.ndarray) -> Any:
        """An array where loops can read it."""
        return self._cuda.to_device(array)

    def given(self, values: Any, dtype: type) -> Any:
        """What a caller hands in: anything on the GPU as it is, the rest is copied there."""
        if hasattr(values, "__cuda_array_interface__"):
            return self._cuda.as_cuda_array(values)
        return self._cuda.to_device(np.ascontiguousarray(values))

    def take(self, array: Any) -> np.ndarray:
        """An array that loops have written, for Python to read."""
        host: np.ndarray = array.copy_to_host()
        return host

    def run(self, name: str, *arguments: Any) -> None:
        """Run a loop over all games."""
        if name not in self._kernels:
            self._kernels[name] = self._make(name)
        kernel, block = self._kernels[name]
        kernel[-(-self.games // block), block]((self._tables, *arguments), self.games)

    def close(self) -> None:
        """Nothing to let go: memory is given back when nobody holds the arrays."""

    def wait(self) -> None:
        """Wait until all loops have ended: `run` only starts them."""
        self._cuda.synchronize()

    def kernel(self, name: str) -> Kernel:
        """What has become of a loop that has been run."""
        dispatcher, block = self._kernels[name]
        (made,) = dispatcher.overloads.values()
        context = self._cuda.current_context()
        device = context.device
        function = made._codelibrary.get_cufunc()
        blocks = context.get_active_blocks_per_multiprocessor(function, block, 0)
        return Kernel(
            block,
            made.regs_per_thread,
            made.shared_mem_per_block,
            made.local_mem_per_thread,
            blocks * block // WARP,
            device.MAX_THREADS_PER_MULTIPROCESSOR // WARP,
        )

    def _make(self, name: str) -> tuple[Any, int]:
        if name in WHOLE_GAMES:
            return self._make_games(WHOLE_GAMES[name])
        return self._make_loop(part(LOOPS[name], _rules(self._variant.kernels))), BLOCK

    def _make_loop(self, loop: Any) -> Any:
        cuda = self._cuda

        @cuda.jit
        def kernel(arguments, games):  # type: ignore[no-untyped-def]
            i = cuda.grid(1)
            if i < games:
                loop(*arguments, i, i + 1)

        return kernel

    def _make_games(self, name: str) -> tuple[Any, int]:
        """Whole games, one after the other in every thread, with states where `share_of` says."""
        from numba import from_dtype, uint64

        cuda = self._cuda
        tables_type, state_type = self._variant.tables.dtype, self._variant.opening.dtype
        table, state = from_dtype(tables_type), from_dtype(state_type)
        device = cuda.get_current_device()
        whole = Room(device.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, device.MAX_REGISTERS_PER_MULTIPROCESSOR)
        share = share_of(whole, state_type.itemsize, tables_type.itemsize, self._manner)
        fits, block = share.fits, WARP * share.warps

        game = _rules(self._variant.kernels)[name]

        @cuda.jit(
            max_registers=share.registers or None,
            shared_memory_carveout="maxshared" if fits else "default",
        )
        def kernel(arguments, games):  # type: ignore[no-untyped-def]
            tables, openings, kept, rngs, times, moves, rated = arguments
            if fits:
                room = cuda.shared.array(block, state)
                at = cuda.threadIdx.x
            else:
                room = cuda.local.array(1, state)
                at = 0
            near = cuda.shared.array(1, table)
            if cuda.threadIdx.x == 0:
                near[0] = tables[0]
            cuda.syncthreads()
            i = cuda.grid(1)
            if i < games:
                rng = cuda.local.array(1, uint64)
                rng[0] = rngs[i]
                moves[i], rated[i] = 0, 0
                for _ in range(times):
                    made, seen = game(near[0], openings, room, at, rng)
                    moves[i] += made
                    rated[i] += seen
                rngs[i] = rng[0]
                kept[i] = room[at]

        return kernel, block


@cache
def _rules(kernels: Kernels) -> dict[str, Any]:
    """The rules of a game with the parts of loops: compiled once for all loops that have them."""
    return kernels.with_parts(batches.PARTS)


class _Look:
    """A field of an array of records, told in the words of the CUDA array interface."""

    def __init__(
        self, states: Any, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype[Any]
    ) -> None:
        self._states = states  # its memory must stay
        told = states.__cuda_array_interface__
        self.__cuda_array_interface__ = {
            **told,
            "data": (told["data"][0] + offset, False),
            "shape": shape,
            "strides": strides,
            "typestr": dtype.str,
            "descr": [("", dtype.str)],
        }
