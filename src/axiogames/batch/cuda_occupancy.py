"""How many games a multiprocessor of a GPU plays at once: a matter of memory and registers.

States of whole games lie in fast memory, of which there is little. A block of threads has a copy of the
tables besides its states, so larger blocks waste less of it; smaller ones fill it up better. States that are
too large lie in the memory of the GPU, whose caches leave room for more games at once.
"""

from __future__ import annotations

from typing import NamedTuple

BLOCK = 128  # threads that are started together, if nothing else is said
WARP = 32  # threads that go in step
SHARED = 48 * 1024  # bytes of fast memory that a block gets without asking for more
RESERVED = 1024  # bytes of it that the system takes for every block
PORTION = 128  # bytes, in which it is given out
MOST_REGISTERS = 255  # of a thread
GRANTED = 8  # registers are given out in such portions,
QUARTERS = 4  # and a warp has them in one quarter of a multiprocessor


class LaunchConfig(NamedTuple):
    """How whole games are played; `python -m benchmarks.peers --device cuda` tries other ways."""

    fewest_warps: int = 1  # that must have room at once, or the states do not lie in fast memory
    most_warps: int = 8  # of a block, which share the tables
    registers: int = 80  # that every thread may have, even if more warps would fit with fewer of them


DEFAULT_LAUNCH = LaunchConfig()
# Who rates all moves before each one reads more than it writes, and caches do that well.
LAUNCH_CONFIGS = {"random_games": DEFAULT_LAUNCH, "greedy_games": LaunchConfig(fewest_warps=12)}


class Kernel(NamedTuple):
    """What the compiler made of a loop, and what that leaves room for."""

    block: int  # threads that are started together
    registers: int  # of a thread
    fast_memory: int  # bytes of a block
    slow_memory: int  # bytes of a thread that lie in the memory of the GPU
    warps: int  # that a multiprocessor can have at once
    most_warps: int  # that it could have at most

    @property
    def occupancy(self) -> float:
        """The warps that it can have, as a share of the most."""
        return self.warps / self.most_warps


class SharedMemory(NamedTuple):
    """What a multiprocessor has for its threads."""

    memory: int  # bytes of fast memory
    registers: int


class KernelShare(NamedTuple):
    """What a block of whole games takes of it."""

    fits: bool  # whether the states lie in fast memory
    warps: int
    registers: int  # that a thread may have at most; 0 for as many as it likes


def warps_at_once(room: SharedMemory, size: int, warps: int, registers: int) -> int:
    """How many warps a multiprocessor has at once, in blocks of so many that take `size` bytes."""
    if size > SHARED:
        return 0
    by_memory = room.memory // (-(-size // PORTION) * PORTION + RESERVED)
    by_registers = room.registers // QUARTERS // (registers * WARP) * QUARTERS // warps
    return warps * min(by_memory, by_registers)


def share_of(room: SharedMemory, state: int, constants: int, manner: LaunchConfig) -> KernelShare:
    """The share with which the most games are played at once, for states and tables of so many bytes."""

    def at_once(warps: int, registers: int) -> int:
        return warps_at_once(room, warps * WARP * state + constants, warps, registers)

    choice = range(1, manner.most_warps + 1)
    most = max(at_once(warps, 1) for warps in choice)
    if most < manner.fewest_warps:
        return KernelShare(False, min(BLOCK // WARP, manner.most_warps), 0)
    registers = max(room.registers // (most * WARP) // GRANTED * GRANTED, manner.registers)
    warps = max(choice, key=lambda warps: at_once(warps, registers))
    return KernelShare(True, warps, min(registers, MOST_REGISTERS))
