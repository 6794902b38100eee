"""One server for one SQLite file: SQLite carries no events between processes, so there may be only one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .private_files import make_private_folder
from .settings import BadSetting, Settings, sqlite_file

try:
    import fcntl
except ImportError:  # not on Windows; there two servers are told apart by their port only
    fcntl = None  # type: ignore[assignment]

LOCK_SUFFIX = ".lock"


class AlreadyRunning(BadSetting):
    """Something else uses this database; `url` is where it is found, if it is a server."""

    def __init__(self, file: Path, url: str) -> None:
        who = f"a server at {url}" if "://" in url else url or "another program"
        super().__init__(f"{file} is in use by {who}")
        self.url = url


def lock_file(database: Path) -> Path:
    """The file that is locked by whoever uses a database: beside it, whatever path names it."""
    real = Path(os.path.realpath(database))
    return real.with_name(real.name + LOCK_SUFFIX)


@contextmanager
def alone(settings: Settings, url: str) -> Iterator[None]:
    """Be the only server of a database; `url` tells others who that is.

    Raises `AlreadyRunning`, or `BadSetting` for a file of several names. The lock goes with the process,
    however it ends.
    """
    file = sqlite_file(settings.url)
    if settings.on_postgresql or file is None or fcntl is None:
        yield
        return
    path = lock_file(file)
    make_private_folder(path.parent)
    if file.exists() and file.stat().st_nlink > 1:  # SQLite would keep a journal for each
        raise BadSetting(f"{file} has {file.stat().st_nlink} names (hard links): remove all but one")
    with open(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise AlreadyRunning(file, lock.read().strip()) from None
        lock.truncate(0)
        lock.write(url)
        lock.flush()
        yield
