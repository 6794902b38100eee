"""The compile cache: machine code of loops on disk, checked before it runs.

Numba unpickles and runs whatever it finds in its cache. A file that was damaged by a full disk or a power cut
would make every later command fail, and a flipped bit in machine code would run as it is. Here a damaged file
is detected by its SHA-256, thrown away and made again.

Each function has an index (`.nbi`), with its own digest in front. It maps types of arguments to the digest of
a data file (`.nbc`), which has that digest in its name. So two processes that write at the same time can lose
an entry, but never mix two up.

Symbols of compiled code carry a number that Numba counts up in each process. Code that another process
compiled would meet code of this one under the same symbol, and the linker keeps only one of the two
(https://github.com/numba/numba/issues/10486). Here the numbers are random, so no two processes share one.

Nothing that goes wrong here stops a command: what cannot be read is compiled, what cannot be kept is not.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import pickle
import secrets
import shutil
import stat
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core import serialize
from numba.core.bytecode import FunctionIdentity
from numba.core.caching import CompileResultCacheImpl, FunctionCache

from ... import PROGRAM
from ...files import write_atomic

_pickled: Callable[[object], bytes] = serialize.dumps  # it is not typed

DIGEST = hashlib.sha256().digest_size
LARGEST = 1 << 28  # bytes that a cache file can have; the largest loop takes less than 1 % of it

# From the operating system, not from a generator: a forked process would go on with its parent's state.
FunctionIdentity._unique_ids = iter(lambda: secrets.randbits(63), None)  # type: ignore[assignment]


class RuleCache(FunctionCache):
    """What Numba asks for compiled code of one function, and gives it to."""

    def __init__(self, function: Callable[..., Any], folder: Path | None) -> None:
        # Not Numba's own: that would look for another folder where this one cannot be written, such as
        # `__pycache__`, whose code survives an edit of the rules.
        self._py_func = function
        self._name = repr(function)
        self._impl = _Reducing(function)
        source = _source_digest(inspect.getfile(function))
        self._stamp = (numba.__version__, llvmlite.__version__, source)
        self._files = _Files(folder, _file_name(function)) if folder else None
        self._enabled = True

    @property
    def cache_path(self) -> str | None:
        """The folder of the cache files, for `Dispatcher.stats`."""
        return str(self._files.folder) if self._files else None

    def flush(self) -> None:
        """Forget everything that is kept of the function."""
        if self._files:
            self._files.discard()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function for these types, or `None` where it has to be compiled."""
        if self._files is None or not self._enabled:
            return None
        target_context.refresh()
        # Whatever is raised for a file that is damaged in a way that its digest does not tell: compile again.
        try:
            reduced = self._files.load(self._key(sig, target_context.codegen()))
            return None if reduced is None else self._impl.rebuild(target_context, reduced)
        except Exception as error:
            self._files.discard()
            _tell_damage(self._files.index, error)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled function, if that is possible."""
        if self._files is None:
            _tell_not_kept("")
            return
        if not self._enabled or not self._impl.check_cachable(data):
            return
        key = self._key(sig, data.codegen)
        try:
            self._files.save(key, self._impl.reduce(data))
        except OSError as error:
            _tell_not_kept(f" in {self._files.folder}: {error.strerror or error}")

    def _key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        key: tuple[Any, ...] = self._index_key(sig, codegen)  # type: ignore[no-untyped-call]
        return (*self._stamp, *key)


class _Reducing(CompileResultCacheImpl):
    """Turns compiled functions into what can be pickled, and back."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._lineno = function.__code__.co_firstlineno  # for a warning of Numba's, as is the next
        self._locator = self
        self._py_file = inspect.getfile(function)


class _Files:
    """The index and the data files of one function."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.index = folder / f"{name}.nbi"
        self._name = name

    def load(self, key: tuple[Any, ...]) -> Any:
        """What is kept under a key, or `None`. Damaged files are thrown away."""
        digest = self._entries().get(key)
        if digest is None:
            return None
        path = self._data_file(digest)
        try:
            data = _read(path)
            if data is None:
                return None
            if hashlib.sha256(data).hexdigest() != digest:
                raise _Damaged("its content does not match its digest")
        except (_Damaged, OSError) as error:
            _discard(path)
            _tell_damage(path, error)
            return None
        return pickle.loads(data)

    def save(self, key: tuple[Any, ...], value: Any) -> None:
        """Keep a value under a key. Raises `OSError`."""
        data = _pickled(value)
        digest = hashlib.sha256(data).hexdigest()
        if os.path.lexists(self.folder) and not self.folder.is_dir():
            _discard(self.folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        _write(self._data_file(digest), data)
        entries = _pickled(self._entries() | {key: digest})
        _write(self.index, hashlib.sha256(entries).digest() + entries)

    def discard(self) -> None:
        """Throw all files of the function away."""
        _discard(self.index)
        for path in self.folder.glob(f"{self._name}.*.nbc"):
            _discard(path)

    def _entries(self) -> dict[tuple[Any, ...], str]:
        try:
            content = _read(self.index)
            if content is None:
                return {}
            if hashlib.sha256(content[DIGEST:]).digest() != content[:DIGEST]:
                raise _Damaged("its content does not match its digest")
        except (_Damaged, OSError) as error:
            self.discard()
            _tell_damage(self.index, error)
            return {}
        entries: dict[tuple[Any, ...], str] = pickle.loads(content[DIGEST:])
        return entries

    def _data_file(self, digest: str) -> Path:
        return self.folder / f"{self._name}.{digest[:16]}.nbc"


class _Damaged(Exception):
    """A cache file is not what was written."""


def _read(path: Path) -> bytes | None:
    """The content of a cache file, or `None` if there is none. Raises `_Damaged` and `OSError`."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # before it is opened: a pipe would wait for somebody to write
            raise _Damaged("it is not a file")
        if status.st_size > LARGEST:
            raise _Damaged("it is too large")
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _write(path: Path, content: bytes) -> None:
    if os.path.lexists(path) and not path.is_file():
        _discard(path)  # a folder cannot be replaced by a file, and writing to a pipe would wait for a reader
    write_atomic(path, content)


def _discard(path: Path) -> None:
    """Remove what is there; if that is impossible, it will be found damaged again."""
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    except OSError:
        pass


def _file_name(function: Callable[..., Any]) -> str:
    """The name of a function's files, which no other function in any module has."""
    name = f"{function.__module__}.{function.__qualname__}-{function.__code__.co_firstlineno}"
    return name.replace("<", "").replace(">", "")


@cache
def _source_digest(file: str) -> str:
    """The digest of the file a function stands in. (Files with rules are also part of the folder's name.)"""
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


_warned: set[str] = set()


def _tell_damage(path: Path, error: Exception) -> None:
    _warn_once("damage", f"the compile cache was damaged ({path.name}: {error}); compiling again")


def _tell_not_kept(where: str) -> None:
    _warn_once("kept", f"compiled rules cannot be kept{where}; AXIO_CACHE_DIR can name another folder")


def _warn_once(topic: str, message: str) -> None:
    if topic not in _warned:
        _warned.add(topic)
        print(f"{PROGRAM}: {message}", file=sys.stderr, flush=True)
