"""Occupancy: the number of games that a multiprocessor of a GPU plays at once, by memory and registers.

Playouts keep their states in shared memory, which is small. Each block also has a copy of the constants, so
larger blocks waste less memory, while smaller blocks fill it better. States that do not fit stay in the
memory of the GPU, behind its caches, where more games can run at once.
"""

from __future__ import annotations

from typing import NamedTuple

BLOCK = 128  # threads per block, by default
WARP = 32  # threads
SHARED = 48 * 1024  # bytes of shared memory that a block can have without a special request
RESERVED = 1024  # bytes of shared memory that the system reserves per block
GRANULARITY = 128  # bytes: shared memory is allocated in multiples of this
MAX_REGISTERS = 255  # per thread
REGISTER_GRANULARITY = 8  # registers per thread are allocated in multiples of this,
PARTITIONS = 4  # and those of a warp in one partition of a multiprocessor


class LaunchConfig(NamedTuple):
    """Launch settings of playouts. `python -m benchmarks.peers --device cuda` tries others."""

    min_warps: int = 1  # that must fit at once, or states stay outside shared memory
    max_warps: int = 8  # per block, which share the constants
    registers: int = 80  # per thread at least, even if more warps would fit with fewer


DEFAULT_LAUNCH = LaunchConfig()
# Greedy playouts score all moves before each one: they read more than they write, which suits caches.
LAUNCH_CONFIGS = {"random_games": DEFAULT_LAUNCH, "greedy_games": LaunchConfig(min_warps=12)}


class Kernel(NamedTuple):
    """Resources of a compiled kernel, and the occupancy they allow."""

    block: int  # threads per block
    registers: int  # per thread
    shared_memory: int  # bytes per block
    local_memory: int  # bytes per thread, in the memory of the GPU
    warps: int  # that fit on a multiprocessor at once
    max_warps: int  # the maximum of the multiprocessor

    @property
    def occupancy(self) -> float:
        """The share of the maximum number of warps."""
        return self.warps / self.max_warps


class MultiprocessorLimits(NamedTuple):
    """Resources of a multiprocessor."""

    memory: int  # bytes of shared memory
    registers: int


class KernelShare(NamedTuple):
    """Resources of a block of playouts."""

    fits: bool  # whether states are in shared memory
    warps: int
    registers: int  # maximum per thread; 0 for no limit


def warps_at_once(limits: MultiprocessorLimits, size: int, warps: int, registers: int) -> int:
    """Return the number of warps that fit on a multiprocessor.

    Args:
        limits: the resources of the multiprocessor.
        size: bytes of shared memory per block.
        warps: warps per block.
        registers: registers per thread.
    """
    if size > SHARED:
        return 0
    by_memory = limits.memory // (-(-size // GRANULARITY) * GRANULARITY + RESERVED)
    by_registers = limits.registers // PARTITIONS // (registers * WARP) * PARTITIONS // warps
    return warps * min(by_memory, by_registers)


def plan_share(limits: MultiprocessorLimits, state: int, constants: int, launch: LaunchConfig) -> KernelShare:
    """Return the share of a block with which the most games run at once.

    Args:
        limits: the resources of the multiprocessor.
        state: bytes of a state.
        constants: bytes of the constants.
        launch: the launch settings of playouts.
    """

    def at_once(warps: int, registers: int) -> int:
        return warps_at_once(limits, warps * WARP * state + constants, warps, registers)

    choices = range(1, launch.max_warps + 1)
    memory_limit = max(at_once(warps, 1) for warps in choices)  # warps
    if memory_limit < launch.min_warps:
        return KernelShare(False, min(BLOCK // WARP, launch.max_warps), 0)
    registers = max(
        limits.registers // (memory_limit * WARP) // REGISTER_GRANULARITY * REGISTER_GRANULARITY,
        launch.registers,
    )
    warps = max(choices, key=lambda warps: at_once(warps, registers))
    return KernelShare(True, warps, min(registers, MAX_REGISTERS))
