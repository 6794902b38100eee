"""Incomplete datasets: atomically written parts in a folder, joined when all games have been played.

The parts of `FILE` are in the folder `FILE.parts`, together with the settings of the dataset. Each part is a
Parquet file with a range of games. The joined file does not depend on the boundaries of the parts.
"""

from __future__ import annotations

import io
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from msgspec import Struct

from ...errors import InvalidFile
from ...files import STDOUT, check_file_name, file_name_in_errors, lock_directory, read_file, write_atomic
from ...optional_deps import require
from .reading import check_table
from .schema import EXTRA, DatasetMetadata, Row, arrow_schema, parquet_writer
from .settings import DatasetSettings

SETTINGS_FILE = "settings.json"
JOINED_FILE = "whole.parquet"
MAX_PART = 1 << 30  # bytes; a part has at most a few hundred games of less than 1 MB each
GAMES_PER_GROUP = 256  # in a row group of the joined file
_PART_NAME = re.compile(r"([0-9]{9,10})-([0-9]{9,10})\.parquet")


class PartRange(NamedTuple):
    """A half-open range of game indices: `first` is included, `end` is not."""

    first: int
    end: int

    @property
    def size(self) -> int:
        """Number of games."""
        return self.end - self.first


class DatasetPart(Struct, frozen=True):
    """The rows of a range of games, as a Parquet file in memory."""

    games: PartRange
    rows: int
    content: bytes


def encode_part(metadata: DatasetMetadata, games: PartRange, rows: list[Row]) -> DatasetPart:
    """Return the part with these rows."""
    columns = arrow_schema(metadata)
    table = require("pyarrow", EXTRA).Table.from_pylist(rows, columns)
    file = io.BytesIO()
    with parquet_writer(file, columns) as out:
        out.write_table(table)
    return DatasetPart(games, len(rows), file.getvalue())


@contextmanager
def open_parts(settings: DatasetSettings, path: str | Path, *, force: bool = False) -> Iterator[PartStore]:
    """Open and lock the parts of the dataset that will become the file `path`.

    Args:
        settings: settings of the dataset.
        path: the final file.
        force: whether to replace an existing file.

    Raises:
        InvalidFile: the file exists, or cannot be written.
        SettingsMismatch: the stored parts have different settings.
        MissingDependency: pyarrow is not installed.
    """
    if str(path) == STDOUT:
        raise InvalidFile("a dataset cannot be written to standard output: name a file")
    require("pyarrow.parquet", EXTRA)
    check_file_name(path)
    target = Path(os.path.realpath(path))  # a symbolic link is followed, not replaced
    _check_target(target, force)
    folder = target.with_name(f"{target.name}.parts")
    if folder.exists() and not folder.is_dir():
        raise InvalidFile(f"{folder}: not a folder; the parts are stored in a folder of this name")
    folder.mkdir(exist_ok=True)
    with lock_directory(folder, "another program"):
        _check_settings(folder, settings)
        store = PartStore(DatasetMetadata.of(settings), target, folder, force)
        try:
            yield store
        finally:
            if not store.rows:
                shutil.rmtree(folder)  # without parts, the settings need not be kept


def _check_target(target: Path, force: bool) -> None:
    if target.exists() and not target.is_file():
        raise InvalidFile(f"{target}: not a regular file")
    if target.exists() and not force:
        raise InvalidFile(f"{target}: the file exists; --force replaces it")


def _check_settings(folder: Path, requested: DatasetSettings) -> None:
    """Check that the parts in a folder have these settings, and store the settings if there are no parts."""
    path = folder / SETTINGS_FILE
    if not any(_PART_NAME.fullmatch(entry.name) for entry in folder.iterdir()):
        write_atomic(path, msgspec.json.encode(requested))
        return
    try:
        stored = msgspec.json.decode(read_file(path), type=DatasetSettings)
    except FileNotFoundError:
        raise InvalidFile(f"{folder}: parts without settings ({SETTINGS_FILE}); remove the folder") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidFile(f"{path}: not the settings of a dataset: {error}") from None
    stored.check_resumable(requested, folder, "remove the folder or choose another file")


class PartStore:
    """The stored parts of a dataset."""

    def __init__(self, metadata: DatasetMetadata, target: Path, folder: Path, force: bool) -> None:
        self.metadata = metadata
        self.target = target
        self.folder = folder
        self.force = force  # whether to replace an existing target
        self.rows = {games: int(self._open(games).metadata.num_rows) for games in self._stored_ranges()}

    @property
    def games(self) -> int:
        """Number of stored games."""
        return sum(games.size for games in self.rows)

    @property
    def positions(self) -> int:
        """Number of stored rows."""
        return sum(self.rows.values())

    def missing(self) -> Iterator[PartRange]:
        """Yield the ranges of games that are not stored, in ascending order."""
        end = 0
        for games in sorted(self.rows):
            if end < games.first:
                yield PartRange(end, games.first)
            end = games.end
        if end < self.metadata.settings.games:
            yield PartRange(end, self.metadata.settings.games)

    def add(self, part: DatasetPart) -> None:
        """Store a part. Once this returns, the part survives a kill of the process."""
        write_atomic(self._path(part.games), part.content)
        self.rows[part.games] = part.rows

    def join(self) -> int:
        """Join all parts into the target file, remove the parts, and return the size of the file in bytes.

        Raises:
            InvalidFile: a part is damaged, or the target has been created in the meantime.
        """
        # The joined file is written inside the folder, so a partial file never appears under the final name.
        joined = self.folder / JOINED_FILE
        columns = arrow_schema(self.metadata)
        with file_name_in_errors(self.target), open(joined, "wb") as file:
            with parquet_writer(file, columns) as out:
                for group in self._groups(columns):
                    out.write_table(group, row_group_size=max(1, len(group)))
            file.flush()
            os.fsync(file.fileno())
            size = file.tell()
        _check_target(self.target, self.force)
        os.replace(joined, self.target)
        shutil.rmtree(self.folder)
        return size

    def _groups(self, columns: Any) -> Iterator[Any]:
        """Yield tables of `GAMES_PER_GROUP` games each, independent of the boundaries of parts."""
        pa = require("pyarrow", EXTRA)
        pending = columns.empty_table()
        boundary = GAMES_PER_GROUP
        for games in sorted(self.rows):
            pending = pa.concat_tables([pending, self._read(games, columns)])
            while boundary <= games.end:
                cut = int(np.searchsorted(pending["game"].to_numpy(), boundary))
                yield pending.slice(0, cut).combine_chunks()
                pending, boundary = pending.slice(cut), boundary + GAMES_PER_GROUP
        if len(pending):
            yield pending.combine_chunks()

    # ------------------------------------------------------------ files

    def _path(self, games: PartRange) -> Path:
        return self.folder / f"{games.first:09}-{games.end:09}.parquet"

    def _stored_ranges(self) -> list[PartRange]:
        names = (_PART_NAME.fullmatch(path.name) for path in self.folder.iterdir())
        found = sorted(PartRange(int(name[1]), int(name[2])) for name in names if name)
        end = 0
        for games in found:
            if not end <= games.first < games.end <= self.metadata.settings.games:
                raise self._damaged(games)
            end = games.end
        return found

    def _open(self, games: PartRange) -> Any:
        """Return a part as an open Parquet file. Raises `InvalidFile`."""
        try:
            # Read into memory first: pyarrow rejects names that are not UTF-8.
            content = require("pyarrow", EXTRA).BufferReader(read_file(self._path(games), MAX_PART))
            return require("pyarrow.parquet", EXTRA).ParquetFile(content)
        except (require("pyarrow", EXTRA).ArrowException, OSError):
            raise self._damaged(games) from None

    def _read(self, games: PartRange, columns: Any) -> Any:
        """Return the rows of a part. Raises `InvalidFile` if they do not belong to this dataset."""
        try:
            table = self._open(games).read()
        except (require("pyarrow", EXTRA).ArrowException, OSError):
            raise self._damaged(games) from None
        if not table.schema.equals(columns, check_metadata=True) or len(table) != self.rows[games]:
            raise self._damaged(games)
        try:
            check_table(table, "its content")
        except InvalidFile as error:
            raise self._damaged(games, str(error)) from None
        indices = table["game"].to_numpy()
        found = (indices[0], indices[-1] + 1) if len(indices) else (0, 0)
        if found != games or not np.isin(np.diff(indices), (0, 1)).all():
            raise self._damaged(games, f"its games are not {games.first} to {games.end - 1} in order")
        return table

    def _damaged(self, games: PartRange, reason: str = "") -> InvalidFile:
        details = f" ({reason})" if reason else ""
        return InvalidFile(
            f"{self._path(games)}: not a part of this dataset{details};"
            " remove it and run the command again to replay its games"
        )
