"""What has been learned of a game, from the file beside its rules.

A file `mind.npz` in a game's folder has the knobs and the network for every number of players that `axio
train` has been run for. A game without one is played by knobs that suit most games and no network.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from ..engine.features import width
from ..engine.layout import allocate
from ..engine.minds import mind_dtype
from ..errors import BadFile
from ..games.variant import Variant
from ..writing import write_whole

FILE = "mind.npz"
MOST_BYTES = 1 << 24  # of an entry; those of our games take less than 100,000
MOST_BYTES_IN_ALL = 1 << 26  # of all entries, unpacked
MOST_ENTRIES = 1000  # of a file; those of our games have less than 50
UNTRAINED = (0.05, 0.3, 0.07, 0.09, 2.0, 1.0)  # knobs
UNCAPPED = 40  # points that count as a full track where there is no cap


def blank_mind(variant: Variant) -> Any:
    """A mind that has learned nothing: every position is worth the same to it."""
    tracks = len(variant.tracks)
    mind = allocate(mind_dtype(tracks))
    mind["cap"] = variant.cap or 0
    mind["scale"] = 1 / (variant.cap or UNCAPPED)
    mind["knobs"] = UNTRAINED
    return mind


def has_learned(mind: Any) -> bool:
    """Whether a mind can tell positions apart."""
    return bool(mind["outer"].any())


def read_mind(variant: Variant, path: Path) -> Any:
    """What the file has about this number of players, else a blank mind. Raises `BadFile` or `OSError`."""
    mind = blank_mind(variant)
    prefix = f"{variant.players}."
    entries = read_entries(path)
    if f"{prefix}knobs" in entries:
        _put(mind["knobs"][0], entries, f"{prefix}knobs", path)
    if f"{prefix}weights" in entries:
        used = width(variant.players, len(variant.tracks))
        _put(mind["weights"][0, :used], entries, f"{prefix}weights", path)
        for name in ("offsets", "outer"):
            _put(mind[name][0], entries, prefix + name, path)
        _put(mind["offset"].reshape(()), entries, f"{prefix}offset", path)
    return mind


def _put(room: np.ndarray, entries: Mapping[str, np.ndarray], name: str, path: Path) -> None:
    """Copy an entry to where it belongs. Raises `BadFile` if it does not fit."""
    entry = entries.get(name)
    if entry is None:
        raise BadFile(f"{path}: {name} is missing")
    if entry.shape != room.shape or entry.dtype.kind != "f" or not np.isfinite(entry).all():
        raise BadFile(f"{path}: {name} should be numbers of shape {room.shape}")
    room[...] = entry


def write_mind(variant: Variant, mind: Any, path: Path) -> None:
    """Put a mind into the file, beside those for other numbers of players."""
    prefix = f"{variant.players}."
    entries = {
        f"{prefix}knobs": mind["knobs"][0],
        f"{prefix}weights": mind["weights"][0, : width(variant.players, len(variant.tracks))],
    }
    write_entries(entries | {prefix + name: mind[name][0] for name in ("offsets", "outer", "offset")}, path)


def read_entry(path: Path, name: str) -> np.ndarray | None:
    """An entry of a file of minds, if it has it."""
    return read_entries(path).get(name)


def read_entries(path: Path) -> dict[str, np.ndarray]:
    """All entries of a file of minds. Raises `BadFile` if it is not one, and `OSError`."""
    if path.exists() and not path.is_file():
        raise BadFile(f"{path}: this is not a file")
    entries = {}
    left = MOST_BYTES_IN_ALL
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
            if len(infos) > MOST_ENTRIES:
                raise BadFile(f"{path}: {len(infos)} entries, there can be {MOST_ENTRIES}")
            for info in infos:
                with archive.open(info) as file:
                    content = file.read(MOST_BYTES + 1)
                if len(content) > MOST_BYTES:
                    raise BadFile(f"{path}: {info.filename[:40]!r} is longer than {MOST_BYTES} bytes")
                left -= len(content)
                if left < 0:
                    raise BadFile(f"{path}: more than {MOST_BYTES_IN_ALL} bytes in all")
                array = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
                entries[info.filename.removesuffix(".npy")] = array
    except (OSError, BadFile):
        raise
    except Exception as error:  # zipfile and NumPy raise what they like at damaged files
        raise BadFile(f"{path}: not a file that `train` has written: {error}") from None
    return entries


def write_entries(entries: dict[str, np.ndarray], path: Path) -> None:
    """Put entries into a file of minds, and keep what else it has. Raises `BadFile` or `OSError`."""
    kept = (read_entries(path) if path.exists() else {}) | entries
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(kept):  # without time stamps, so that equal minds are equal files
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w") as entry:
                np.lib.format.write_array(entry, np.asarray(kept[name], order="C"))
    write_whole(path, whole.getvalue())


def mind_file(variant: Variant) -> Path:
    """Where a game keeps what has been learned of it."""
    package = resources.files(f"{__name__.partition('.')[0]}.games.{variant.game.id}")
    return Path(str(package)) / FILE


@cache
def find_mind(variant: Variant) -> Any:
    """What has been learned of this game for this number of players."""
    path = mind_file(variant)
    return read_mind(variant, path) if path.exists() else blank_mind(variant)
