"""Weights of the evaluation: utility parameters and a value network, and the file that stores them.

The file `weights.npz` in a game's folder has entries for every number of players that `axio train` has been
run for. Without entries, default utility parameters and no network are used. `rollouts.py` stores its configs
in the same file.
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

MAX_SEATS = 4  # one layout, and therefore one compilation, for all numbers of players
MAX_SHORTLIST = 128  # actions in a shortlist
MAX_KINDS = 64  # kinds of tiles
FILE = "weights.npz"
MAX_ENTRY_BYTES = 1 << 24  # per entry; those of the games take less than 100,000
MAX_TOTAL_BYTES = 1 << 26  # of all entries, decompressed
MAX_ENTRIES = 1000  # per file; those of the games have less than 50
DEFAULT_UTILITY_PARAMS = (0.05, 0.3, 0.07, 0.09, 2.0, 1.0)
# Names of arrays in the file, by field.
ENTRY_NAMES = {
    "utility_params": "knobs",
    "hidden_weights": "weights",
    "hidden_biases": "offsets",
    "output_weights": "outer",
    "output_bias": "offset",
}
UNCAPPED = 40  # points that count as a full track if tracks have no cap


# ---------------------------------------------------------------- records passed to compiled code


def weights_dtype(tracks: int) -> np.dtype[Any]:
    """Return the layout of the weights of a game with this number of tracks."""
    return packed_dtype(
        ("cap", np.int64),  # of a track; 0 for no cap
        ("utility_params", np.float32, UTILITY_PARAMS),
        ("hidden_weights", np.float32, (feature_count(MAX_SEATS, tracks), HIDDEN_UNITS)),
        ("hidden_biases", np.float32, HIDDEN_UNITS),
        ("output_weights", np.float32, HIDDEN_UNITS),
        ("output_bias", np.float32),
        ("scale", np.float32),  # of points, so that a full track is about 1
    )


def scratch_dtype(tracks: int) -> np.dtype[Any]:
    """Return the layout of the working memory. Its contents are undefined between calls."""
    return packed_dtype(
        ("rng", np.uint64, 1),
        ("order", np.int64, tracks),
        ("actions", np.int64, MAX_SHORTLIST),
        ("utility", np.float32, (tracks + 1, MAX_POINTS)),
        ("track_features", np.float32, (tracks, TRACK_FEATURES)),
        ("inputs", np.float32, feature_count(MAX_SEATS, tracks)),
        ("beside", np.int64, 2),  # pyramids next to the halves of a tile
        ("halves", np.float32, (2, tracks)),  # utility of each colour on the halves of a placement
        ("most", np.float32, 2),  # the maximum of each half
        ("expected_gains", np.float32, MAX_SEATS),
        ("best", np.float32, MAX_KINDS),
        ("kinds", np.int64, MAX_KINDS),
        ("hidden", np.float32, HIDDEN_UNITS),
        ("values", np.float32, MAX_SHORTLIST),
    )


# Types of loop arguments: arrays of these records.
WeightsArray = Annotated[Any, Argument(lambda game: np.zeros(1, weights_dtype(game.tracks)))]
ScratchArray = Annotated[Any, Argument(lambda game: np.zeros(1, scratch_dtype(game.tracks)))]


# ---------------------------------------------------------------- weights


def untrained_weights(variant: Variant) -> Any:
    """Return weights without a network: every position has the same value."""
    tracks = len(variant.tracks)
    weights = allocate(weights_dtype(tracks))
    weights["cap"] = variant.cap or 0
    weights["scale"] = 1 / (variant.cap or UNCAPPED)
    weights["utility_params"] = DEFAULT_UTILITY_PARAMS
    return weights


def is_trained(weights: Any) -> bool:
    """Return whether weights have a trained network."""
    return bool(weights["output_weights"].any())


def read_weights(variant: Variant, path: Path) -> Any:
    """Return the weights in a file for this number of players, or untrained weights if it has none.

    Raises:
        InvalidFile: the file is damaged, or an entry has the wrong shape.
    """
    weights = untrained_weights(variant)
    entries = read_entries(path)
    names = {field: f"{variant.players}.{name}" for field, name in ENTRY_NAMES.items()}
    if names["utility_params"] in entries:
        _copy_entry(weights["utility_params"][0], entries, names["utility_params"], path)
    if names["hidden_weights"] in entries:
        used = feature_count(variant.players, len(variant.tracks))
        _copy_entry(weights["hidden_weights"][0, :used], entries, names["hidden_weights"], path)
        for field in ("hidden_biases", "output_weights"):
            _copy_entry(weights[field][0], entries, names[field], path)
        _copy_entry(weights["output_bias"].reshape(()), entries, names["output_bias"], path)
    return weights


def _copy_entry(buffer: np.ndarray, entries: Mapping[str, np.ndarray], name: str, path: Path) -> None:
    """Copy an entry into a field of the weights. Raises `InvalidFile` if it does not fit."""
    entry = entries.get(name)
    if entry is None:
        raise InvalidFile(f"{path}: {name} is missing")
    if entry.shape != buffer.shape or entry.dtype.kind != "f" or not np.isfinite(entry).all():
        raise InvalidFile(f"{path}: {name} must be finite floats of shape {buffer.shape}")
    buffer[...] = entry


def write_weights(variant: Variant, weights: Any, path: Path) -> None:
    """Write weights into a file. Its entries for other numbers of players are kept."""
    used = feature_count(variant.players, len(variant.tracks))
    fields = {field: weights[field][0] for field in ENTRY_NAMES}
    fields["hidden_weights"] = fields["hidden_weights"][:used]
    write_entries({f"{variant.players}.{ENTRY_NAMES[field]}": fields[field] for field in fields}, path)


def weights_file(variant: Variant) -> Path:
    """Return the path of a game's weights file, which need not exist."""
    return Path(str(variant.game.files)) / FILE


@cache
def load_weights(variant: Variant) -> Any:
    """Return the trained weights of a game for this number of players, or untrained ones."""
    path = weights_file(variant)
    return read_weights(variant, path) if path.exists() else untrained_weights(variant)


# ---------------------------------------------------------------- files


def read_entry(path: Path, name: str) -> np.ndarray | None:
    """Return an entry of a weights file, or `None` if the file has no such entry."""
    return read_entries(path).get(name)


def read_entries(path: Path) -> dict[str, np.ndarray]:
    """Return all entries of a weights file.

    Raises:
        InvalidFile: the file is damaged, too large or not a weights file.
        OSError: the file cannot be read.
    """
    if path.exists() and not path.is_file():
        raise InvalidFile(f"{path}: not a file")
    entries = {}
    left = MAX_TOTAL_BYTES
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
            if len(infos) > MAX_ENTRIES:
                raise InvalidFile(f"{path}: {len(infos)} entries, but the limit is {MAX_ENTRIES}")
            for info in infos:
                with archive.open(info) as file:
                    content = file.read(MAX_ENTRY_BYTES + 1)
                if len(content) > MAX_ENTRY_BYTES:
                    raise InvalidFile(
                        f"{path}: {info.filename[:40]!r} is longer than {MAX_ENTRY_BYTES} bytes"
                    )
                left -= len(content)
                if left < 0:
                    raise InvalidFile(f"{path}: the entries are longer than {MAX_TOTAL_BYTES} bytes in total")
                array = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
                entries[info.filename.removesuffix(".npy")] = array
    except (OSError, InvalidFile):
        raise
    except Exception as error:  # zipfile and NumPy raise many kinds of errors for damaged files
        raise InvalidFile(f"{path}: not a weights file: {error}") from None
    return entries


def write_entries(entries: dict[str, np.ndarray], path: Path) -> None:
    """Write entries into a weights file and keep its other entries. Raises `InvalidFile` or `OSError`."""
    kept = (read_entries(path) if path.exists() else {}) | entries
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(kept):  # without time stamps, so that equal weights give equal files
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w") as entry:
                np.lib.format.write_array(entry, np.asarray(kept[name], order="C"))
    write_atomic(path, whole.getvalue())
