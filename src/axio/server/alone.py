"""One server for one folder: SQLite carries no events between processes, so there may be only one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .settings import BadSetting, Settings

try:
    import fcntl
except ImportError:  # not on Windows; there two servers are told apart by their port only
    fcntl = None  # type: ignore[assignment]

LOCK_FILE = "running"


class AlreadyRunning(BadSetting):
    """Another server uses this folder; `url` is where it is found."""

    def __init__(self, folder: Path, url: str) -> None:
        super().__init__(f"a server for {folder} is running already, at {url}")
        self.url = url


@contextmanager
def alone(settings: Settings, url: str) -> Iterator[None]:
    """Be the only server of a folder. Raises `AlreadyRunning`.

    The lock goes with the process, however it ends.
    """
    if settings.on_postgresql or fcntl is None:
        yield
        return
    settings.folder.mkdir(parents=True, exist_ok=True)
    path = settings.folder / LOCK_FILE
    with open(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise AlreadyRunning(settings.folder, file.read().strip()) from None
        file.truncate(0)
        file.write(url)
        file.flush()
        yield
