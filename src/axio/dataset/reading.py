"""Datasets read again: tables of pyarrow, and their columns as arrays of NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import BadFile, WrongOption
from ..extras import need
from .columns import EXTRA, Facts


def read(path: str | Path, columns: Sequence[str] | None = None) -> Any:
    """A dataset, or some columns of it, as a pyarrow table.

    Raises `BadFile` for a file that is none, `WrongOption` for a column that it does not have, and
    `NotInstalled` without pyarrow.
    """
    arrow, parquet = need("pyarrow", EXTRA), need("pyarrow.parquet", EXTRA)
    try:
        with open(path, "rb"):  # which says in fewer words than pyarrow what is wrong
            file = parquet.ParquetFile(path)
        Facts.parse(file.schema_arrow.metadata, str(path))
        missing = set(columns or ()) - set(file.schema_arrow.names)
        if missing:
            there = ", ".join(file.schema_arrow.names)
            raise WrongOption(f"{path} has no column {', '.join(sorted(missing))}: choose from {there}")
        return file.read(columns=None if columns is None else list(columns))
    except arrow.ArrowException as error:
        raise BadFile(f"{path}: not a file of Parquet: {error}") from None
    except OSError as error:
        raise BadFile(f"{path}: {error.strerror or error}") from None


def facts(source: Any) -> Facts:
    """What a dataset says about itself: given as a path, or as a table or batch read from it."""
    if isinstance(source, str | Path):
        source = read(source, [])
    return Facts.parse(source.schema.metadata, "this table")


def states(table: Any) -> np.ndarray:
    """The column `state` of a table or batch as an array of records, one for each row.

    A record is what the rules work on: `View(variant, states[n : n + 1], seat, ())` can be asked everything.
    The array is the table's own memory where it lies in one piece, so it cannot be written to.
    """
    dtype = facts(table).dtype
    column = _column(table, "state")
    data = column.buffers()[1]
    return np.frombuffer(data, dtype, len(column), column.offset * dtype.itemsize)


def points(table: Any, name: str = "scores") -> np.ndarray:
    """A column of numbers by seat, by track or both as one array with a row for each row of the table."""
    column = _column(table, name)
    shape = [len(column)]
    while hasattr(column.type, "list_size"):
        shape.append(column.type.list_size)
        column = column.flatten()
    numbers: np.ndarray = column.to_numpy().reshape(shape)
    return numbers


def _column(table: Any, name: str) -> Any:
    if name not in table.schema.names:
        raise WrongOption(f"the table has no column {name}: it has {', '.join(table.schema.names)}")
    column = table.column(name)
    return column.combine_chunks() if hasattr(column, "combine_chunks") else column
