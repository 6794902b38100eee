"""Input from outside, read strictly and within bounds: files, the lines of a file or a pipe, one JSON text.

`read_lines` reads its source once, front to back, so that a pipe will do. `read_json` accepts what RFC 8259
allows and nothing else, and reports names that an object repeats, which most readers resolve silently.
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

LONGEST_LINE = 4 << 20  # bytes; the longest possible game takes about 100,000
FARTHEST_END = 256 << 20  # bytes of a line that are skipped in search of its end
_BLOCK = 1 << 16
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_LONGEST_NUMBER = 300  # digits of a whole number; Python converts no more than 4300

DEEPEST = 4  # steps on the way to an object of a record, as in ("events", 0, "display", 3)

# The way to an object, such as ("events", 3, "gain"), and a name that it repeats.
Repeated = tuple[tuple[str | int, ...], str]


def read_lines(source: str | Path | BinaryIO, name: str | None = None) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file that are not blank, each with its number, without the line break.

    A line of more than `LONGEST_LINE` bytes is cut off after one byte more, and the next one follows.

    Raises:
        BadFile: the file cannot be opened or read, has only blank lines, or has a line without an end.
    """
    if not (isinstance(source, str | Path) or hasattr(source, "readline")):
        raise InvalidFile(f"{abbreviated(source)} is not the name of a file")
    name = name or str(source)
    empty = True
    try:
        with _opened(source) if isinstance(source, str | Path) else nullcontext(source) as file:
            for number, line in enumerate(_lines(file, name), 1):
                if len(line) > LONGEST_LINE or line.strip():
                    empty = False
                    yield number, line
    except OSError as error:
        raise InvalidFile(f"{name}: {error.strerror or error}") from None
    if empty:
        raise InvalidFile(f"{name}: the file is empty, it should hold one record a line")


def _opened(path: str | Path) -> BinaryIO:
    try:
        return open(path, "rb", _BLOCK)
    except ValueError as error:  # a NUL, or a character that file names cannot have here
        raise InvalidFile(f"{str(path)!r} cannot be the name of a file: {error}") from None


def read_whole(path: Path, most: int = LONGEST_LINE) -> bytes:
    """Return the content of a file of at most so many bytes.

    Raises:
        BadFile: it is longer, or no file but a pipe, a device or a folder.
        OSError: it is not there or cannot be read.
    """
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise InvalidFile(f"{path}: this is not a file")
    if status.st_size > most:
        raise InvalidFile(f"{path}: longer than {most} bytes, the most that is read")
    return path.read_bytes()


def _lines(file: BinaryIO, name: str) -> Iterator[bytes]:
    number = 0
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE and not line.endswith(b"\n"):
            _skip_line(file, f"{name}, line {number}")
        yield line.removesuffix(b"\n")


def _skip_line(file: BinaryIO, where: str) -> None:
    """Read on to the end of the line, keeping nothing."""
    left = FARTHEST_END
    while (block := file.readline(_BLOCK)) and not block.endswith(b"\n"):
        left -= len(block)
        if left < 0:
            raise InvalidFile(
                f"{where}: no line break within {FARTHEST_END >> 20} MiB, a line has at most"
                f" {LONGEST_LINE >> 20} MiB; what follows was not read"
            )


def is_unicode(text: str) -> bool:
    """Whether a text can be written as UTF-8: it has no half of a surrogate pair."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def read_json(text: str | bytes) -> tuple[Any, list[Repeated]]:
    """Return the value of a JSON text, and the names that objects at most `DEEPEST` steps inside it repeat.

    Where a name is repeated, the value holds the last of its values.

    Raises:
        BadText: the text is not UTF-8 or not JSON, or is nested too deeply.
    """
    try:
        told = text if isinstance(text, str) else bytes(text).decode("utf-8")
        if isinstance(text, str) and not text.isascii():
            text.encode("utf-8")
    except UnicodeDecodeError as error:
        raise ParseError(
            f"not UTF-8: byte 0x{error.object[error.start]:02x} at offset {error.start}"
        ) from None
    except UnicodeEncodeError as error:
        raise ParseError(f"not Unicode text: half a surrogate pair at offset {error.start}") from None
    objects: list[_Repeating] = []

    def made(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        plain = dict(pairs)
        if len(plain) == len(pairs):
            return plain
        objects.append(_Repeating(pairs))
        return objects[-1]

    try:
        value = json.loads(
            told, object_pairs_hook=made, parse_constant=_refuse_constant, parse_int=_bounded_int
        )
        if _SURROGATE.search(told):
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        repeated = list(_repeated(value)) if objects else []
    except json.JSONDecodeError as error:
        raise ParseError(f"not JSON: {error.msg} at offset {error.pos}") from None
    except RecursionError:
        raise ParseError("not JSON that can be read: nested too deeply") from None
    except UnicodeEncodeError:
        raise ParseError("not Unicode text: a string escapes half a surrogate pair") from None
    return value, repeated


class _Repeating(dict[str, Any]):
    """An object that repeats a name."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        seen: set[str] = set()
        for self.name, _ in pairs:
            if self.name in seen:
                break
            seen.add(self.name)


def _repeated(value: Any, way: tuple[str | int, ...] = ()) -> Iterator[Repeated]:
    if isinstance(value, _Repeating):
        yield way, value.name
    if len(way) == DEEPEST:  # or the ways together could be as long as the square of the text
        return
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _repeated(inner, (*way, name))
    elif isinstance(value, list):
        for n, inner in enumerate(value):
            yield from _repeated(inner, (*way, n))


def _refuse_constant(name: str) -> NoReturn:
    raise ParseError(f"not JSON: {name} is not a number there")


def _bounded_int(digits: str) -> int | float:
    return int(digits) if len(digits) <= _LONGEST_NUMBER else float(digits)


STDOUT = "-"


def write_atomic(path: str | Path, content: bytes) -> None:
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
    """Raise `InvalidFile` for a name that no file can have here."""
    try:
        if not str(path) or "\0" in str(path):
            raise ValueError
        os.fsencode(path)
    except ValueError:
        shown = str(path) if len(str(path)) <= 100 else f"{str(path)[:100]}…"
        raise InvalidFile(f"{shown!r} cannot be the name of a file") from None


def check_writable(path: str | Path, what: str, *, only_files: bool = False) -> None:
    """Raise `InvalidFile` if a file cannot be written: better now than after the work.

    `what` is to be written; `only_files` refuses devices and pipes.
    """
    check_name(path)
    target = Path(path)
    try:
        if target.is_dir():
            raise InvalidFile(f"{path}: this is a folder, {what} needs a file")
        there = target.exists()
    except OSError as error:
        raise InvalidFile(f"{path}: {error.strerror}") from None
    if there and only_files and not target.is_file():
        raise InvalidFile(f"{path}: this is not a file, {what} needs one")
    if not there and not target.parent.is_dir():
        raise InvalidFile(f"{path}: there is no folder {target.parent}")
    if not os.access(target if there else target.parent, os.W_OK):
        raise InvalidFile(f"{path}: it cannot be written")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_stdout(path: str, content: bytes) -> None:
    """Write a file whole, or, for `-`, to standard output."""
    if path == STDOUT:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
    else:
        write_atomic(path, content)


def append_line(path: str | Path, line: str) -> None:
    """Append a line to a file, which may be new. Raises `OSError` or `InvalidFile`."""
    name = os.path.join(".", STDOUT) if str(path) == STDOUT else str(path)
    with LineWriter(name, append=True) as file:
        file.write(f"\n{line}" if _ends_within_a_line(name) else line)


def _ends_within_a_line(path: str) -> bool:
    if not os.path.isfile(path) or not os.path.getsize(path):
        return False
    with open(path, "rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"


class LineWriter:
    """A file that holds whole lines only, at any moment. `-` is standard output.

    Raises `InvalidFile` for one that exists, unless `force` says that it may be replaced, or `append` that
    lines may be added to it.
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
                raise InvalidFile(f"{path}: the file exists; --force replaces it")
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

    def __enter__(self) -> LineWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._fd)
        if self._made and not self.written:
            os.unlink(self.path)  # a file without a line would only stand in the way of the next try


@contextmanager
def lock_directory(folder: Path, other: str) -> Iterator[None]:
    """While this lasts, no other process that asks for the same writes into the folder.

    Raises `InvalidFile` if one does already; `other` is what it is called then.
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
            raise InvalidFile(f"{folder}: {other} is writing here; wait for it or choose another") from None
        yield
    finally:
        os.close(handle)
