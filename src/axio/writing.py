"""Files that are written whole or not at all, files of whole lines, folders that one process writes into."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from .errors import BadFile

STDOUT = "-"


def write_whole(path: str | Path, content: bytes) -> None:
    """Write a file so that, whatever happens, there is the old one or the new one.

    Raises:
        OSError: it cannot be written; the error has the name of the file.
        BadFile: no file can have this name.
    """
    check_name(path)
    target = Path(os.path.realpath(path))  # a link stays one
    with naming(path):
        if target.exists() and not target.is_file():
            target.write_bytes(content)  # a device or a pipe cannot be replaced
            return
        handle, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(name, stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666 & ~_umask())
            os.replace(name, target)
        except BaseException:
            os.unlink(name)
            raise


@contextmanager
def naming(path: str | Path) -> Iterator[None]:
    """Errors of the system in here have the name of this file, rather than none or a temporary one."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None


def check_name(path: str | Path) -> None:
    """Raise `BadFile` for a name that no file can have here."""
    try:
        if not str(path) or "\0" in str(path):
            raise ValueError
        os.fsencode(path)
    except ValueError:
        shown = str(path) if len(str(path)) <= 100 else f"{str(path)[:100]}…"
        raise BadFile(f"{shown!r} cannot be the name of a file") from None


def check_writable(path: str | Path, what: str, *, only_files: bool = False) -> None:
    """Raise `BadFile` if a file cannot be written: better now than after the work.

    `what` is to be written; `only_files` refuses devices and pipes.
    """
    check_name(path)
    target = Path(path)
    try:
        if target.is_dir():
            raise BadFile(f"{path}: this is a folder, {what} needs a file")
        there = target.exists()
    except OSError as error:
        raise BadFile(f"{path}: {error.strerror}") from None
    if there and only_files and not target.is_file():
        raise BadFile(f"{path}: this is not a file, {what} needs one")
    if not there and not target.parent.is_dir():
        raise BadFile(f"{path}: there is no folder {target.parent}")
    if not os.access(target if there else target.parent, os.W_OK):
        raise BadFile(f"{path}: it cannot be written")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_out(path: str, content: bytes) -> None:
    """Write a file whole, or, for `-`, to standard output."""
    if path == STDOUT:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
    else:
        write_whole(path, content)


def append_line(path: str | Path, line: str) -> None:
    """Add a line to a file, which may be new. Raises `OSError` or `BadFile`; nothing has been added then."""
    name = os.path.join(".", STDOUT) if str(path) == STDOUT else str(path)
    with LineFile(name, append=True) as file:
        file.write(f"\n{line}" if _ends_within_a_line(name) else line)


def _ends_within_a_line(path: str) -> bool:
    if not os.path.isfile(path) or not os.path.getsize(path):
        return False
    with open(path, "rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"


class LineFile:
    """A file that holds whole lines only, at any moment. `-` is standard output.

    Raises `BadFile` for one that exists, unless `force` says that it may be replaced, or `append` that lines
    may be added to it.
    """

    def __init__(self, path: str, *, force: bool = False, append: bool = False) -> None:
        self.path = path
        self.written = 0
        self._made = False
        if path == STDOUT:
            sys.stdout.flush()
            self._fd = os.dup(sys.stdout.fileno())
            return
        check_name(path)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
        self._made = not os.path.exists(path)
        # Nothing is lost by writing to a device or a pipe, so only a file needs to be protected.
        if self._made:
            flags |= os.O_EXCL
        elif os.path.isfile(path):
            if not (force or append):
                raise BadFile(f"{path}: the file exists; --force replaces it")
            flags |= os.O_TRUNC if force else 0
        self._fd = os.open(path, flags, 0o666)

    def write(self, line: str) -> None:
        """Add a line, given without its end."""
        data = memoryview(f"{line}\n".encode())
        start = os.fstat(self._fd)
        try:
            while data:
                data = data[os.write(self._fd, data) :]
        except OSError as error:
            if stat.S_ISREG(start.st_mode):
                os.ftruncate(self._fd, start.st_size)
            if isinstance(error, BrokenPipeError):
                raise
            where = "standard output" if self.path == STDOUT else self.path
            raise OSError(error.errno, error.strerror, where) from None
        self.written += 1

    def __enter__(self) -> LineFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._fd)
        if self._made and not self.written:
            os.unlink(self.path)  # a file without a line would only stand in the way of the next try


@contextmanager
def alone(folder: Path, other: str) -> Iterator[None]:
    """While this lasts, no other process that asks for the same writes into the folder.

    Raises `BadFile` if one does already; `other` is what it is called then.
    """
    if sys.platform == "win32":
        yield
        return
    import fcntl

    # The folder itself is locked: a lock in the file would be lost with it, and needs nobody to clean up.
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadFile(f"{folder}: {other} is writing here; wait for it or choose another") from None
        yield
    finally:
        os.close(handle)
