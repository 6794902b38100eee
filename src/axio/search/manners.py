"""How moves are played on: how far, how many of them, and how much is looked at on the way.

What suits a game depends on how well its positions can be judged where rollouts stop. So a game's mind may
have manners of its own, which `python -m benchmarks.manners` has found to be better than the usual ones.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from functools import cache
from pathlib import Path

import numpy as np

from ..errors import BadFile
from ..games.variant import Variant
from .minds import find_mind, has_learned, mind_file, read_entry, write_entries
from .rollouts import ALWAYS, NEVER, TO_THE_END


@dataclass(frozen=True, slots=True)
class Manner:
    """How moves are played on."""

    turns: int  # own moves that rollouts go on for after the one that is tried
    width: int  # moves that are played on
    faith: float  # rollouts that the first look counts as much as
    late: float  # of the game: from then on rollouts look at what moves lead to


# Looks make rollouts about ten times as slow, and better: a thousand of them find better moves than ten
# thousand by points, a few do not.
QUICK = Manner(turns=4, width=16, faith=100.0, late=0.85)
THOROUGH = Manner(turns=4, width=16, faith=30.0, late=ALWAYS)
UNLEARNED = Manner(turns=TO_THE_END, width=16, faith=0.0, late=NEVER)  # no judgement of where to stop

HURRIED, UNHURRIED = "hurried", "unhurried"
USUAL = {HURRIED: QUICK, UNHURRIED: THOROUGH}


@cache
def find_manner(variant: Variant, pace: str) -> Manner:
    """How moves of this game are played on by those who are in a hurry, or by those who are not."""
    if not has_learned(find_mind(variant)):
        return UNLEARNED
    path = mind_file(variant)
    return read_manner(variant, pace, path) if path.exists() else USUAL[pace]


def read_manner(variant: Variant, pace: str, path: Path) -> Manner:
    """The manner that a file has for this number of players, else the usual one."""
    kept = read_entry(path, _entry(variant, pace))
    if kept is None:
        return USUAL[pace]
    if kept.shape != (4,) or kept.dtype.kind != "f" or not np.isfinite(kept).all() or kept[:2].min() < 1:
        raise BadFile(f"{path}: {_entry(variant, pace)} is no manner")
    turns, width, faith, late = kept.tolist()
    return Manner(int(turns), int(width), faith, late)


def write_manner(variant: Variant, pace: str, manner: Manner, path: Path) -> None:
    """Put a manner into the file, beside what has been learned."""
    write_entries({_entry(variant, pace): np.array(astuple(manner), np.float64)}, path)


def _entry(variant: Variant, pace: str) -> str:
    return f"{variant.players}.{pace}"
