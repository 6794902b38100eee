"""The columns of a dataset, and what its file says about itself."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
from msgspec import Struct

from ...errors import AxioError, InvalidFile
from ...optional_deps import require
from .settings import Settings, checked

FORMAT = "axio-dataset/1"
KEY = b"axio-dataset"  # of the metadata of a file
EXTRA = "data"  # of this package, that brings pyarrow

Field = tuple[str, str, tuple[int, ...]]  # name, type and shape, as NumPy writes them


class Facts(Struct, frozen=True):
    """What a file says about itself."""

    format: str
    settings: Settings
    deterministic: bool  # whether the same settings would give the same rows again
    tracks: tuple[str, ...]  # what the numbers of each seat in `scores`, `final_scores` and `gain` count
    state: tuple[Field, ...]  # the record in the column `state`

    @property
    def dtype(self) -> np.dtype[Any]:
        """The record in the column `state`, as NumPy knows it and the rules take it."""
        return np.dtype([*self.state], align=True)

    @classmethod
    def of(cls, settings: Settings) -> Facts:
        """The facts about a dataset with these settings."""
        variant = settings.variant
        fields = tuple((name, kind, tuple(*shape)) for name, kind, *shape in variant.opening.dtype.descr)
        return cls(FORMAT, settings, settings.deterministic, variant.tracks, fields)

    @classmethod
    def parse(cls, metadata: Any, name: str) -> Facts:
        """The facts in the metadata of a file. Raises `InvalidFile`, which says its name."""
        text = (metadata or {}).get(KEY)
        if text is None:
            raise InvalidFile(f"{name}: no dataset of ours: its metadata lacks {KEY.decode()!r}")
        try:
            head = msgspec.json.decode(text, type=_Head)
            if head.format == FORMAT:
                found = msgspec.json.decode(text, type=cls)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InvalidFile(f"{name}: its metadata is damaged: {error}") from None
        if head.format != FORMAT:
            raise InvalidFile(f"{name}: the format is {head.format[:40]!r}, but only {FORMAT!r} can be read")
        settings = found.settings
        try:
            asked = checked(
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
        if asked.options != settings.options:
            raise InvalidFile(f"{name}: its metadata is damaged: its options are not written as we do")
        ours = cls.of(settings)
        if found.tracks != ours.tracks or found.state != ours.state:
            raise InvalidFile(
                f"{name}: its states are laid out otherwise than in this version of the package"
            )
        return found


class _Head(Struct, frozen=True):
    format: str


def schema(facts: Facts) -> Any:
    """The columns of a dataset, in their order, as pyarrow knows them."""
    pa = require("pyarrow", EXTRA)

    def many(of: Any, count: int = -1) -> Any:
        return pa.list_(pa.field("element", of, nullable=False), count)  # the name that Parquet gives back

    by_track = many(pa.int16(), len(facts.tracks))
    by_seat_and_track = many(by_track, facts.settings.players)
    columns = [
        ("game", pa.int32()),
        ("ply", pa.int16()),
        ("seat", pa.int8()),
        ("bot", pa.string()),
        ("position", pa.string()),
        ("state", pa.binary(facts.dtype.itemsize)),
        ("scores", by_seat_and_track),
        ("legal_count", pa.int32()),
        *([("legal", many(pa.int32()))] if facts.settings.legal else []),
        ("action", pa.int32()),
        ("move", pa.string()),
        ("lot", pa.bool_()),
        ("gain", by_track),
        ("final_scores", by_seat_and_track),
        ("places", many(pa.int8(), facts.settings.players)),
        ("place", pa.int8()),
        ("won", pa.bool_()),
    ]
    fields = [pa.field(name, kind, nullable=False) for name, kind in columns]
    return pa.schema(fields, {KEY: msgspec.json.encode(facts)})


def writer(where: Any, columns: Any) -> Any:
    """Something that writes tables with these columns as Parquet, a row group each."""
    return require("pyarrow.parquet", EXTRA).ParquetWriter(
        where,
        columns,
        compression="zstd",
        # Texts and states are hardly ever the same twice: looking for that would only take time.
        use_dictionary=["game", "seat", "bot", "place"],
        write_statistics=["game", "ply", "seat", "place", "lot", "won"],
    )
