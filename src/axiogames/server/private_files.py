"""Files and folders that only their owner can read: the database contains seeds, hands and password hashes.

Windows ignores file modes; there a folder inside the user's profile is private by default.
"""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path

PRIVATE_FILE_MODE, PRIVATE_FOLDER_MODE = 0o600, 0o700
SQLITE_SUFFIXES = ("", "-wal", "-shm", "-journal")  # suffixes of the database and of SQLite's auxiliary files

log = logging.getLogger(__name__)


def accessible_to_others(path: Path) -> bool:
    """Return whether users other than the owner have any permission on `path`."""
    return os.name == "posix" and bool(path.stat().st_mode & 0o077)


def make_private_folder(folder: Path) -> None:
    """Create a folder with mode 0700 unless it exists."""
    folder.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER_MODE)


def make_private_file(path: Path) -> None:
    """Create an empty file with mode 0600, regardless of the umask, unless it exists."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE_MODE))
    except FileExistsError:
        return
    path.chmod(PRIVATE_FILE_MODE)


def make_private(*paths: Path) -> list[Path]:
    """Remove the permissions of group and others from existing paths and return those that changed.

    Paths of other owners and shared folders (sticky bit, like /tmp) stay as they are.
    """
    changed = []
    for path in paths:
        try:
            status = path.stat()
        except FileNotFoundError:
            continue
        shared = stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX
        if os.name == "posix" and status.st_mode & 0o077 and status.st_uid == os.geteuid() and not shared:
            path.chmod(stat.S_IMODE(status.st_mode) & 0o700)
            changed.append(path)
    return changed


def protect_data(folder: Path, database: Path | None) -> None:
    """Make the data folder and the database files private, and log the paths that changed."""
    files = [Path(f"{database}{suffix}") for suffix in SQLITE_SUFFIXES] if database is not None else []
    if changed := make_private(folder, *files):
        log.warning("removed permissions of other users from %s", ", ".join(map(str, changed)))
