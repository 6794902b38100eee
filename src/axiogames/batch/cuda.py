"""Games in the memory of an NVIDIA GPU: the same loops as on the processor, with threads for every game."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ..errors import DeviceNotFound
from ..games.runtime.compile import INTERPRETED, bind_part
from ..games.variant import Variant
from ..optional_deps import missing_dependency
from . import loops
from .cuda_kernels import ROWS, WHOLE_GAMES, a_thread_a_game, whole_games
from .cuda_occupancy import (
    BLOCK,
    LAUNCH_CONFIGS,
    WARP,
    Kernel,
    KernelShare,
    LaunchConfig,
    SharedMemory,
    share_of,
)
from .loops import LOOPS_BY_NAME

EXTRA = "cuda"


@cache
def find_cuda() -> Any:
    """Numba's module for CUDA. Raises `MissingDependency`, or `DeviceNotFound` where there is no GPU."""
    if INTERPRETED:
        raise DeviceNotFound("interpreted rules (NUMBA_DISABLE_JIT) do not run on a GPU")
    for old, new in (("row_stack", "vstack"), ("in1d", "isin"), ("trapz", "trapezoid")):
        if not hasattr(np, old):  # numba-cuda still asks for names that NumPy has dropped
            setattr(np, old, getattr(np, new))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # new editions of NumPy bring more of that
        try:
            import numba_cuda  # noqa: F401  # Numba's own CUDA part is too old for new toolkits
            from numba import cuda
        except ImportError:
            raise missing_dependency("numba-cuda", EXTRA) from None
    if not cuda.is_available():  # type: ignore[no-untyped-call]
        raise DeviceNotFound(
            'device="cuda", but no NVIDIA GPU can be used here; device="cpu" is the processor'
        )
    return cuda


class Made(NamedTuple):
    """A loop that can be started."""

    kernel: Any
    start: Any  # the kernel for all games of the batch
    block: int  # threads that are started together


class CudaBackend:
    """Runs loops over the games of a batch; arrays are Numba's, others take them without a copy."""

    threads = 1

    def __init__(self, variant: Variant, games: int, manner: LaunchConfig | None = None) -> None:
        self.games = games
        self._manner = manner
        self._cuda = find_cuda()
        self._variant = variant
        self._tables = self._cuda.to_device(variant.constants)
        self._made: dict[str, Made] = {}

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
        if name == "step_and_observe":
            self._step_and_observe(*arguments)
            return
        if name not in self._made:
            self._made[name] = self._make(name)
        self._made[name].start((self._tables, *arguments), self.games)

    def close(self) -> None:
        """Nothing to let go: memory is given back when nobody holds the arrays."""

    def wait(self) -> None:
        """Wait until all loops have ended: `run` only starts them."""
        self._cuda.synchronize()

    def kernel(self, name: str) -> Kernel:
        """What has become of a loop that has been run."""
        kernel, _, block = self._made[name]
        *_, made = kernel.overloads.values()
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

    def _step_and_observe(
        self, openings: Any, states: Any, rngs: Any, numbers: Any, auto_reset: bool, kind: int, gains: Any,
        finals: Any, rewards: Any, ended: Any, places: Any, boards: Any, vectors: Any, masks: Any,
        picking: bool, picked: Any,
    ) -> None:  # fmt: skip
        """One after the other: of threads that wait for each other a GPU has none."""
        self.run("step", openings, states, rngs, numbers, auto_reset, kind, gains, finals, rewards, ended)
        self.run("observe", states, self.field(states, "seat"), places, boards, vectors)
        self.run("masks", states, masks)
        if picking:
            self.run("sample", states, rngs, picked)

    def _make(self, name: str) -> Made:
        share = self._share(name) if name in WHOLE_GAMES else None
        block = WARP * share.warps if share else BLOCK
        kernel = _kernel(self._variant, name, share)
        games = block // WARP if name in ROWS else block
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a few games leave a GPU idle is nobody's mistake
            return Made(kernel, kernel[-(-self.games // games), block], block)

    def _share(self, name: str) -> KernelShare:
        device = self._cuda.get_current_device()
        room = SharedMemory(
            device.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, device.MAX_REGISTERS_PER_MULTIPROCESSOR
        )
        state, constants = self._variant.opening.dtype.itemsize, self._variant.constants.dtype.itemsize
        return share_of(room, state, constants, self._manner or LAUNCH_CONFIGS[name])


@cache
def _kernel(variant: Variant, name: str, share: KernelShare | None) -> Any:
    """What the threads do in a loop: compiled once for all batches."""
    cuda, kernels = find_cuda(), variant.kernels
    rules = kernels.with_parts(loops.PARTS, counted=False)
    if share:
        return whole_games(cuda, rules[WHOLE_GAMES[name]], kernels.constants_type, kernels.state_type, share)
    if name in ROWS:
        make, rule = ROWS[name]
        return make(cuda, rules[rule])
    return a_thread_a_game(cuda, bind_part(LOOPS_BY_NAME[name], rules))


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
