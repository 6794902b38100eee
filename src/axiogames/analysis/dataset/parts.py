"""A dataset while it is made: parts in a folder beside it, each whole, joined when all are there.

The folder of `FILE` is `FILE.parts`. It holds the settings and, for each stretch of games that has been
played, a file of Parquet. How games were cut into stretches is not seen in the end: `join` cuts anew.
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
from ...files import STDOUT, check_name, lock_directory, naming, read_whole, write_atomic
from ...optional_deps import require
from ..run_config import check_same_settings
from .reading import check
from .rows import Row
from .schema import EXTRA, Facts, schema, writer
from .settings import Settings

SETTINGS = "settings.json"
WHOLE = "whole.parquet"
LONGEST_PART = 1 << 30  # bytes; a part has some hundred games, of less than a megabyte each
GROUP = 256  # games in a row group of the finished file
_NAME = re.compile(r"([0-9]{9,10})-([0-9]{9,10})\.parquet")


class Stretch(NamedTuple):
    """The games with the numbers from `first` up to, but without, `end`."""

    first: int
    end: int

    @property
    def games(self) -> int:
        return self.end - self.first


class Part(Struct, frozen=True):
    """The rows of a stretch of games, as a file of Parquet."""

    stretch: Stretch
    rows: int
    content: bytes


def encode(facts: Facts, stretch: Stretch, rows: list[Row]) -> Part:
    """The part that these rows make."""
    columns = schema(facts)
    table = require("pyarrow", EXTRA).Table.from_pylist(rows, columns)
    file = io.BytesIO()
    with writer(file, columns) as out:
        out.write_table(table)
    return Part(stretch, len(rows), file.getvalue())


class Parts:
    """The parts that are there already, and room for more."""

    def __init__(self, facts: Facts, target: Path, folder: Path, force: bool) -> None:
        self.facts = facts
        self.target = target
        self.folder = folder
        self.force = force  # whether a file under the final name may be replaced
        self.rows = {stretch: int(self._open(stretch).metadata.num_rows) for stretch in self._found()}

    @property
    def games(self) -> int:
        """How many games are there."""
        return sum(stretch.games for stretch in self.rows)

    @property
    def positions(self) -> int:
        """How many rows are there."""
        return sum(self.rows.values())

    def left(self) -> Iterator[Stretch]:
        """The games that are missing, in their order."""
        end = 0
        for stretch in sorted(self.rows):
            if end < stretch.first:
                yield Stretch(end, stretch.first)
            end = stretch.end
        if end < self.facts.settings.games:
            yield Stretch(end, self.facts.settings.games)

    def add(self, part: Part) -> None:
        """Keep a part; when this returns, the program may be killed and the part is still there."""
        write_atomic(self._path(part.stretch), part.content)
        self.rows[part.stretch] = part.rows

    def join(self) -> int:
        """Put all parts together under the final name and remove them; how many bytes that are.

        Raises `InvalidFile` for a part that cannot be read, and if the final name has been taken meanwhile.
        """
        # Written in the folder, so that what an interruption leaves behind goes with it.
        whole = self.folder / WHOLE
        columns = schema(self.facts)
        with naming(self.target), open(whole, "wb") as file:
            with writer(file, columns) as out:
                for group in self._groups(columns):
                    out.write_table(group, row_group_size=max(1, len(group)))
            file.flush()
            os.fsync(file.fileno())
            size = file.tell()
        _must_be_free(self.target, self.force)
        os.replace(whole, self.target)
        shutil.rmtree(self.folder)
        return size

    def _groups(self, columns: Any) -> Iterator[Any]:
        """The rows of so many games each, whatever parts they come from."""
        pa = require("pyarrow", EXTRA)
        waiting = columns.empty_table()
        boundary = GROUP
        for stretch in sorted(self.rows):
            waiting = pa.concat_tables([waiting, self._read(stretch, columns)])
            while boundary <= stretch.end:
                cut = int(np.searchsorted(waiting["game"].to_numpy(), boundary))
                yield waiting.slice(0, cut).combine_chunks()
                waiting, boundary = waiting.slice(cut), boundary + GROUP
        if len(waiting):
            yield waiting.combine_chunks()

    # ------------------------------------------------------------ files

    def _path(self, stretch: Stretch) -> Path:
        return self.folder / f"{stretch.first:09}-{stretch.end:09}.parquet"

    def _found(self) -> list[Stretch]:
        names = (_NAME.fullmatch(path.name) for path in self.folder.iterdir())
        found = sorted(Stretch(int(name[1]), int(name[2])) for name in names if name)
        end = 0
        for stretch in found:
            if not end <= stretch.first < stretch.end <= self.facts.settings.games:
                raise self._damaged(stretch)
            end = stretch.end
        return found

    def _open(self, stretch: Stretch) -> Any:
        """A part, opened. Raises `InvalidFile`."""
        try:
            # Through bytes: pyarrow opens no name that is not UTF-8.
            content = require("pyarrow", EXTRA).BufferReader(read_whole(self._path(stretch), LONGEST_PART))
            return require("pyarrow.parquet", EXTRA).ParquetFile(content)
        except (require("pyarrow", EXTRA).ArrowException, OSError):
            raise self._damaged(stretch) from None

    def _read(self, stretch: Stretch, columns: Any) -> Any:
        """Return the rows of a part. Raises `InvalidFile` if they do not belong to this dataset."""
        try:
            table = self._open(stretch).read()
        except (require("pyarrow", EXTRA).ArrowException, OSError):
            raise self._damaged(stretch) from None
        if not table.schema.equals(columns, check_metadata=True) or len(table) != self.rows[stretch]:
            raise self._damaged(stretch)
        try:
            check(table, "its content")
        except InvalidFile as error:
            raise self._damaged(stretch, str(error)) from None
        games = table["game"].to_numpy()
        ends = (games[0], games[-1] + 1) if len(games) else (0, 0)
        if ends != stretch or not np.isin(np.diff(games), (0, 1)).all():
            raise self._damaged(
                stretch, f"its games are not {stretch.first} to {stretch.end - 1}, one after the other"
            )
        return table

    def _damaged(self, stretch: Stretch, why: str = "") -> InvalidFile:
        reason = f" ({why})" if why else ""
        return InvalidFile(
            f"{self._path(stretch)}: not a part of this dataset{reason};"
            " remove it, and its games are played again"
        )


@contextmanager
def parts(settings: Settings, out: str | Path, *, force: bool = False) -> Iterator[Parts]:
    """The parts of a dataset that is to become the file `out`.

    Raises `InvalidFile` if that exists (unless `force` says that it may be replaced) or cannot be a file, and
    `SettingsMismatch` if parts with other settings are there.
    """
    if str(out) == STDOUT:
        raise InvalidFile("a dataset cannot go to standard output: its end is written first; name a file")
    require("pyarrow.parquet", EXTRA)
    check_name(out)
    target = Path(os.path.realpath(out))  # a link stays one
    _must_be_free(target, force)
    folder = target.with_name(f"{target.name}.parts")
    if folder.exists() and not folder.is_dir():
        raise InvalidFile(f"{folder}: parts are kept in a folder, and this is none")
    folder.mkdir(exist_ok=True)
    with lock_directory(folder, "another program"):
        _compare(folder, settings)
        kept = Parts(Facts.of(settings), target, folder, force)
        try:
            yield kept
        finally:
            if not kept.rows:
                shutil.rmtree(folder)  # settings without a part would only stand in the way of others


def _must_be_free(target: Path, force: bool) -> None:
    if target.exists() and not target.is_file():
        raise InvalidFile(f"{target}: a dataset is written to a file, and this is none")
    if target.exists() and not force:
        raise InvalidFile(f"{target}: the file exists; --force replaces it")


def _compare(folder: Path, asked: Settings) -> None:
    """See to it that a folder holds parts with these settings only, and says so."""
    path = folder / SETTINGS
    if not any(_NAME.fullmatch(other.name) for other in folder.iterdir()):
        write_atomic(path, msgspec.json.encode(asked))
        return
    try:
        kept = msgspec.json.decode(read_whole(path), type=Settings)
    except FileNotFoundError:
        raise InvalidFile(f"{folder}: parts without their settings ({SETTINGS}); remove the folder") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidFile(f"{path}: not the settings of a dataset: {error}") from None
    check_same_settings(kept, asked, f"{folder} holds parts", ", remove the folder or choose another file")
