"""Reading datasets: pyarrow tables, and their columns as NumPy arrays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from ...errors import InvalidFile, InvalidOption, ParseError, abbreviated
from ...files import check_file_name
from ...games.variant import Variant
from ...optional_deps import require
from .schema import EXTRA, FORMAT, FORMAT_1, DatasetMetadata, arrow_schema


def read(path: str | Path, columns: Sequence[str] | None = None) -> Any:
    """Return a dataset as a pyarrow table.

    Args:
        path: the Parquet file.
        columns: names of the columns to read; all by default.

    Raises:
        InvalidFile: the file is not a dataset, or is damaged.
        InvalidOption: the dataset has no such column.
        MissingDependency: pyarrow is not installed.
    """
    arrow, parquet = require("pyarrow", EXTRA), require("pyarrow.parquet", EXTRA)
    if not isinstance(path, str | Path):
        raise InvalidFile(f"{abbreviated(path)} is not a dataset: pass the name of a file")
    try:
        check_file_name(path)
        # Opened here for short error messages, and because pyarrow rejects names that are not UTF-8.
        with open(path, "rb") as source:
            file = parquet.ParquetFile(source)
            found = DatasetMetadata.parse(file.schema_arrow.metadata, str(path))
            _check_types(file.schema_arrow, str(path))
            missing = {*map(str, columns or ())} - set(file.schema_arrow.names)
            if missing:
                names = ", ".join(file.schema_arrow.names)
                raise InvalidOption(f"{path} has no column {', '.join(sorted(missing))}: choose from {names}")
            requested = file.schema_arrow.names if columns is None else list(columns)
            old = found.format == FORMAT_1
            with_state = requested if "state" in requested else [*requested, "state"]
            table = file.read(columns=with_state if old else requested)
            if old:
                table = _upgrade(table, found, str(path)).select(requested)
    except arrow.ArrowException as error:
        raise InvalidFile(f"{path}: not a Parquet file: {error}") from None
    except OSError as error:
        raise InvalidFile(f"{path}: {error.strerror or error}") from None
    check_table(table, str(path))
    return table


def _upgrade(table: Any, found: DatasetMetadata, name: str) -> Any:
    """Return a table of format 1, converted to the action ids and the metadata of the current format."""
    pa = require("pyarrow", EXTRA)
    variant = found.settings.variant
    renumbered = type(variant).action_from_format_1 is not Variant.action_from_format_1
    changed = [name for name in ("action", "legal") if renumbered and name in table.schema.names]
    records = states(table) if changed else None

    def translate(row: int, action: int) -> int:
        assert records is not None, "states are read if actions have to be translated"
        try:
            return variant.action_from_format_1(records[row : row + 1], action)
        except ParseError as error:
            raise InvalidFile(f"{name}: row {row}: {error}") from None

    for column in changed:
        field, values = table.schema.field(column), table.column(column).to_pylist()
        new = [
            [translate(row, action) for action in value] if column == "legal" else translate(row, value)
            for row, value in enumerate(values)
        ]
        table = table.set_column(table.schema.names.index(column), field, pa.array(new, field.type))
    upgraded = arrow_schema(msgspec.structs.replace(found, format=FORMAT))
    return table.replace_schema_metadata(upgraded.metadata)


def metadata(source: Any) -> DatasetMetadata:
    """Return the metadata of a dataset, given as a path or as a table or batch read from it.

    Raises:
        InvalidFile: the source is not a dataset.
    """
    if isinstance(source, str | Path):
        source = read(source, [])
    if not hasattr(source, "schema"):
        raise InvalidFile(f"{abbreviated(source)} is not a dataset: pass a path or a pyarrow table")
    return DatasetMetadata.parse(source.schema.metadata, "this table")


def states(table: Any, *, checked: bool = True) -> np.ndarray:
    """Return the column `state` as a structured array with one record per row.

    The rules operate on such records: `View(variant, states[n : n + 1], seat, ())` is the view of row n. The
    array is read-only, because it shares the memory of the table if that is contiguous.

    Args:
        table: table or batch with the column `state`.
        checked: whether to check every record, which takes about 0.3 ms each. Compiled rules trust their
            input, so skip the check only for files that you have generated yourself.

    Raises:
        InvalidFile: a record is not a valid state, or a value is missing.
    """
    found = metadata(table)
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
            raise InvalidFile(f"row {row}: not a valid state of {variant.game.id}: {error}") from None
    return records


def column_array(table: Any, name: str = "scores") -> np.ndarray:
    """Return a numeric column as an array. The first axis is the row; the others are seats or tracks.

    Raises:
        InvalidOption: there is no such column, or it is not numeric.
        InvalidFile: the column does not have the type of the format, or a value is missing.
    """
    column = _column(table, name)
    types = require("pyarrow.types", EXTRA)
    if not (types.is_fixed_size_list(column.type) or types.is_integer(column.type)):
        raise InvalidOption(f"the column {name} is not numeric")
    shape = [len(column)]
    while hasattr(column.type, "list_size"):
        shape.append(column.type.list_size)
        column = column.flatten()
    array: np.ndarray = column.to_numpy().reshape(shape)
    return array


def _column(table: Any, name: str) -> Any:
    if not hasattr(table, "schema"):
        raise InvalidFile(f"{abbreviated(table)} is not a dataset: pass a pyarrow table")
    if name not in table.schema.names:
        raise InvalidOption(f"the table has no column {name}: it has {', '.join(table.schema.names)}")
    _check_types(table.schema, "this table", [name])
    column = table.column(name)
    _check_nulls(name, column, "this table")
    return column.combine_chunks() if hasattr(column, "combine_chunks") else column


# ---------------------------------------------------------------- checks


def check_table(table: Any, name: str) -> None:
    """Check the types, ranges and missing values of the columns of a table. `states` checks the states.

    Raises:
        InvalidFile: a column does not match the metadata; `name` is part of the message.
    """
    found = DatasetMetadata.parse(table.schema.metadata, name)
    settings = found.settings
    _check_types(table.schema, name)
    last_action = settings.variant.placements + settings.variant.non_placements - 1
    bounds = {
        "game": (0, settings.games - 1),
        "ply": (0, None),
        "seat": (0, settings.players - 1),
        "legal_count": (1, settings.variant.max_legal_actions),
        "legal": (0, last_action),
        "action": (0, last_action),
        "place": (1, settings.players),
        "places": (1, settings.players),
        "scores": (0, None),
        "final_scores": (0, None),
        "gain": (0, None),
    }
    compute = require("pyarrow.compute", EXTRA)
    for column in set(arrow_schema(found).names) & set(table.schema.names):
        values = table.column(column)
        _check_nulls(column, values, name)
        while hasattr(values.type, "value_type"):
            values = compute.list_flatten(values)
        if column not in bounds or not len(values):
            continue
        extremes = compute.min_max(values).as_py()
        low, high = bounds[column]
        if extremes["min"] < low or (high is not None and extremes["max"] > high):
            upper = " or more" if high is None else f" to {high}"
            raise InvalidFile(
                f"{name}: the column {column} has values from {extremes['min']} to {extremes['max']},"
                f" expected {low}{upper}"
            )


def _check_types(columns: Any, name: str, only: Sequence[str] | None = None) -> None:
    """Raise `InvalidFile` if a column of the format, or one of the columns `only`, has a different type."""
    for field in arrow_schema(DatasetMetadata.parse(columns.metadata, name)):
        if field.name not in columns.names or (only is not None and field.name not in only):
            continue
        if columns.names.count(field.name) > 1:
            raise InvalidFile(f"{name}: duplicate column {field.name}")
        if (found := columns.field(field.name).type) != field.type:
            raise InvalidFile(f"{name}: the column {field.name} has type {found}, expected {field.type}")


def _check_nulls(column: str, values: Any, name: str) -> None:
    while True:
        if values.null_count:
            raise InvalidFile(f"{name}: {values.null_count} values of the column {column} are missing")
        if not hasattr(values.type, "value_type"):
            return
        values = require("pyarrow.compute", EXTRA).list_flatten(values)
