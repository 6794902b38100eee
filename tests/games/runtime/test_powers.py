"""The exponential function and integer powers, compared with Python's."""

from __future__ import annotations

import math

import numpy as np

from axiogames.games.runtime import powers
from axiogames.games.runtime.compile import entry_point


@entry_point
def exps(arguments, out):  # type: ignore[no-untyped-def]
    """Write e to the power of each argument."""
    for i in range(len(arguments)):
        out[i] = powers.exp(arguments[i])


@entry_point
def all_powers(base, out):  # type: ignore[no-untyped-def]
    """Write the powers of `base` from 0 on."""
    for n in range(len(out)):
        out[n] = powers.power(base, n)


def exps_of(arguments: list[float]) -> np.ndarray:
    out = np.zeros(len(arguments), np.float32)
    exps(np.array(arguments, np.float32), out)
    return out


def test_exp_is_the_nearest_float32_or_its_neighbour() -> None:
    arguments = np.linspace(-87, 87, 4001, dtype=np.float32)
    expected = np.array([math.exp(x) for x in arguments.tolist()])
    assert np.abs(exps_of(arguments.tolist()) / expected - 1).max() < 2**-23


def test_exp_of_zero_is_one_and_large_arguments_stay_finite() -> None:
    assert exps_of([0.0]).tolist() == [1.0]
    assert exps_of([1e9, -1e9]).tolist() == exps_of([88.0, -88.0]).tolist()
    assert np.isfinite(exps_of([1e9])).all()
    assert exps_of([-1e9])[0] > 0


# The bits that every platform must produce: the values of `decimal.Decimal.exp`, rounded to float32.
def test_bits_of_exp() -> None:
    bits = exps_of([1.0, -1.0, 0.5, -3.25, 10.0]).view(np.uint32).tolist()
    assert [hex(word) for word in bits] == [
        "0x402df854",
        "0x3ebc5ab2",
        "0x3fd3094c",
        "0x3d1ed1b4",
        "0x46ac14ee",
    ]


def test_powers_by_squaring() -> None:
    out = np.zeros(30)
    all_powers(np.float32(-1.5), out)
    assert out.tolist() == [(-3) ** n / 2**n for n in range(30)]  # exact: fewer than 53 bits
