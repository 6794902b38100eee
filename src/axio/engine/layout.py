"""Layouts of states without holes, so that equal states are equal bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compile import INTERPRETED

Field = tuple[Any, ...]  # name, type and, for arrays, a shape: as NumPy takes it


def layout(*fields: Field) -> np.dtype[Any]:
    """A record of these fields, the widest numbers first, filled up to a whole number of them.

    Aligned, as a GPU needs it, but with no byte that belongs to nobody: such bytes are not copied
    reliably, and would make equal states look different.
    """
    widest_first = sorted(fields, key=lambda field: -np.dtype(field[1]).itemsize)
    dtype = np.dtype([field[:3] for field in widest_first], align=True)
    used = sum(np.dtype([field]).itemsize for field in widest_first)
    if missing := dtype.itemsize - used:
        dtype = np.dtype([*widest_first, ("pad", np.uint8, missing)], align=True)
    return dtype


def allocate(dtype: np.dtype[Any], count: int = 1) -> Any:
    """An array of `count` records; interpreted rules need them to have attributes."""
    records = np.zeros(count, dtype)
    return records.view(np.recarray) if INTERPRETED else records
