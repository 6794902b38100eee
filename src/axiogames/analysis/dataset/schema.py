"""The columns of a dataset and the metadata of its file."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
from msgspec import Struct

from ...errors import AxioError, InvalidFile
from ...optional_deps import require
from .settings import DatasetSettings

FORMAT = "axio-dataset/2"
FORMAT_1 = "axio-dataset/1"  # with different action ids in some games
METADATA_KEY = b"axio-dataset"  # in the metadata of the Parquet file
EXTRA = "data"  # the extra that installs pyarrow

Field = tuple[str, str, tuple[int, ...]]  # name, type and shape, as in a NumPy dtype
Row = dict[str, Any]  # column name to value


class DatasetMetadata(Struct, frozen=True):
    """Description of a dataset, stored in its file as JSON."""

    format: str
    settings: DatasetSettings
    deterministic: bool  # whether equal settings are guaranteed to give equal rows
    tracks: tuple[str, ...]  # names of the last axis of `scores`, `final_scores` and `gain`
    state: tuple[Field, ...]  # fields of the record in the column `state`

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the records in the column `state`."""
        return np.dtype([*self.state], align=True)

    @classmethod
    def of(cls, settings: DatasetSettings) -> DatasetMetadata:
        """Return the metadata of a dataset with these settings."""
        variant = settings.variant
        fields = tuple((name, kind, tuple(*shape)) for name, kind, *shape in variant.opening.dtype.descr)
        return cls(FORMAT, settings, settings.deterministic, variant.tracks, fields)

    @classmethod
    def parse(cls, metadata: Any, name: str) -> DatasetMetadata:
        """Parse the metadata of an Arrow schema.

        Raises:
            InvalidFile: the metadata is missing, damaged or of another format; `name` is part of the message.
        """
        text = (metadata or {}).get(METADATA_KEY)
        if text is None:
            raise InvalidFile(f"{name}: not an axio dataset: its metadata lacks {METADATA_KEY.decode()!r}")
        try:
            header = msgspec.json.decode(text, type=_Header)
            if header.format in (FORMAT, FORMAT_1):
                found = msgspec.json.decode(text, type=cls)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InvalidFile(f"{name}: its metadata is damaged: {error}") from None
        if header.format not in (FORMAT, FORMAT_1):
            raise InvalidFile(
                f"{name}: unsupported format {header.format[:40]!r}: this version reads {FORMAT!r}"
            )
        settings = found.settings
        try:
            valid = DatasetSettings.create(
                settings.game,
                settings.bots,
                players=settings.players,
                games=settings.games,
                seed=settings.seed,
                options=settings.options,
                noise=settings.noise,
                legal=settings.legal,
            )
        except AxioError as error:
            raise InvalidFile(f"{name}: its metadata is damaged: {error}") from None
        if valid.options != settings.options:
            raise InvalidFile(f"{name}: its metadata is damaged: its options are not in canonical form")
        expected = cls.of(settings)
        if found.tracks != expected.tracks or found.state != expected.state:
            raise InvalidFile(
                f"{name}: the layout of its states differs from the layout in this version of axio"
            )
        return found


class _Header(Struct, frozen=True):
    format: str


def arrow_schema(metadata: DatasetMetadata) -> Any:
    """Return the columns of a dataset, in their order, as a pyarrow schema."""
    pa = require("pyarrow", EXTRA)

    def list_of(kind: Any, size: int = -1) -> Any:
        return pa.list_(pa.field("element", kind, nullable=False), size)  # Parquet reads back this name

    by_track = list_of(pa.int16(), len(metadata.tracks))
    by_seat_and_track = list_of(by_track, metadata.settings.players)
    columns = [
        ("game", pa.int32()),
        ("ply", pa.int16()),
        ("seat", pa.int8()),
        ("bot", pa.string()),
        ("position", pa.string()),
        ("state", pa.binary(metadata.dtype.itemsize)),
        ("scores", by_seat_and_track),
        ("legal_count", pa.int32()),
        *([("legal", list_of(pa.int32()))] if metadata.settings.legal else []),
        ("action", pa.int32()),
        ("move", pa.string()),
        ("lot", pa.bool_()),  # whether the move was uniformly random, by noise
        ("gain", by_track),
        ("final_scores", by_seat_and_track),
        ("places", list_of(pa.int8(), metadata.settings.players)),
        ("place", pa.int8()),
        ("won", pa.bool_()),
    ]
    fields = [pa.field(name, kind, nullable=False) for name, kind in columns]
    return pa.schema(fields, {METADATA_KEY: msgspec.json.encode(metadata)})


def parquet_writer(where: Any, columns: Any) -> Any:
    """Return a Parquet writer for tables with these columns. Each table becomes a row group."""
    return require("pyarrow.parquet", EXTRA).ParquetWriter(
        where,
        columns,
        compression="zstd",
        # Texts and states hardly ever repeat, so a dictionary would cost time and save no space.
        use_dictionary=["game", "seat", "bot", "place"],
        write_statistics=["game", "ply", "seat", "place", "lot", "won"],
    )
