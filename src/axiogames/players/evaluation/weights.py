"""What has been learned of a game, from the file beside its rules.

A file `weights.npz` in a game's folder has the knobs and the network for every number of players that `axio
train` has been run for. A game without one is played by knobs that suit most games and no network.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from ...errors import InvalidFile
from ...files import write_atomic
from ...games.runtime.evaluation import MAX_POINTS, UTILITY_PARAMS
from ...games.runtime.signatures import Argument
from ...games.runtime.state import allocate, packed_dtype
from ...games.variant import Variant
from .network import HIDDEN_UNITS, TRACK_FEATURES, feature_count

MAX_SEATS = 4  # one layout, and so one compilation, for every number of players
MAX_SHORTLIST = 128  # actions that can be looked at closely

MAX_KINDS = 64  # of tiles


def weights_dtype(tracks: int) -> np.dtype[Any]:
    """Knobs and network for a game with so many tracks."""
    return packed_dtype(
        ("cap", np.int64),  # 0 where there is none
        ("utility_params", np.float32, UTILITY_PARAMS),
        ("weights", np.float32, (feature_count(MAX_SEATS, tracks), HIDDEN_UNITS)),
        ("offsets", np.float32, HIDDEN_UNITS),
        ("outer", np.float32, HIDDEN_UNITS),
        ("offset", np.float32),
        ("scale", np.float32),  # of points, so that a full track is about 1
    )


def scratch_dtype(tracks: int) -> np.dtype[Any]:
    """Room to work in; nothing in it lasts longer than a call."""
    return packed_dtype(
        ("rng", np.uint64, 1),
        ("order", np.int64, tracks),
        ("actions", np.int64, MAX_SHORTLIST),
        ("utility", np.float32, (tracks + 1, MAX_POINTS)),
        ("track_features", np.float32, (tracks, TRACK_FEATURES)),
        ("inputs", np.float32, feature_count(MAX_SEATS, tracks)),
        ("beside", np.int64, 2),  # pyramids beside the halves of a tile
        ("halves", np.float32, (2, tracks)),  # what each colour is worth on the halves of a place
        ("most", np.float32, 2),  # and the most of them
        ("expected_gains", np.float32, MAX_SEATS),
        ("best", np.float32, MAX_KINDS),
        ("kinds", np.int64, MAX_KINDS),
        ("hidden", np.float32, HIDDEN_UNITS),
        ("values", np.float32, MAX_SHORTLIST),
    )


# Arguments of loops: arrays of these records.
WeightsArray = Annotated[Any, Argument(lambda game: np.zeros(1, weights_dtype(game.tracks)))]
ScratchArray = Annotated[Any, Argument(lambda game: np.zeros(1, scratch_dtype(game.tracks)))]


FILE = "weights.npz"
MAX_ENTRY_BYTES = 1 << 24  # of an entry; those of our games take less than 100,000
MAX_TOTAL_BYTES = 1 << 26  # of all entries, unpacked
MAX_ENTRIES = 1000  # of a file; those of our games have less than 50
DEFAULT_UTILITY_PARAMS = (0.05, 0.3, 0.07, 0.09, 2.0, 1.0)  # knobs
UNCAPPED = 40  # points that count as a full track where there is no cap


def untrained_weights(variant: Variant) -> Any:
    """A mind that has learned nothing: every position is worth the same to it."""
    tracks = len(variant.tracks)
    weights = allocate(weights_dtype(tracks))
    weights["cap"] = variant.cap or 0
    weights["scale"] = 1 / (variant.cap or UNCAPPED)
    weights["utility_params"] = DEFAULT_UTILITY_PARAMS
    return weights


def is_trained(weights: Any) -> bool:
    """Whether a mind can tell positions apart."""
    return bool(weights["outer"].any())


def read_weights(variant: Variant, path: Path) -> Any:
    """Return the weights for this number of players, untrained ones if the file has none."""
    weights = untrained_weights(variant)
    prefix = f"{variant.players}."
    entries = read_entries(path)
    if f"{prefix}knobs" in entries:
        _put(weights["utility_params"][0], entries, f"{prefix}knobs", path)
    if f"{prefix}weights" in entries:
        used = feature_count(variant.players, len(variant.tracks))
        _put(weights["weights"][0, :used], entries, f"{prefix}weights", path)
        for name in ("offsets", "outer"):
            _put(weights[name][0], entries, prefix + name, path)
        _put(weights["offset"].reshape(()), entries, f"{prefix}offset", path)
    return weights


def _put(buffer: np.ndarray, entries: Mapping[str, np.ndarray], name: str, path: Path) -> None:
    """Copy an entry to where it belongs. Raises `InvalidFile` if it does not fit."""
    entry = entries.get(name)
    if entry is None:
        raise InvalidFile(f"{path}: {name} is missing")
    if entry.shape != buffer.shape or entry.dtype.kind != "f" or not np.isfinite(entry).all():
        raise InvalidFile(f"{path}: {name} should be numbers of shape {buffer.shape}")
    buffer[...] = entry


def write_weights(variant: Variant, weights: Any, path: Path) -> None:
    """Put a mind into the file, beside those for other numbers of players."""
    prefix = f"{variant.players}."
    entries = {
        f"{prefix}knobs": weights["utility_params"][0],
        f"{prefix}weights": weights["weights"][0, : feature_count(variant.players, len(variant.tracks))],
    }
    write_entries(
        entries | {prefix + name: weights[name][0] for name in ("offsets", "outer", "offset")}, path
    )


def read_entry(path: Path, name: str) -> np.ndarray | None:
    """An entry of a file of minds, if it has it."""
    return read_entries(path).get(name)


def read_entries(path: Path) -> dict[str, np.ndarray]:
    """All entries of a file of minds. Raises `InvalidFile` if it is not one, and `OSError`."""
    if path.exists() and not path.is_file():
        raise InvalidFile(f"{path}: this is not a file")
    entries = {}
    left = MAX_TOTAL_BYTES
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
            if len(infos) > MAX_ENTRIES:
                raise InvalidFile(f"{path}: {len(infos)} entries, there can be {MAX_ENTRIES}")
            for info in infos:
                with archive.open(info) as file:
                    content = file.read(MAX_ENTRY_BYTES + 1)
                if len(content) > MAX_ENTRY_BYTES:
                    raise InvalidFile(
                        f"{path}: {info.filename[:40]!r} is longer than {MAX_ENTRY_BYTES} bytes"
                    )
                left -= len(content)
                if left < 0:
                    raise InvalidFile(f"{path}: more than {MAX_TOTAL_BYTES} bytes in all")
                array = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
                entries[info.filename.removesuffix(".npy")] = array
    except (OSError, InvalidFile):
        raise
    except Exception as error:  # zipfile and NumPy raise what they like at damaged files
        raise InvalidFile(f"{path}: not a file that `train` has written: {error}") from None
    return entries


def write_entries(entries: dict[str, np.ndarray], path: Path) -> None:
    """Put entries into a file of minds, and keep what else it has. Raises `InvalidFile` or `OSError`."""
    kept = (read_entries(path) if path.exists() else {}) | entries
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(kept):  # without time stamps, so that equal minds are equal files
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w") as entry:
                np.lib.format.write_array(entry, np.asarray(kept[name], order="C"))
    write_atomic(path, whole.getvalue())


def weights_file(variant: Variant) -> Path:
    """Where a game keeps what has been learned of it."""
    return Path(str(variant.game.files)) / FILE


@cache
def load_weights(variant: Variant) -> Any:
    """What has been learned of this game for this number of players."""
    path = weights_file(variant)
    return read_weights(variant, path) if path.exists() else untrained_weights(variant)
