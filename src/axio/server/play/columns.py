"""Columns of numbers as JSON, written by compiled code: an offer has thousands of them, for every move made.

These loops call nothing in other files, so Numba's cache knows by itself when they have changed. They are
compiled here, by name, and not under the decorators of the rules: an edit must not compile all rules again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.compile import entry

ZERO, MINUS, COMMA, OPEN, CLOSE = (ord(sign) for sign in "0-,[]")
WIDEST = 21  # characters of a number and the comma after it


def _put(out: Any, at: Any, number: Any) -> Any:
    """Write a number; where the next character goes."""
    if number < 0:
        out[at] = MINUS
        at += 1
        number = -number
    digits = 1
    power = 10
    while number >= power:
        digits += 1
        power *= 10
    for place in range(at + digits - 1, at - 1, -1):
        out[place] = ZERO + number % 10
        number //= 10
    return at + digits


def _write(rows: Any, out: Any, flat: Any) -> Any:
    """Write rows of numbers as lists in a list, or, if they are to be `flat`, as one list; how many bytes."""
    out[0] = OPEN
    at = 1
    for row in range(rows.shape[0]):
        if row > 0:
            out[at] = COMMA
            at += 1
        if not flat:
            out[at] = OPEN
            at += 1
        for column in range(rows.shape[1]):
            if column > 0:
                out[at] = COMMA
                at += 1
            at = put(out, at, np.int64(rows[row, column]))
        if not flat:
            out[at] = CLOSE
            at += 1
    out[at] = CLOSE
    return at + 1


def _rank(numbers: Any, ranks: Any, different: Any) -> Any:
    """Write the different numbers, ascending, and let `ranks` say at which place each is; how many."""
    for n in range(len(numbers)):
        ranks[numbers[n]] = 1
    count = 0
    for number in range(len(ranks)):
        if ranks[number]:
            different[count] = number
            ranks[number] = count
            count += 1
    return count


put = entry(_put)
write = entry(_write)
rank = entry(_rank)


def prepare() -> None:
    """Compile the loops, or load them: nobody should wait for it at a table."""
    column(np.zeros(1, np.int64))
    table(np.zeros((1, 1), np.int16))
    distinct(np.zeros(1, np.int64))


def column(numbers: np.ndarray) -> bytes:
    """Numbers as a list."""
    # All of one type: for every other the loop would be compiled again.
    return _json(numbers.astype(np.int64, copy=False).reshape(-1, 1), True)


def table(rows: np.ndarray) -> bytes:
    """Rows of small numbers as a list of lists."""
    return _json(rows.astype(np.int16, copy=False), False)


def _json(rows: np.ndarray, flat: bool) -> bytes:
    out = np.empty(WIDEST * rows.size + 2 * len(rows) + 2, np.uint8)
    return out[: write(rows, out, flat)].tobytes()


def distinct(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different numbers, ascending, and for each number (none is negative) which of them it is."""
    numbers = numbers.astype(np.int64, copy=False)
    if not len(numbers):
        return numbers, numbers
    ranks = np.zeros(int(numbers.max()) + 1, np.int64)
    different = np.empty(len(numbers), np.int64)
    count = rank(numbers, ranks, different)
    return different[:count], ranks[numbers]
