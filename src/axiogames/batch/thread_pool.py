"""Threads that share loops over games, without coming back into Python for it.

To be woken takes a thread a tenth of a millisecond, and a thread that comes back into Python while another
one is there sleeps until it has left; a step of a thousand games is no more than some tenths. So helpers look
out for work in compiled code for a while before they sleep. All take a few games at a time, first of their
own part, so that a game stays near the thread that had it last, then of the parts of others: nobody waits for
one who is late, or still asleep.
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
from .atomics import BYTES, add, address_of, call, found_at, read, swap, write

# What a helper does: it sleeps in Python (AWAY); it was woken (COMING) and may start at once when it comes
# (CALLED); it looks out for work (LOOKING); it works (WORKING). Who runs a loop takes helpers from LOOKING to
# WORKING, and back and forth between COMING and CALLED; all else they do themselves.
AWAY, COMING, CALLED, LOOKING, WORKING = range(5)

# Addresses within the numbers of a crew: what there is to do, then what each member does, and the next game
# of its part. Numbers that different threads write are in different lines of a cache, and not in neighbours.
LINE = 16 * BYTES
MEMBERS, GAMES, WORK, SHARE = 0, BYTES, 2 * BYTES, 3 * BYTES
DOING, NEXT, MEMBER = LINE, 2 * LINE, 2 * LINE

LOOKS = 3_000_000  # about a millisecond
FEW = 8  # games to take at a time

# Stand-ins for what a loop brings with it, see `work`.
loop: Any = None
SHARE_TYPE: Any = None


def run_main(crew: int, members: int, games: int, working: int, share: Any) -> None:
    """Run a loop over so many games, together with all helpers who are there or come in time."""
    write(crew + MEMBERS, members)
    write(crew + GAMES, games)
    write(crew + WORK, working)
    write(crew + SHARE, address_of(share))
    for member in range(members):
        write(crew + NEXT + member * MEMBER, games * member // members)
    for member in range(1, members):
        doing = crew + DOING + member * MEMBER
        swap(doing, COMING, CALLED)
        swap(doing, LOOKING, WORKING)
    call(working, crew, 0, read(crew + SHARE))
    for member in range(1, members):
        doing = crew + DOING + member * MEMBER
        swap(doing, CALLED, COMING)
        while read(doing) == WORKING:
            pass


@entry_point
def run_worker(crew: int, member: int, looks: int) -> None:
    """Do one's share of all that there is to do, until there is nothing for so many looks."""
    doing = crew + DOING + member * MEMBER
    while not swap(doing, COMING, LOOKING) and not swap(doing, CALLED, WORKING):
        pass
    while True:
        left = looks
        while left > 0 and read(doing) == LOOKING:
            left -= 1
        if read(doing) == WORKING:
            call(read(crew + WORK), crew, member, read(crew + SHARE))
            write(doing, LOOKING)
        elif swap(doing, LOOKING, AWAY):
            break


def work(crew: int, member: int, share: int) -> None:
    """Do some games of the loop after the other until none is left, one's own part first."""
    arguments = found_at(share, SHARE_TYPE)
    members, games = read(crew + MEMBERS), read(crew + GAMES)
    for turn in range(members):
        whose = (member + turn) % members
        end = games * (whose + 1) // members
        first = add(crew + NEXT + whose * MEMBER, FEW)
        while first < end:
            loop(*arguments, first, min(first + FEW, end))
            first = add(crew + NEXT + whose * MEMBER, FEW)


class SharedLoop(NamedTuple):
    """A loop that threads can share."""

    lead: Any
    work: Any  # a function of C


def make_shared(function: Any, name: str, example: tuple[Any, ...]) -> SharedLoop:
    """A compiled loop for threads to share: it takes arguments like these, the first game and the one after
    the last.
    """
    import numba

    typeof: Any = numba.typeof
    kind = typeof(example)
    # By its name the cache finds it again: loops over states of another layout must have another one.
    label = f"{name}_{hashlib.sha256(str(kind).encode()).hexdigest()[:16]}"
    working = bind_callback(work, {"loop": function, "SHARE_TYPE": kind}, label, parameters=3)
    leading = bind(run_main, {}, counted=False)
    leading.compile((*[typeof(0)] * 4, kind))
    leading.disable_compile()  # what is of another kind would be misread
    return SharedLoop(leading, working)


class WorkerThread(NamedTuple):
    """A thread that helps: where it says what it does, and how it is woken."""

    doing: int
    bell: SimpleQueue[bool]


class ThreadPool:
    """So many threads, counting the one that calls; others are started, and end with the crew."""

    def __init__(self, members: int, looks: int = LOOKS) -> None:
        self.members = members
        self._looks = looks
        self._start()

    def run(self, loop: SharedLoop, games: int, share: tuple[Any, ...]) -> None:
        """Run a loop over so many games; when it comes back, all of them are done."""
        if self._process != os.getpid():  # a fork has no threads but the one that forked
            self._start()
        with self._free:
            for helper in self._helpers:
                if self._numbers[helper.doing] == AWAY:
                    self._numbers[helper.doing] = COMING
                    helper.bell.put(True)
            loop.lead(self._address, self.members, games, loop.work.address, share)

    def close(self) -> None:
        """Let the threads go."""
        self._close()

    def _start(self) -> None:
        self._process, self._free = os.getpid(), Lock()
        self._numbers = np.zeros((LINE + self.members * MEMBER) // BYTES, np.int64)
        self._address = self._numbers.ctypes.data
        self._helpers = []
        for member in range(1, self.members):
            helper = WorkerThread((DOING + member * MEMBER) // BYTES, SimpleQueue())
            self._helpers.append(helper)
            Thread(target=_help, args=(self._numbers, member, helper.bell, self._looks), daemon=True).start()
        self._close = weakref.finalize(self, _dismiss, self._helpers)


def _help(numbers: np.ndarray, member: int, bell: SimpleQueue[bool], looks: int) -> None:
    while bell.get():
        run_worker(numbers.ctypes.data, member, looks)


def _dismiss(helpers: list[WorkerThread]) -> None:
    for helper in helpers:
        helper.bell.put(False)
