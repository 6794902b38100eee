"""Generating a dataset, in one process or several."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from time import perf_counter

from ...parallel import map_unordered
from .parts import DatasetPart, GameRange, PartStore, encode_part, open_parts
from .rows import game_rows, warm_up_bots
from .schema import DatasetMetadata
from .settings import DatasetSettings

SECONDS_PER_PART = 2.0  # the work that a kill of the process can lose
MAX_GAMES_PER_PART = 256


def write_dataset(settings: DatasetSettings, path: str | Path, *, jobs: int = 1, force: bool = False) -> int:
    """Write a dataset, or resume one that was interrupted, and return its number of rows.

    Args:
        settings: settings of the dataset.
        path: the Parquet file to write.
        jobs: number of processes.
        force: whether an existing file is replaced.

    Raises:
        InvalidFile: the file exists, or cannot be written.
        SettingsMismatch: the interrupted dataset has other settings.
        MissingDependency: pyarrow is not installed.
    """
    with open_parts(settings, path, force=force) as store:
        with closing(generate_parts(store, jobs)) as parts:
            for part in parts:
                store.add(part)
        store.join()
        return store.positions


def generate_parts(store: PartStore, jobs: int = 1) -> Generator[DatasetPart, None, None]:
    """Play the missing games and yield each part as it is made; the caller adds it. Close it to stop."""
    missing = list(store.missing())
    if not missing:
        return
    settings = store.metadata.settings
    warm_up_bots(settings)  # other processes then find the compiled rules in the cache
    start = perf_counter()
    first = missing[0].first
    yield generate_part(settings, GameRange(first, first + 1))
    size = max(1, min(MAX_GAMES_PER_PART, int(SECONDS_PER_PART / (perf_counter() - start))))
    missing[0] = missing[0]._replace(first=first + 1)
    ranges = [piece for games in missing for piece in split_range(games, size)]
    with closing(map_unordered(partial(generate_part, settings), ranges, jobs)) as parts:
        yield from parts


def split_range(games: GameRange, size: int) -> Iterator[GameRange]:
    """Yield consecutive ranges of `size` games; the last one may be shorter.

    >>> list(split_range(GameRange(3, 8), 2))
    [GameRange(first=3, end=5), GameRange(first=5, end=7), GameRange(first=7, end=8)]
    """
    for first in range(games.first, games.end, size):
        yield GameRange(first, min(first + size, games.end))


def generate_part(settings: DatasetSettings, games: GameRange) -> DatasetPart:
    """Play a range of games and return their rows as a part."""
    warm_up_bots(settings)
    rows = [row for game in range(*games) for row in game_rows(settings, game)]
    return encode_part(DatasetMetadata.of(settings), games, rows)
