"""The backend of batches on an NVIDIA GPU. It runs the loops of the CPU with one or more threads per game."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ..errors import DeviceNotFound
from ..games.runtime.compile import INTERPRETED, bind_part, compiled
from ..games.variant import Variant
from ..optional_deps import missing_dependency
from . import loops
from .cuda_kernels import PLAYOUTS, WARP_KERNELS, one_thread_per_game, playout_kernel
from .cuda_occupancy import (
    BLOCK,
    LAUNCH_CONFIGS,
    WARP,
    Kernel,
    KernelShare,
    LaunchConfig,
    MultiprocessorLimits,
    plan_share,
)
from .loops import LOOPS_BY_NAME

EXTRA = "cuda"


@cache
def find_cuda() -> Any:
    """Return Numba's module for CUDA.

    Raises:
        MissingDependency: numba-cuda is not installed.
        DeviceNotFound: there is no usable GPU, or the rules run interpreted.
    """
    if INTERPRETED:
        raise DeviceNotFound("interpreted rules (NUMBA_DISABLE_JIT) do not run on a GPU")
    for old, new in (("row_stack", "vstack"), ("in1d", "isin"), ("trapz", "trapezoid")):
        if not hasattr(np, old):  # numba-cuda still uses names that NumPy has removed
            setattr(np, old, getattr(np, new))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # raised with recent versions of NumPy
        try:
            import numba_cuda  # noqa: F401  # Numba's own CUDA part is too old for recent toolkits
            from numba import cuda
        except ImportError:
            raise missing_dependency("numba-cuda", EXTRA) from None
    if not cuda.is_available():  # type: ignore[no-untyped-call]
        raise DeviceNotFound('device="cuda" needs an NVIDIA GPU, and none was found: use device="cpu"')
    return cuda


class CompiledKernel(NamedTuple):
    """A kernel of a loop, ready to be launched."""

    kernel: Any
    launch: Any  # the kernel, configured for all games of the batch
    block: int  # threads per block


class CudaBackend:
    """Runs loops over the games of a batch. Arrays are Numba's; other frameworks share their memory."""

    threads = 1

    def __init__(self, variant: Variant, games: int, launch: LaunchConfig | None = None) -> None:
        self.games = games
        self._launch = launch
        self._cuda = find_cuda()
        self._variant = variant
        self._constants = self._cuda.to_device(variant.constants)
        self._kernels: dict[str, CompiledKernel] = {}

    def states(self, dtype: np.dtype[Any]) -> Any:
        """Allocate a state for every game."""
        return self._cuda.device_array(self.games, dtype)

    def field(self, states: Any, name: str) -> Any:
        """Return a view of one field of all states."""
        dtype, offset = states.dtype.fields[name][:2]
        inner = dtype.base
        strides = np.empty(dtype.shape, inner).strides
        return self._cuda.as_cuda_array(
            _FieldView(states, offset, (self.games, *dtype.shape), (states.dtype.itemsize, *strides), inner)
        )

    def zeros(self, shape: tuple[int, ...], dtype: type) -> Any:
        """Return an array of zeros that loops can write."""
        return self._cuda.to_device(np.zeros(shape, dtype))

    def to_device(self, array: np.ndarray) -> Any:
        """Return an array in the memory of the GPU."""
        return self._cuda.to_device(array)

    def as_input(self, values: Any, dtype: type) -> Any:
        """Return an argument of a caller as an array for loops. Arrays on the GPU are not copied."""
        if hasattr(values, "__cuda_array_interface__"):
            return self._cuda.as_cuda_array(values)
        return self._cuda.to_device(np.ascontiguousarray(values))

    def to_host(self, array: Any) -> np.ndarray:
        """Return a NumPy copy of an array."""
        host: np.ndarray = array.copy_to_host()
        return host

    def run(self, name: str, *arguments: Any) -> None:
        """Launch a loop over all games."""
        if name == "step_and_observe":
            self._step_and_observe(*arguments)
            return
        if name not in self._kernels:
            self._kernels[name] = self._compile(name)
        self._kernels[name].launch((self._constants, *arguments), self.games)

    def close(self) -> None:
        """Do nothing: memory is released with the last reference to its array."""

    def wait(self) -> None:
        """Wait until all loops have finished: `run` only launches them."""
        self._cuda.synchronize()

    def kernel(self, name: str) -> Kernel:
        """Return the properties of a compiled loop that has been run."""
        kernel, _, block = self._kernels[name]
        *_, compiled = kernel.overloads.values()
        context = self._cuda.current_context()
        device = context.device
        function = compiled._codelibrary.get_cufunc()
        blocks = context.get_active_blocks_per_multiprocessor(function, block, 0)
        return Kernel(
            block,
            compiled.regs_per_thread,
            compiled.shared_mem_per_block,
            compiled.local_mem_per_thread,
            blocks * block // WARP,
            device.MAX_THREADS_PER_MULTIPROCESSOR // WARP,
        )

    def _step_and_observe(self, games: Any, actions: Any, config: Any, output: Any, turn: Any) -> None:
        """Launch the parts one after the other: threads of different blocks cannot wait for each other."""
        _, states, rngs = games
        cells, boards, vectors, masks, sampled = turn
        self.run("step", games, actions, config, output)
        self.run("observe", states, self.field(states, "seat"), cells, boards, vectors)
        self.run("masks", states, masks)
        if loops.StepConfig(*config).sample:
            self.run("sample", states, rngs, sampled)

    def _compile(self, name: str) -> CompiledKernel:
        share = self._share(name) if name in PLAYOUTS else None
        block = WARP * share.warps if share else BLOCK
        kernel = _kernel(self._variant, name, share)
        games_per_block = block // WARP if name in WARP_KERNELS else block
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Numba warns where few games leave a GPU partly idle
            return CompiledKernel(kernel, kernel[-(-self.games // games_per_block), block], block)

    def _share(self, name: str) -> KernelShare:
        device = self._cuda.get_current_device()
        limits = MultiprocessorLimits(
            device.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, device.MAX_REGISTERS_PER_MULTIPROCESSOR
        )
        state, constants = self._variant.opening.dtype.itemsize, self._variant.constants.dtype.itemsize
        return plan_share(limits, state, constants, self._launch or LAUNCH_CONFIGS[name])


@cache
def _kernel(variant: Variant, name: str, share: KernelShare | None) -> Any:
    """Return the kernel of a loop, compiled once for all batches of a variant."""
    cuda, kernels = find_cuda(), variant.kernels
    rules = kernels.with_parts(loops.PARTS, counted=False)
    if share:
        playout = compiled(rules[PLAYOUTS[name]])
        return playout_kernel(cuda, playout, kernels.constants_type, kernels.state_type, share)
    if name in WARP_KERNELS:
        factory, rule = WARP_KERNELS[name]
        return factory(cuda, compiled(rules[rule]))
    return one_thread_per_game(cuda, compiled(bind_part(LOOPS_BY_NAME[name], rules)))


class _FieldView:
    """A field of an array of records, as an object with the CUDA array interface."""

    def __init__(
        self, states: Any, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype[Any]
    ) -> None:
        self._states = states  # keeps its memory allocated
        interface = states.__cuda_array_interface__
        self.__cuda_array_interface__ = {
            **interface,
            "data": (interface["data"][0] + offset, False),
            "shape": shape,
            "strides": strides,
            "typestr": dtype.str,
            "descr": [("", dtype.str)],
        }
