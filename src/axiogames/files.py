"""Strict, bounded reading of files and JSON, and safe writing of files.

`read_lines` reads its source once, front to back, so it can be a pipe. `read_json` accepts exactly what
RFC 8259 allows, and reports duplicate names in an object, which most readers resolve silently.
`write_atomic` never leaves half a file, `LineWriter` never half a line.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, NoReturn

from .errors import InvalidFile, ParseError, abbreviated

STDOUT = "-"
MAX_LINE_BYTES = 4 << 20  # the record of the longest possible game has about 100,000
MAX_SKIPPED_BYTES = 256 << 20  # of an overlong line, in search of its end
MAX_DEPTH = 4  # depth of the innermost object of a record, as in ("events", 0, "display", 3)
_MAX_DIGITS = 300  # of an integer; longer ones are read as floats, since Python converts at most 4300
_BLOCK = 1 << 16  # bytes
_LOCKED_BYTE = 1 << 30  # offset of the byte that a lock covers on Windows
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")

RepeatedName = tuple[tuple[str | int, ...], str]
"""Path of an object, such as ("events", 3, "gain"), and a name that it repeats."""


# ---------------------------------------------------------------- reading files


def read_lines(source: str | Path | BinaryIO, name: str | None = None) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the content, without the line break, of each line that is not blank.

    A line of more than `MAX_LINE_BYTES` bytes is truncated to `MAX_LINE_BYTES` + 1 bytes.

    Args:
        source: path of a file, or an open binary file.
        name: name of the source in error messages. Default: the path.

    Raises:
        InvalidFile: the file cannot be opened or read, has only blank lines, or has an endless line.
    """
    if not (isinstance(source, str | Path) or hasattr(source, "readline")):
        raise InvalidFile(f"{abbreviated(source)} is not a file name: give a path or an open binary file")
    name = name or str(source)
    empty = True
    try:
        with _opened(source) if isinstance(source, str | Path) else nullcontext(source) as file:
            for number, line in enumerate(_lines(file, name), 1):
                if len(line) > MAX_LINE_BYTES or line.strip():
                    empty = False
                    yield number, line
    except OSError as error:
        raise InvalidFile(f"{name}: {error.strerror or error}") from None
    if empty:
        raise InvalidFile(f"{name}: the file is empty; expected one record per line")


def _opened(path: str | Path) -> BinaryIO:
    try:
        return open(path, "rb", _BLOCK)
    except ValueError as error:  # a NUL, or a character that is not allowed in file names
        raise InvalidFile(f"{str(path)!r} is not a valid file name: {error}") from None


def read_file(path: Path, max_bytes: int = MAX_LINE_BYTES) -> bytes:
    """Return the content of a file.

    Raises:
        InvalidFile: the file is longer than `max_bytes`, or it is a pipe, a device or a folder.
        OSError: the file does not exist or cannot be read.
    """
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise InvalidFile(f"{path}: not a regular file")
    if status.st_size > max_bytes:
        raise InvalidFile(f"{path}: {status.st_size} bytes, more than the limit of {max_bytes}")
    return path.read_bytes()


def _lines(file: BinaryIO, name: str) -> Iterator[bytes]:
    number = 0
    while line := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        if len(line) > MAX_LINE_BYTES and not line.endswith(b"\n"):
            _skip_line(file, f"{name}, line {number}")
        yield line.removesuffix(b"\n")


def _skip_line(file: BinaryIO, where: str) -> None:
    """Skip the rest of a line."""
    remaining = MAX_SKIPPED_BYTES
    while (block := file.readline(_BLOCK)) and not block.endswith(b"\n"):
        remaining -= len(block)
        if remaining < 0:
            raise InvalidFile(
                f"{where}: no line break within {MAX_SKIPPED_BYTES >> 20} MiB; a line has at most"
                f" {MAX_LINE_BYTES >> 20} MiB. The rest of the file was not read"
            )


# ---------------------------------------------------------------- reading JSON


def is_unicode(text: str) -> bool:
    """Return whether a text can be encoded in UTF-8, which lone surrogates prevent."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def read_json(text: str | bytes) -> tuple[Any, list[RepeatedName]]:
    """Return the value of a JSON text, and the names that objects repeat, to a depth of `MAX_DEPTH`.

    The last value of a repeated name counts.

    Raises:
        ParseError: the text is not UTF-8 or not JSON, or is nested too deeply.
    """
    try:
        decoded = text if isinstance(text, str) else bytes(text).decode("utf-8")
        if isinstance(text, str) and not text.isascii():
            text.encode("utf-8")
    except UnicodeDecodeError as error:
        raise ParseError(
            f"not UTF-8: byte 0x{error.object[error.start]:02x} at offset {error.start}"
        ) from None
    except UnicodeEncodeError as error:
        raise ParseError(f"not Unicode text: lone surrogate at offset {error.start}") from None
    ambiguous: list[_AmbiguousObject] = []

    def make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        plain = dict(pairs)
        if len(plain) == len(pairs):
            return plain
        ambiguous.append(_AmbiguousObject(pairs))
        return ambiguous[-1]

    try:
        value = json.loads(
            decoded, object_pairs_hook=make_object, parse_constant=_refuse_constant, parse_int=_bounded_int
        )
        if _SURROGATE.search(decoded):
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        repeated = list(_repeated_names(value)) if ambiguous else []
    except json.JSONDecodeError as error:
        raise ParseError(f"not JSON: {error.msg} at offset {error.pos}") from None
    except RecursionError:
        raise ParseError("JSON nested too deeply") from None
    except UnicodeEncodeError:
        raise ParseError("not Unicode text: a string escapes a lone surrogate") from None
    return value, repeated


class _AmbiguousObject(dict[str, Any]):
    """A JSON object that repeats a name."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        seen: set[str] = set()
        for self.name, _ in pairs:
            if self.name in seen:
                break
            seen.add(self.name)


def _repeated_names(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[RepeatedName]:
    if isinstance(value, _AmbiguousObject):
        yield path, value.name
    if len(path) == MAX_DEPTH:  # paths of any depth could take memory quadratic in the length of the text
        return
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _repeated_names(inner, (*path, name))
    elif isinstance(value, list):
        for n, inner in enumerate(value):
            yield from _repeated_names(inner, (*path, n))


def _refuse_constant(name: str) -> NoReturn:
    raise ParseError(f"not JSON: {name} is not a JSON number")


def _bounded_int(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MAX_DIGITS else float(digits)


# ---------------------------------------------------------------- writing


def write_atomic(path: str | Path, content: bytes) -> None:
    """Write a file. After a failure it has either the old or the new content.

    Raises:
        OSError: the file cannot be written; the error names it.
        InvalidFile: the name is not a valid file name.
    """
    check_file_name(path)
    target = Path(os.path.realpath(path))  # a symbolic link is kept
    with file_name_in_errors(path):
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
def file_name_in_errors(path: str | Path) -> Iterator[None]:
    """Give each `OSError` of the block this file name, instead of none or that of a temporary file."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None


def check_file_name(path: str | Path) -> None:
    """Raise `InvalidFile` for a name that is not a valid file name on this machine."""
    try:
        if not str(path) or "\0" in str(path):
            raise ValueError
        os.fsencode(path)
    except ValueError:
        shown = str(path) if len(str(path)) <= 100 else f"{str(path)[:100]}…"
        raise InvalidFile(f"{shown!r} is not a valid file name") from None


def check_writable(path: str | Path, content: str, *, only_files: bool = False) -> None:
    """Raise `InvalidFile` if a file cannot be written. Call it before long work on the content.

    Args:
        path: name of the file.
        content: description of the content, for error messages, such as "the record".
        only_files: refuse devices and pipes.
    """
    check_file_name(path)
    target = Path(path)
    try:
        if target.is_dir():
            raise InvalidFile(f"{path}: this is a folder; {content} must be written to a file")
        exists = target.exists()
    except OSError as error:
        raise InvalidFile(f"{path}: {error.strerror}") from None
    if exists and only_files and not target.is_file():
        raise InvalidFile(f"{path}: not a regular file; {content} can only be written to one")
    if not exists and not target.parent.is_dir():
        raise InvalidFile(f"{path}: the folder {target.parent} does not exist")
    if not os.access(target if exists else target.parent, os.W_OK):
        raise InvalidFile(f"{path}: no permission to write")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_output(path: str, content: bytes) -> None:
    """Write a file atomically, or, for `-`, to standard output."""
    if path == STDOUT:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
    else:
        write_atomic(path, content)


def append_line(path: str | Path, line: str) -> None:
    """Append a line to a file, which is created if needed. Raise `OSError` or `InvalidFile`."""
    name = os.path.join(".", STDOUT) if str(path) == STDOUT else str(path)
    with LineWriter(name, append=True) as file:
        file.write(f"\n{line}" if _ends_without_line_break(name) else line)


def _ends_without_line_break(path: str) -> bool:
    if not os.path.isfile(path) or not os.path.getsize(path):
        return False
    with open(path, "rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"


class LineWriter:
    """Writes a file that at any time holds complete lines only.

    Args:
        path: name of the file; `-` is standard output.
        force: replace an existing file.
        append: append to an existing file.

    Raises:
        InvalidFile: the file exists, and neither `force` nor `append` is set.
    """

    def __init__(self, path: str, *, force: bool = False, append: bool = False) -> None:
        self.path = path
        self.written = 0
        self._created = False
        if path == STDOUT:
            sys.stdout.flush()
            self._fd = os.dup(sys.stdout.fileno())
            return
        check_file_name(path)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
        self._created = not os.path.exists(path)
        # Only regular files are protected: writing to a device or a pipe loses nothing.
        if self._created:
            flags |= os.O_EXCL
        elif os.path.isfile(path):
            if not (force or append):
                raise InvalidFile(f"{path}: the file exists; --force replaces it")
            flags |= os.O_TRUNC if force else 0
        self._fd = os.open(path, flags, 0o666)

    def write(self, line: str) -> None:
        """Write a line and a line break."""
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

    def __enter__(self) -> LineWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._fd)
        if self._created and not self.written:
            os.unlink(self.path)  # an empty file would only block the next attempt


def try_lock(file: int) -> bool:
    """Lock an open file until it is closed, and return whether no other process holds the lock.

    The operating system releases the lock when the process ends, even if it is killed.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            # Nobody else can read a locked byte there, so it is one behind the content.
            os.lseek(file, _LOCKED_BYTE, os.SEEK_SET)
            try:
                msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
            finally:
                os.lseek(file, 0, os.SEEK_SET)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextmanager
def hold_lock(path: Path) -> Iterator[bool]:
    """Try to lock a file, which is created if it is missing. Yields whether this process holds the lock."""
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield try_lock(file)
    finally:
        os.close(file)


@contextmanager
def lock_directory(folder: Path, holder: str) -> Iterator[None]:
    """Hold an exclusive lock on a folder.

    Args:
        folder: an existing folder.
        holder: description of other holders of the lock, for the error message, such as "another arena".

    Raises:
        InvalidFile: another process holds the lock.
    """
    if sys.platform == "win32":  # a folder cannot be opened there
        handle = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT)
    else:
        handle = os.open(folder, os.O_RDONLY)  # the folder itself, so there is no lock file to clean up
    try:
        if not try_lock(handle):
            raise InvalidFile(f"{folder}: {holder} is writing here; wait, or choose another folder")
        yield
    finally:
        os.close(handle)
