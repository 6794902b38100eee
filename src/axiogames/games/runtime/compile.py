"""The one decorator under which all rule code stands.

Rule code is plain Python over NumPy records. It runs interpreted when `NUMBA_DISABLE_JIT=1` is set
(for reading, debugging and coverage; Numba is not even imported then), and compiled otherwise.

Numba finds a compiled function again by the digest of the one file the function stands in. A
rule calls rules in other files, so that alone would serve stale machine code after an edit. Our
cache folder is therefore named after a digest of all rule sources: any edit starts a fresh one.
`compilecache` tells how files in it are kept and checked.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

from ... import PROGRAM

# Python never calls inner functions, so it needs no way in, and the cache keeps what they end up in.
_INNER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

_DECORATED = re.compile(rb"^\s*@(rule|rule_noinline|entry_point|intrinsic)\b", re.MULTILINE)
INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


def rule(function: Callable[..., Any]) -> Any:
    """Mark a function as rule code: compiled into whatever calls it."""
    return _compiled(function, forceinline=True, _nrt=True, **_INNER)


def rule_noinline(function: Callable[..., Any]) -> Any:
    """Mark a function as rule code that runs rarely: called, not copied into every caller.

    Copying a long function for a rare case into every loop costs seconds of compilation and, by
    crowding the hot path, speed.
    """
    # Said outright: what is left unsaid, a function inherits from the rule that calls it.
    return _compiled(function, forceinline=False, _nrt=True, **_INNER)


def entry_point(function: Callable[..., Any]) -> Any:
    """Mark a function as one that Python calls: it takes arrays and loops over rules."""
    return _kept(function)


def bind(template: Callable[..., Any], rules: dict[str, Any], *, counted: bool = True) -> Any:
    """The loop `template` with a game's own rules in place of the stand-ins of the same names.

    A loop that is not `counted` makes no arrays, and need not count who holds those it looks at: for rows of
    large arrays, game after game, that takes a tenth of the time.

    The names are swapped in the function's globals, not in a closure: Numba's cache does not find
    functions again that close over other compiled functions.
    """
    return _kept(_with_rules(template, rules), _nrt=counted)


def bind_rule(template: Callable[..., Any], rules: dict[str, Any], *, inline: bool) -> Any:
    """The template with a game's own rules in place of the stand-ins, as a rule of that game."""
    bound = _with_rules(template, rules)
    return rule(bound) if inline else rule_noinline(bound)


def bind_part(template: Callable[..., Any], rules: dict[str, Any]) -> Any:
    """The template with a game's own rules in place of the stand-ins, to be called by loops."""
    return _compiled(_with_rules(template, rules), forceinline=False, **_INNER)  # counts as its loop does


def bind_callback(template: Callable[..., Any], rules: dict[str, Any], name: str, parameters: int) -> Any:
    """The template as a function of C with so many whole numbers, for compiled code that has its address.

    Numba's cache tells functions apart by name and types: with other rules it must have another name.
    """
    from numba.core.ccallback import CFunc
    from numba.core.types import int64, void

    from .compile_cache import RuleCache

    bound = _with_rules(template, rules)
    bound.__name__ = bound.__qualname__ = name
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
    function: Any = CFunc(bound, ((int64,) * parameters, void), locals={}, options=options)
    function._cache = RuleCache(bound, cache_folder())
    function.compile()
    return function


def _with_rules(template: Callable[..., Any], rules: dict[str, Any]) -> FunctionType:
    bound = FunctionType(template.__code__, {**template.__globals__, **rules}, template.__name__)
    bound.__qualname__ = template.__qualname__
    bound.__module__ = template.__module__
    return bound


def cache_folder() -> Path | None:
    """Where compiled rules are kept: one folder for each state of the rule sources.

    `None` if there is no place that can be written and trusted; then every process compiles for itself.
    """
    version = f"py{sys.version_info.major}{sys.version_info.minor}"
    root = _cache_root()
    return root / f"rules-{version}-{_sources_digest()}" if root else None


def is_ready(name: str) -> bool:
    """Whether something has been compiled on this machine, as `mark_ready` says."""
    folder = cache_folder()
    return folder is not None and (folder / f"{name}.ready").exists()


def mark_ready(name: str) -> None:
    """Remember that something has been compiled. Where nothing can be kept, it is forgotten."""
    folder = cache_folder()
    try:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{name}.ready").touch()
    except OSError:
        pass  # whoever writes the compiled code next to it has said so


@cache
def _cache_root() -> Path | None:
    """The user's cache, or, where that cannot be written, a folder of this user's among temporary files."""
    if chosen := os.environ.get("AXIO_CACHE_DIR"):
        return Path(chosen)
    try:
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / PROGRAM
        root.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # the latter where nobody knows a home
        return _temporary_root()
    return root if os.access(root, os.W_OK | os.X_OK) else _temporary_root()


def _temporary_root() -> Path | None:
    """A folder that the next command finds again, and that nobody else can have put machine code into."""
    user = os.getuid() if sys.platform != "win32" else "user"  # there, temporary files are a user's own
    try:
        folder = Path(tempfile.gettempdir()) / f"{PROGRAM}-{user}"
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return None
    private = stat.S_ISDIR(status.st_mode) and status.st_uid == user and not status.st_mode & 0o077
    return folder if private or sys.platform == "win32" else None


@cache
def _sources_digest() -> str:
    package = Path(__file__).parents[2]
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        source = path.read_bytes()
        # The runtime and the reasons hold numbers that are compiled in; elsewhere only rules are.
        if path.parent.name == "runtime" or path.stem in ("errors", "protocol") or _DECORATED.search(source):
            digest.update(path.relative_to(package).as_posix().encode() + source)
    return digest.hexdigest()[:16]


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    if INTERPRETED:
        return function
    from numba import njit

    return njit(**options, nogil=True, error_model="numpy")(function)


def _kept(function: Callable[..., Any], **options: Any) -> Any:
    """The compiled function, which comes from the cache if it is there."""
    compiled = _compiled(function, **options)
    if not INTERPRETED:
        from .compile_cache import RuleCache

        compiled._cache = RuleCache(function, cache_folder())
    return compiled
