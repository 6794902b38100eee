"""Input from outside, read strictly and within bounds: files, the lines of a file or a pipe, one JSON text.

`read_lines` reads its source once, front to back, so that a pipe will do. `read_json` accepts what RFC 8259
allows and nothing else, and reports names that an object repeats, which most readers resolve silently.
"""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from .errors import BadFile, BadText, abbreviated

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
        raise BadFile(f"{abbreviated(source)} is not the name of a file")
    name = name or str(source)
    empty = True
    try:
        with _opened(source) if isinstance(source, str | Path) else nullcontext(source) as file:
            for number, line in enumerate(_lines(file, name), 1):
                if len(line) > LONGEST_LINE or line.strip():
                    empty = False
                    yield number, line
    except OSError as error:
        raise BadFile(f"{name}: {error.strerror or error}") from None
    if empty:
        raise BadFile(f"{name}: the file is empty, it should hold one record a line")


def _opened(path: str | Path) -> BinaryIO:
    try:
        return open(path, "rb", _BLOCK)
    except ValueError as error:  # a NUL, or a character that file names cannot have here
        raise BadFile(f"{str(path)!r} cannot be the name of a file: {error}") from None


def read_whole(path: Path, most: int = LONGEST_LINE) -> bytes:
    """Return the content of a file of at most so many bytes.

    Raises:
        BadFile: it is longer, or no file but a pipe, a device or a folder.
        OSError: it is not there or cannot be read.
    """
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise BadFile(f"{path}: this is not a file")
    if status.st_size > most:
        raise BadFile(f"{path}: longer than {most} bytes, the most that is read")
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
            raise BadFile(
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
        raise BadText(f"not UTF-8: byte 0x{error.object[error.start]:02x} at offset {error.start}") from None
    except UnicodeEncodeError as error:
        raise BadText(f"not Unicode text: half a surrogate pair at offset {error.start}") from None
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
        raise BadText(f"not JSON: {error.msg} at offset {error.pos}") from None
    except RecursionError:
        raise BadText("not JSON that can be read: nested too deeply") from None
    except UnicodeEncodeError:
        raise BadText("not Unicode text: a string escapes half a surrogate pair") from None
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
    raise BadText(f"not JSON: {name} is not a number there")


def _bounded_int(digits: str) -> int | float:
    return int(digits) if len(digits) <= _LONGEST_NUMBER else float(digits)
