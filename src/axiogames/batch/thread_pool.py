"""A thread pool whose threads share a loop over games in compiled code, without returning to Python.

Waking a thread takes 0.1 ms, and a thread that returns to Python sleeps while another one holds the
interpreter lock. A step of a thousand games takes a few tenths of a millisecond. Workers therefore spin in
compiled code for about 1 ms before they sleep. Every thread takes a few games at a time, first from its own
share, so that a game stays in the caches of one core, then from the shares of other threads, so that none of
them waits for a slow worker.
"""

from __future__ import annotations

import hashlib
import os
import weakref
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, NamedTuple

import numpy as np

from ..games.runtime.compile import bind, bind_callback, entry_point
from .atomics import WORD_BYTES, add, address_of, call, load_at, read, swap, write

# Status of a worker: it sleeps in Python (ASLEEP), was woken (WAKING), was woken and has work (CALLED), spins
# (SPINNING) or works (WORKING). The calling thread sets ASLEEP to WAKING, SPINNING to WORKING, and WAKING to
# CALLED and back. The worker makes all other transitions.
ASLEEP, WAKING, CALLED, SPINNING, WORKING = range(5)

# Byte offsets in the shared words of a pool: the current job, then for each member its status and the next
# game of its share. Words written by different threads are two cache lines apart, so that prefetching one
# does not fetch the other.
LINE = 16 * WORD_BYTES
MEMBERS, GAMES, WORK, ARGUMENTS = 0, WORD_BYTES, 2 * WORD_BYTES, 3 * WORD_BYTES
STATUS, NEXT, MEMBER = LINE, 2 * LINE, 2 * LINE

SPINS = 3_000_000  # about 1 ms
CHUNK = 8  # games that a thread takes at a time

# Placeholders for the loop and the type of its arguments, see `work`.
loop: Any = None
ARGUMENTS_TYPE: Any = None


def run_main(pool: int, members: int, games: int, work: int, arguments: Any) -> None:
    """Run a loop over all games, together with the workers that are awake or wake up in time."""
    write(pool + MEMBERS, members)
    write(pool + GAMES, games)
    write(pool + WORK, work)
    write(pool + ARGUMENTS, address_of(arguments))
    for member in range(members):
        write(pool + NEXT + member * MEMBER, games * member // members)
    for member in range(1, members):
        status = pool + STATUS + member * MEMBER
        swap(status, WAKING, CALLED)
        swap(status, SPINNING, WORKING)
    call(work, pool, 0, read(pool + ARGUMENTS))
    for member in range(1, members):
        status = pool + STATUS + member * MEMBER
        swap(status, CALLED, WAKING)
        while read(status) == WORKING:
            pass


@entry_point
def run_worker(pool: int, member: int, spins: int) -> None:
    """Take part in every loop until there has been no work for `spins` reads of the status."""
    status = pool + STATUS + member * MEMBER
    while not swap(status, WAKING, SPINNING) and not swap(status, CALLED, WORKING):
        pass
    while True:
        left = spins
        while left > 0 and read(status) == SPINNING:
            left -= 1
        if read(status) == WORKING:
            call(read(pool + WORK), pool, member, read(pool + ARGUMENTS))
            write(status, SPINNING)
        elif swap(status, SPINNING, ASLEEP):
            break


def work(pool: int, member: int, arguments_address: int) -> None:
    """Run the loop for chunks of games until none is left, the member's own share first."""
    arguments = load_at(arguments_address, ARGUMENTS_TYPE)
    members, games = read(pool + MEMBERS), read(pool + GAMES)
    for turn in range(members):
        owner = (member + turn) % members
        stop = games * (owner + 1) // members
        start = add(pool + NEXT + owner * MEMBER, CHUNK)
        while start < stop:
            loop(*arguments, start, min(start + CHUNK, stop))
            start = add(pool + NEXT + owner * MEMBER, CHUNK)


class SharedLoop(NamedTuple):
    """A loop that threads can share."""

    run_main: Any
    work: Any  # a C function


def make_shared(function: Any, name: str, example: tuple[Any, ...]) -> SharedLoop:
    """Return a compiled loop for a thread pool.

    Args:
        function: the loop. It takes arguments like those in `example`, and a range of games.
        name: the name of the loop.
        example: arguments without the range of games.
    """
    import numba

    typeof: Any = numba.typeof
    arguments_type = typeof(example)
    # The cache finds a function by its name: loops over other layouts of states need another name.
    label = f"{name}_{hashlib.sha256(str(arguments_type).encode()).hexdigest()[:16]}"
    shared_work = bind_callback(
        work, {"loop": function, "ARGUMENTS_TYPE": arguments_type}, label, parameters=3
    )
    main = bind(run_main, {}, counted=False)
    main.compile((*[typeof(0)] * 4, arguments_type))
    main.disable_compile()  # `work` would misread arguments of other types
    return SharedLoop(main, shared_work)


class Worker(NamedTuple):
    """A worker thread: the index of its status word, and the queue that wakes it."""

    status: int
    wake: SimpleQueue[bool]


class ThreadPool:
    """A pool of threads that counts its caller as a member; the others end with the pool.

    Args:
        members: the number of threads.
        spins: reads of the status before a worker without work sleeps.
    """

    def __init__(self, members: int, spins: int = SPINS) -> None:
        self.members = members
        self._spins = spins
        self._start()

    def run(self, loop: SharedLoop, games: int, arguments: tuple[Any, ...]) -> None:
        """Run a loop over all games and return when it has finished."""
        if self._process != os.getpid():  # a fork has only the thread that forked
            self._start()
        with self._lock:
            for worker in self._workers:
                if self._words[worker.status] == ASLEEP:
                    self._words[worker.status] = WAKING
                    worker.wake.put(True)
            loop.run_main(self._address, self.members, games, loop.work.address, arguments)

    def close(self) -> None:
        """Stop the threads. The caller then runs loops alone."""
        self._close()

    def _start(self) -> None:
        self._process, self._lock = os.getpid(), Lock()
        self._words = np.zeros((LINE + self.members * MEMBER) // WORD_BYTES, np.int64)
        self._address = self._words.ctypes.data
        self._workers = []
        for member in range(1, self.members):
            worker = Worker((STATUS + member * MEMBER) // WORD_BYTES, SimpleQueue())
            self._workers.append(worker)
            arguments = (self._words, member, worker.wake, self._spins)
            Thread(target=_work_when_woken, args=arguments, daemon=True).start()
        self._close = weakref.finalize(self, _dismiss, self._workers)


def _work_when_woken(words: np.ndarray, member: int, wake: SimpleQueue[bool], spins: int) -> None:
    while wake.get():
        run_worker(words.ctypes.data, member, spins)


def _dismiss(workers: list[Worker]) -> None:
    for worker in workers:
        worker.wake.put(False)
