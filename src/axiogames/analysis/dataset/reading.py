"""Datasets read again: tables of pyarrow, and their columns as arrays of NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InvalidFile, InvalidOption, ParseError, abbreviated
from ...files import check_name
from ...optional_deps import require
from .schema import EXTRA, Facts, schema


def read(path: str | Path, columns: Sequence[str] | None = None) -> Any:
    """A dataset, or some columns of it, as a pyarrow table.

    Raises `InvalidFile` for a file that is none, `InvalidOption` for a column that it does not have, and
    `MissingDependency` without pyarrow.
    """
    arrow, parquet = require("pyarrow", EXTRA), require("pyarrow.parquet", EXTRA)
    if not isinstance(path, str | Path):
        raise InvalidFile(f"{abbreviated(path)} is no dataset: give the name of a file")
    try:
        check_name(path)
        # Opened here: that says in fewer words what is wrong, and pyarrow opens no name that is not UTF-8.
        with open(path, "rb") as source:
            file = parquet.ParquetFile(source)
            Facts.parse(file.schema_arrow.metadata, str(path))
            _check_types(file.schema_arrow, str(path))
            missing = {*map(str, columns or ())} - set(file.schema_arrow.names)
            if missing:
                there = ", ".join(file.schema_arrow.names)
                raise InvalidOption(f"{path} has no column {', '.join(sorted(missing))}: choose from {there}")
            table = file.read(columns=None if columns is None else list(columns))
    except arrow.ArrowException as error:
        raise InvalidFile(f"{path}: not a file of Parquet: {error}") from None
    except OSError as error:
        raise InvalidFile(f"{path}: {error.strerror or error}") from None
    check(table, str(path))
    return table


def facts(source: Any) -> Facts:
    """What a dataset says about itself: given as a path, or as a table or batch read from it."""
    if isinstance(source, str | Path):
        source = read(source, [])
    if not hasattr(source, "schema"):
        raise InvalidFile(f"{abbreviated(source)} is no dataset: give a path, or a table of pyarrow")
    return Facts.parse(source.schema.metadata, "this table")


def states(table: Any, *, checked: bool = True) -> np.ndarray:
    """The column `state` of a table or batch as an array of records, one for each row.

    A record is what the rules work on: `View(variant, states[n : n + 1], seat, ())` can be asked everything.
    The array is the table's own memory where it lies in one piece, so it cannot be written to.

    Every record is checked, which takes about 0.3 ms: compiled rules trust what they are given. With
    `checked=False` that is left out, for files that you have made yourself.

    Raises:
        BadFile: a record is not a state that a game can have, or there is none in a row.
    """
    found = facts(table)
    dtype, variant = found.dtype, found.settings.variant
    column = _column(table, "state")
    data = column.buffers()[1]
    if data is None:  # no rows
        return np.zeros(0, dtype)
    records = np.frombuffer(data, dtype, len(column), column.offset * dtype.itemsize)
    for row in range(len(records) if checked else 0):
        try:
            variant.check_state(records[row : row + 1])
        except ParseError as error:
            raise InvalidFile(f"row {row}: the state is none of {variant.game.id}: {error}") from None
    return records


def points(table: Any, name: str = "scores") -> np.ndarray:
    """A column of numbers by seat, by track or both as one array with a row for each row of the table."""
    column = _column(table, name)
    kinds = require("pyarrow.types", EXTRA)
    if not (kinds.is_fixed_size_list(column.type) or kinds.is_integer(column.type)):
        raise InvalidOption(f"the column {name} holds no numbers")
    shape = [len(column)]
    while hasattr(column.type, "list_size"):
        shape.append(column.type.list_size)
        column = column.flatten()
    numbers: np.ndarray = column.to_numpy().reshape(shape)
    return numbers


def _column(table: Any, name: str) -> Any:
    if not hasattr(table, "schema"):
        raise InvalidFile(f"{abbreviated(table)} is no dataset: give a table of pyarrow")
    if name not in table.schema.names:
        raise InvalidOption(f"the table has no column {name}: it has {', '.join(table.schema.names)}")
    _check_types(table.schema, "this table", [name])
    column = table.column(name)
    _check_nulls(name, column, "this table")
    return column.combine_chunks() if hasattr(column, "combine_chunks") else column


def check(table: Any, name: str) -> None:
    """Check the columns of a table against what its metadata says of it. Raises `InvalidFile`.

    Seats, places and numbers of moves are within bounds, and no value is missing; what a state holds is
    checked by `states`.
    """
    settings = Facts.parse(table.schema.metadata, name).settings
    _check_types(table.schema, name)
    last_action = settings.variant.first_other_action + settings.variant.other_actions - 1
    bounds = {
        "game": (0, settings.games - 1),
        "ply": (0, None),
        "seat": (0, settings.players - 1),
        "legal_count": (1, settings.variant.most_actions),
        "legal": (0, last_action),
        "action": (0, last_action),
        "place": (1, settings.players),
        "places": (1, settings.players),
        "scores": (0, None),
        "final_scores": (0, None),
        "gain": (0, None),
    }
    compute = require("pyarrow.compute", EXTRA)
    for column in set(schema(Facts.parse(table.schema.metadata, name)).names) & set(table.schema.names):
        values = table.column(column)
        _check_nulls(column, values, name)
        while hasattr(values.type, "value_type"):
            values = compute.list_flatten(values)
        if column not in bounds or not len(values):
            continue
        found = compute.min_max(values).as_py()
        low, high = bounds[column]
        if found["min"] < low or (high is not None and found["max"] > high):
            least, most = found["min"], found["max"]
            upper = "" if high is None else f" to {high}"
            raise InvalidFile(
                f"{name}: the column {column} has {least} to {most}, it should have {low}{upper}"
            )


def _check_types(columns: Any, name: str, only: Sequence[str] | None = None) -> None:
    """See to it that our columns, or some of them, have the types that we write. Raises `InvalidFile`."""
    for field in schema(Facts.parse(columns.metadata, name)):
        if field.name not in columns.names or (only is not None and field.name not in only):
            continue
        if columns.names.count(field.name) > 1:
            raise InvalidFile(f"{name}: the column {field.name} stands there twice")
        if (found := columns.field(field.name).type) != field.type:
            raise InvalidFile(f"{name}: the column {field.name} is {found}, it should be {field.type}")


def _check_nulls(name: str, values: Any, where: str) -> None:
    while True:
        if values.null_count:
            raise InvalidFile(f"{where}: {values.null_count} values of the column {name} are missing")
        if not hasattr(values.type, "value_type"):
            return
        values = require("pyarrow.compute", EXTRA).list_flatten(values)
