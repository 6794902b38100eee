"""The compile cache: machine code of loops on disk, verified before it runs.

Numba unpickles and runs whatever it finds in its cache. A file damaged by a full disk or a power cut would
make every later command fail, and machine code with a flipped bit would be executed. This cache detects a
damaged file by its SHA-256, deletes it and compiles again.

Each function has an index file (`.nbi`) that starts with its own digest. It maps argument types to the digest
of a data file (`.nbc`), whose name contains that digest. Two processes that write at the same time can lose
an entry, but never read the wrong one.

Symbols of compiled code contain a counter of the process that compiled them. Code from another process could
have the same symbol as code of this one, and the linker keeps only one of the two
(https://github.com/numba/numba/issues/10486). This module replaces the counter by random numbers.

A failure of the cache never stops a command: unreadable code is compiled again, and a failure to save is
reported once.
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

_pickle: Callable[[object], bytes] = serialize.dumps  # untyped in Numba

DIGEST = hashlib.sha256().digest_size
MAX_FILE_SIZE = 1 << 28  # bytes; the largest loop takes less than 1 % of it

# From the operating system: a forked process would inherit the state of a generator.
FunctionIdentity._unique_ids = iter(lambda: secrets.randbits(63), None)  # type: ignore[assignment]


class NotCached(Exception):
    """The cache does not have a function that is to be loaded and not compiled."""


class RuleCache(FunctionCache):
    """The cache of one function, as Numba's dispatcher calls it.

    Attributes:
        only_load: Whether to raise `NotCached` where Numba would compile the function.
    """

    only_load = False

    def __init__(self, function: Callable[..., Any], folder: Path | None) -> None:
        # Does not call Numba's constructor, which falls back to folders such as `__pycache__`, where code
        # survives an edit of the rules.
        self._py_func = function
        self._name = repr(function)
        self._impl = _ResultSerializer(function)
        source = _source_digest(inspect.getfile(function))
        self._stamp = (numba.__version__, llvmlite.__version__, source)
        self._files = _Files(folder, _file_name(function)) if folder else None
        self._enabled = True

    @property
    def cache_path(self) -> str | None:
        """The folder of the cache files, for `Dispatcher.stats`."""
        return str(self._files.folder) if self._files else None

    def flush(self) -> None:
        """Delete all cached code of the function."""
        if self._files:
            self._files.discard()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled function for these types, or `None` if it has to be compiled."""
        loaded = self._load(sig, target_context)
        if loaded is None and self.only_load:
            raise NotCached
        return loaded

    def _load(self, sig: Any, target_context: Any) -> Any:
        if self._files is None or not self._enabled:
            return None
        target_context.refresh()
        # A file can be unusable although its digest matches. Compile again, whatever is raised.
        try:
            reduced = self._files.load(self._key(sig, target_context.codegen()))
            return None if reduced is None else self._impl.rebuild(target_context, reduced)
        except Exception as error:
            self._files.discard()
            _report_damage(self._files.index, error)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save a compiled function, if the folder is writable."""
        if self._files is None:
            _report_not_saved("")
            return
        if not self._enabled or not self._impl.check_cachable(data):
            return
        key = self._key(sig, data.codegen)
        try:
            self._files.save(key, self._impl.reduce(data))
        except OSError as error:
            _report_not_saved(f" in {self._files.folder}: {error.strerror or error}")

    def _key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        key: tuple[Any, ...] = self._index_key(sig, codegen)  # type: ignore[no-untyped-call]
        return (*self._stamp, *key)


class _ResultSerializer(CompileResultCacheImpl):
    """Converts compiled functions to objects that can be pickled, and back."""

    def __init__(self, function: Callable[..., Any]) -> None:
        # Numba reads these three for a warning.
        self._lineno = function.__code__.co_firstlineno
        self._locator = self
        self._py_file = inspect.getfile(function)


class _Files:
    """The index and the data files of one function."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.index = folder / f"{name}.nbi"
        self._name = name

    def load(self, key: tuple[Any, ...]) -> Any:
        """Return the value saved under a key, or `None`. Deletes damaged files."""
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
            _report_damage(path, error)
            return None
        return pickle.loads(data)

    def save(self, key: tuple[Any, ...], value: Any) -> None:
        """Save a value under a key. Raises `OSError`."""
        data = _pickle(value)
        digest = hashlib.sha256(data).hexdigest()
        if os.path.lexists(self.folder) and not self.folder.is_dir():
            _discard(self.folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        _write(self._data_file(digest), data)
        entries = _pickle(self._entries() | {key: digest})
        _write(self.index, hashlib.sha256(entries).digest() + entries)

    def discard(self) -> None:
        """Delete all files of the function."""
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
            _report_damage(self.index, error)
            return {}
        entries: dict[tuple[Any, ...], str] = pickle.loads(content[DIGEST:])
        return entries

    def _data_file(self, digest: str) -> Path:
        return self.folder / f"{self._name}.{digest[:16]}.nbc"


class _Damaged(Exception):
    """A cache file differs from the one that was written."""


def _read(path: Path) -> bytes | None:
    """Return the content of a cache file, `None` if there is none. Raises `_Damaged` and `OSError`."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # checked before opening, because a pipe would block
            raise _Damaged("it is not a file")
        if status.st_size > MAX_FILE_SIZE:
            raise _Damaged("it is too large")
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _write(path: Path, content: bytes) -> None:
    if os.path.lexists(path) and not path.is_file():
        _discard(path)  # a file cannot replace a folder, and writing to a pipe would block
    write_atomic(path, content)


def _discard(path: Path) -> None:
    """Delete a file or folder. On failure it is found damaged again by the next command."""
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    except OSError:
        pass


def _file_name(function: Callable[..., Any]) -> str:
    """Return the unique base name of a function's files."""
    name = f"{function.__module__}.{function.__qualname__}-{function.__code__.co_firstlineno}"
    return name.replace("<", "").replace(">", "")


@cache
def _source_digest(file: str) -> str:
    """Return the digest of the file that defines a function; it can hold loops that no rule digest covers."""
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


_warned: set[str] = set()


def _report_damage(path: Path, error: Exception) -> None:
    _warn_once("damage", f"the compile cache was damaged ({path.name}: {error}); compiling again")


def _report_not_saved(where: str) -> None:
    _warn_once("saved", f"cannot save compiled rules{where}; set AXIO_CACHE_DIR to a writable folder")


def _warn_once(topic: str, message: str) -> None:
    if topic not in _warned:
        _warned.add(topic)
        print(f"{PROGRAM}: {message}", file=sys.stderr, flush=True)
