"""Exponential function and integer powers, equal to the last bit on every platform.

The C library's `exp` and `pow` differ between platforms in the last bit. These functions use multiplications,
additions and divisions only, so interpreted code, CPUs and WebAssembly agree.
"""

from __future__ import annotations

import numpy as np

from .compile import rule

LOG2_E = 1.4426950408889634
LN_2_HIGH = 0.693147180369123816490  # its lowest 21 bits are zero, so its small multiples are exact
LN_2_LOW = 1.90821492927058770002e-10
MAX_EXPONENT = 88.0  # exp(88) is finite as a float32, and exp(-88) is not zero


@rule
def exp(x):
    """Return e to the power of `x` as a float32; `x` is limited to ±88.

    The argument is reduced to n ln 2 + r with an |r| of at most ln 2 / 2. The series of exp(r) is exact to
    1e-11 after the term r**9.
    """
    x = min(max(np.float64(x), -MAX_EXPONENT), MAX_EXPONENT)
    n = np.int64(np.floor(x * LOG2_E + 0.5))
    r = x - n * LN_2_HIGH - n * LN_2_LOW
    total = np.float64(1.0)
    for k in range(9, 0, -1):
        total = 1.0 + total * r / k
    return np.float32(total * power(2.0 if n > 0 else 0.5, abs(n)))


@rule
def power(base, n):
    """Return `base` to the power of a non-negative integer as a float64."""
    base, result = np.float64(base), np.float64(1.0)
    while n > 0:
        if n & 1:
            result *= base
        base *= base
        n >>= 1
    return result
