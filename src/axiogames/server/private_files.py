"""Files and folders that only their owner can read: the database holds seeds, hands and hashes.

On Windows, modes mean nothing; there a user's folder is private by its place.
"""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path

PRIVATE, PRIVATE_FOLDER = 0o600, 0o700
SQLITE_FILES = ("", "-wal", "-shm", "-journal")  # the database, and what SQLite keeps beside it

log = logging.getLogger(__name__)


def open_to_others(path: Path) -> bool:
    """Whether anybody but its owner may use a file or folder."""
    return os.name == "posix" and bool(path.stat().st_mode & 0o077)


def make_private_folder(folder: Path) -> None:
    """Make a folder that only its owner can use, if it is not there."""
    folder.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER)


def make_private_file(path: Path) -> None:
    """Make an empty file that only its owner can use, if it is not there, whatever the umask."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE))
    except FileExistsError:
        return
    path.chmod(PRIVATE)


def make_private(*paths: Path) -> list[Path]:
    """Take the permissions of others from files and folders that are there; those that had to be changed.

    What belongs to somebody else, or is a folder that everybody shares, is left as it is.
    """
    changed = []
    for path in paths:
        try:
            found = path.stat()
        except FileNotFoundError:
            continue
        shared = stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_ISVTX
        if os.name == "posix" and found.st_mode & 0o077 and found.st_uid == os.geteuid() and not shared:
            path.chmod(stat.S_IMODE(found.st_mode) & 0o700)
            changed.append(path)
    return changed


def protect_data(folder: Path, database: Path | None) -> None:
    """See to it that only its owner can use a server's folder and database file, and log what was changed."""
    files = [Path(f"{database}{end}") for end in SQLITE_FILES] if database is not None else []
    if changed := make_private(folder, *files):
        log.warning("others could use these; now only their owner can: %s", ", ".join(map(str, changed)))
