"""The one decorator under which all rule code stands.

Rule code is plain Python over NumPy records. It runs interpreted when `NUMBA_DISABLE_JIT=1` is set
(for reading, debugging and coverage; Numba is not even imported then), and compiled otherwise.

Numba finds a compiled function again by the time stamp of the one file the function stands in. A
rule calls rules in other files, so that alone would serve stale machine code after an edit. Our
cache folder is therefore named after a digest of all rule sources: any edit starts a fresh one.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

# Python never calls inner functions, so it needs no way in, and the cache keeps what they end up in.
_INNER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

_DECORATED = re.compile(rb"^\s*@(rule|seldom|entry|intrinsic)\b", re.MULTILINE)
_PROGRAM = __name__.partition(".")[0]
_DECORATING = threading.RLock()

INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


def rule(function: Callable[..., Any]) -> Any:
    """Mark a function as rule code: compiled into whatever calls it."""
    return _compiled(function, forceinline=True, _nrt=True, **_INNER)


def seldom(function: Callable[..., Any]) -> Any:
    """Mark a function as rule code that runs rarely: called, not copied into every caller.

    Copying a long function for a rare case into every loop costs seconds of compilation and, by
    crowding the hot path, speed.
    """
    # Said outright: what is left unsaid, a function inherits from the rule that calls it.
    return _compiled(function, forceinline=False, _nrt=True, **_INNER)


def entry(function: Callable[..., Any]) -> Any:
    """Mark a function as one that Python calls: it takes arrays and loops over rules."""
    return _compiled(function, cache=True)


def bind(template: Callable[..., Any], rules: dict[str, Any], *, counted: bool = True) -> Any:
    """The loop `template` with a game's own rules in place of the stand-ins of the same names.

    A loop that is not `counted` makes no arrays, and need not count who holds those it looks at: for rows of
    large arrays, game after game, that takes a tenth of the time.

    The names are swapped in the function's globals, not in a closure: Numba's cache does not find
    functions again that close over other compiled functions.
    """
    return _compiled(_with_rules(template, rules), cache=True, _nrt=counted)


def part(template: Callable[..., Any], rules: dict[str, Any]) -> Any:
    """The template with a game's own rules in place of the stand-ins, to be called by loops."""
    return _compiled(_with_rules(template, rules), forceinline=False, **_INNER)  # counts as its loop does


def callback(template: Callable[..., Any], rules: dict[str, Any], name: str, parameters: int) -> Any:
    """The template as a function of C with so many whole numbers, for compiled code that has its address.

    Numba's cache tells functions apart by name and types: with other rules it must have another name.
    """
    from numba import cfunc
    from numba.core.types import int64, void

    bound = _with_rules(template, rules)
    bound.__name__ = bound.__qualname__ = name
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
    with _numba_cache_in(cache_folder()):
        return cfunc(void(*[int64] * parameters), cache=True, **options)(bound)


def _with_rules(template: Callable[..., Any], rules: dict[str, Any]) -> FunctionType:
    bound = FunctionType(template.__code__, {**template.__globals__, **rules}, template.__name__)
    bound.__qualname__ = template.__qualname__
    bound.__module__ = template.__module__
    return bound


def cache_folder() -> Path:
    """Where compiled rules are kept: one folder for each state of the rule sources."""
    version = f"py{sys.version_info.major}{sys.version_info.minor}"
    return _cache_root() / f"rules-{version}-{_sources_digest()}"


@cache
def _cache_root() -> Path:
    """The user's cache, or, where that cannot be written, a folder of this user's that will be lost."""
    if chosen := os.environ.get("AXIO_CACHE_DIR"):
        return Path(chosen)
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / _PROGRAM
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.mkdtemp(prefix=_PROGRAM))
    return root if os.access(root, os.W_OK) else Path(tempfile.mkdtemp(prefix=_PROGRAM))


@cache
def _sources_digest() -> str:
    package = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        source = path.read_bytes()
        # The engine and the reasons hold numbers that are compiled in; elsewhere only rules are.
        if path.parent.name == "engine" or path.stem == "reasons" or _DECORATED.search(source):
            digest.update(path.relative_to(package).as_posix().encode() + source)
    return digest.hexdigest()[:16]


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    if INTERPRETED:
        return function
    from numba import njit

    with _numba_cache_in(cache_folder()):
        return njit(**options, nogil=True, error_model="numpy")(function)


@contextmanager
def _numba_cache_in(folder: Path) -> Iterator[None]:
    """Let Numba choose `folder` while it decorates, and leave its setting as it was for others."""
    from numba.core import config

    settings = vars(config)
    with _DECORATING:  # the setting is everybody's: another thread must not put it back too early
        before = settings["CACHE_DIR"]
        settings["CACHE_DIR"] = str(folder)
        try:
            yield
        finally:
            settings["CACHE_DIR"] = before
