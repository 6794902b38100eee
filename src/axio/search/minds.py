"""What has been learned of a game, from the file beside its rules.

A file `mind.npz` in a game's folder has the knobs and the network for every number of players that `axio
train` has been run for. A game without one is played by knobs that suit most games and no network.
"""

from __future__ import annotations

import zipfile
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from ..engine.features import width
from ..engine.layout import allocate
from ..engine.minds import mind_dtype
from ..games.variant import Variant

FILE = "mind.npz"
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
    """What the file has about this number of players, else a blank mind."""
    mind = blank_mind(variant)
    with np.load(path) as file:
        prefix = f"{variant.players}."
        if f"{prefix}knobs" in file:
            mind["knobs"][0] = file[f"{prefix}knobs"]
        if f"{prefix}weights" in file:
            weights = file[f"{prefix}weights"]
            mind["weights"][0, : len(weights)] = weights
            for name in ("offsets", "outer", "offset"):
                mind[name][0] = file[prefix + name]
    return mind


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
    with np.load(path) as file:
        entry: np.ndarray | None = file.get(name)
    return entry


def write_entries(entries: dict[str, np.ndarray], path: Path) -> None:
    """Put entries into a file of minds, and keep what else it has."""
    kept: dict[str, np.ndarray] = {}
    if path.exists():
        with np.load(path) as file:
            kept = {name: file[name] for name in file.files}
    kept |= entries
    whole = path.with_suffix(".tmp")
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(kept):  # without time stamps, so that equal minds are equal files
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w") as entry:
                np.lib.format.write_array(entry, np.asarray(kept[name], order="C"))
    whole.replace(path)


def mind_file(variant: Variant) -> Path:
    """Where a game keeps what has been learned of it."""
    package = resources.files(f"{__name__.partition('.')[0]}.games.{variant.game.id}")
    return Path(str(package)) / FILE


@cache
def find_mind(variant: Variant) -> Any:
    """What has been learned of this game for this number of players."""
    path = mind_file(variant)
    return read_mind(variant, path) if path.exists() else blank_mind(variant)
