"""Playing what is left of a dataset, in this process or in many."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from time import perf_counter

from ...parallel import map_unordered
from .parts import Part, Parts, Stretch, encode, parts
from .rows import play, warm
from .schema import Facts
from .settings import Settings

PORTION = 2.0  # seconds of work in a part: so much is lost when the program is killed
MOST = 256  # games in a part, however fast they are


def write(settings: Settings, out: str | Path, *, jobs: int = 1, force: bool = False) -> int:
    """Make a dataset, or go on with one that was interrupted; how many rows it has.

    Raises `InvalidFile` or `SettingsMismatch` as `parts` does, and `MissingDependency` without pyarrow.
    """
    with parts(settings, out, force=force) as kept:
        with closing(play_left(kept, jobs)) as made:
            for part in made:
                kept.add(part)
        kept.join()
        return kept.positions


def play_left(kept: Parts, jobs: int = 1) -> Generator[Part, None, None]:
    """Play the games that are missing and give each part to whoever asks, to `add` it. Close it to stop."""
    left = list(kept.left())
    if not left:
        return
    settings = kept.facts.settings
    warm(settings)  # other processes then find the compiled rules in the cache
    begun = perf_counter()
    yield make(settings, Stretch(left[0].first, left[0].first + 1))
    size = max(1, min(MOST, int(PORTION / (perf_counter() - begun))))
    left[0] = left[0]._replace(first=left[0].first + 1)
    pieces = [piece for stretch in left for piece in cut(stretch, size)]
    with closing(map_unordered(partial(make, settings), pieces, jobs)) as made:
        yield from made


def cut(stretch: Stretch, size: int) -> Iterator[Stretch]:
    """The stretch in pieces of so many games, the last with what is left.

    >>> list(cut(Stretch(3, 8), 2))
    [Stretch(first=3, end=5), Stretch(first=5, end=7), Stretch(first=7, end=8)]
    """
    for first in range(stretch.first, stretch.end, size):
        yield Stretch(first, min(first + size, stretch.end))


def make(settings: Settings, stretch: Stretch) -> Part:
    """Play the games of a stretch."""
    warm(settings)
    rows = [row for game in range(*stretch) for row in play(settings, game)]
    return encode(Facts.of(settings), stretch, rows)
