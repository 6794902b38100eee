"""Decorators and binding of rule code.

Rule code is plain Python over NumPy records. With `NUMBA_DISABLE_JIT=1` it runs interpreted, for reading,
debugging and coverage, and Numba is not imported. Otherwise Numba compiles it.

Numba's cache identifies a compiled function by the digest of the file that defines it. Rules call rules in
other files, so that digest alone would serve stale machine code after an edit. Each game therefore has a
cache folder named after a digest of its own rule sources and the shared ones, and an edit of either starts a
new folder. The module `compile_cache` stores and verifies the files.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import re
import stat
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

from ... import PROGRAM

# Python never calls inner functions, so they need no wrapper. They are cached as part of their callers.
_INNER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

_DECORATED = re.compile(
    rb"^\s*@(rule|rule_noinline|entry_point|intrinsic|loop)\b|signatures import\b", re.MULTILINE
)
INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


def rule(function: Callable[..., Any]) -> Any:
    """Mark a function as rule code that is inlined into its callers."""
    return _compiled(function, forceinline=True, _nrt=True, **_INNER)


def rule_noinline(function: Callable[..., Any]) -> Any:
    """Mark a function as rule code that runs rarely and is called instead of inlined.

    Inlining a long function for a rare case into every loop costs seconds of compilation and slows down the
    hot path.
    """
    # Explicit, because a function inherits unset flags from the rule that calls it.
    return _compiled(function, forceinline=False, _nrt=True, **_INNER)


def entry_point(function: Callable[..., Any]) -> Any:
    """Mark a function that Python calls and that takes arrays."""
    return _cached(function)


def bind(template: Callable[..., Any], rules: dict[str, Any], *, counted: bool = True) -> Any:
    """Return the loop `template` with a game's rules in place of the stand-ins of the same names.

    The names are replaced in the function's globals, not in a closure, because Numba's cache cannot reload
    functions that close over other compiled functions.

    Args:
        template: Loop over stand-ins from `protocol`.
        rules: Compiled functions by the names that the template uses.
        counted: Whether arrays are reference-counted. A loop that creates no arrays can do without: over rows
            of large arrays, game after game, it then takes a tenth of the time.
    """
    return _cached(_with_rules(template, rules), rules, _nrt=counted)


def bind_rule(template: Callable[..., Any], rules: dict[str, Any], *, inline: bool) -> Any:
    """Return the template bound to a game's rules, as a rule of that game."""
    bound = _with_rules(template, rules)
    return rule(bound) if inline else rule_noinline(bound)


def bind_part(template: Callable[..., Any], rules: dict[str, Any]) -> Any:
    """Return the template bound to a game's rules, for loops to call."""
    # Without a flag of its own, it counts references if its loop does.
    return _compiled(_with_rules(template, rules), forceinline=False, **_INNER)


def bind_callback(template: Callable[..., Any], rules: dict[str, Any], name: str, parameters: int) -> Any:
    """Return the template bound to a game's rules, as a C function that compiled code calls by address.

    Args:
        template: Function over stand-ins from `protocol`; it returns nothing.
        rules: Compiled functions by the names that the template uses.
        name: Name of the function. It must differ for different rules, because Numba's cache identifies a
            function by name and types.
        parameters: Number of parameters, all 64-bit integers.
    """
    from numba.core.ccallback import CFunc
    from numba.core.types import int64, void

    from .compile_cache import RuleCache

    bound = _with_rules(template, rules)
    bound.__name__ = bound.__qualname__ = name
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
    function: Any = CFunc(bound, ((int64,) * parameters, void), locals={}, options=options)
    function._cache = RuleCache(bound, cache_folder(rules))
    function.compile()
    return function


def _with_rules(template: Callable[..., Any], rules: dict[str, Any]) -> FunctionType:
    bound = FunctionType(template.__code__, {**template.__globals__, **rules}, template.__name__)
    bound.__qualname__ = template.__qualname__
    bound.__module__ = template.__module__
    return bound


def cache_folder(rules: Mapping[str, Any] | None = None) -> Path | None:
    """Return the cache folder for code compiled with the rules of a game, `None` if no folder is writable.

    Its name depends on the sources of the game and on the shared ones, so an edit of one game recompiles only
    that game. Without `rules`, it is the folder of code that belongs to no single game.
    """
    version = f"py{sys.version_info.major}{sys.version_info.minor}"
    root = _cache_root()
    digest = _sources_digest() if rules is None else _rules_digest(rules)
    return root / f"rules-{version}-{digest}" if root else None


def is_ready(name: str, rules: Mapping[str, Any] | None = None) -> bool:
    """Return whether `mark_ready` has recorded `name` as compiled on this machine."""
    folder = cache_folder(rules)
    return folder is not None and (folder / f"{name}.ready").exists()


def mark_ready(name: str, rules: Mapping[str, Any] | None = None) -> None:
    """Record `name` as compiled on this machine. Does nothing if the cache is not writable."""
    folder = cache_folder(rules)
    try:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{name}.ready").touch()
    except OSError:
        pass  # `compile_cache` has already warned that it cannot save the code itself


@cache
def _cache_root() -> Path | None:
    """Return the user's cache folder; if it is not writable, a private folder among the temporary files."""
    if chosen := os.environ.get("AXIO_CACHE_DIR"):
        return Path(chosen)
    try:
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / PROGRAM
        root.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # the latter if the home folder is unknown
        return _temporary_root()
    return root if os.access(root, os.W_OK | os.X_OK) else _temporary_root()


def _temporary_root() -> Path | None:
    """Return a temporary folder that later commands find again and that no other user can write to."""
    user = os.getuid() if sys.platform != "win32" else "user"  # on Windows each user has a temporary folder
    try:
        folder = Path(tempfile.gettempdir()) / f"{PROGRAM}-{user}"
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return None
    private = stat.S_ISDIR(status.st_mode) and status.st_uid == user and not status.st_mode & 0o077
    return folder if private or sys.platform == "win32" else None


@cache
def _sources_digest(shared: bool = False) -> str:
    """Return the digest of all compiled sources, or only of those that the games share."""
    package, digest = _package(), hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        source = path.read_bytes()
        # Constants of the runtime, of `errors` and of `protocol` end up in machine code. Elsewhere only
        # decorated functions do.
        if path.parent.name == "runtime" or path.stem in ("errors", "protocol") or _DECORATED.search(source):
            if not (shared and _belongs_to_game(path.parent)):
                digest.update(path.relative_to(package).as_posix().encode() + source)
    return digest.hexdigest()[:16]


def _belongs_to_game(folder: Path) -> bool:
    """Return whether a folder holds the rules of one game or family of games."""
    package = _package()
    return package not in folder.parents or (folder.parent == package / "games" and folder.name != "runtime")


def _package() -> Path:
    return Path(__file__).parents[2]


def _rules_digest(rules: Mapping[str, Any]) -> str:
    """Return the digest of the rules by name and of their sources."""
    digest = hashlib.sha256(_sources_digest(shared=True).encode())
    folders = set()
    for name, compiled in sorted(rules.items()):
        function = getattr(compiled, "py_func", compiled)
        if folder := getattr(getattr(compiled, "_cache", None), "cache_path", None):  # a loop of a game
            digest.update(f"{name}={folder};".encode())
            continue
        if not inspect.isfunction(function):
            digest.update(f"{name}={compiled!r};".encode())
            continue
        digest.update(f"{name}={function.__module__}.{function.__qualname__};".encode())
        folders.add(Path(inspect.getfile(function)).parent)
    for folder in sorted(folder for folder in folders if _belongs_to_game(folder)):
        digest.update(_folder_digest(folder))
    return digest.hexdigest()[:16]


@cache
def _folder_digest(folder: Path) -> bytes:
    """Return the digest of the Python files in a folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.digest()


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    if INTERPRETED:
        return function
    from numba import njit

    if "no_cpython_wrapper" in options:
        from .rule_compiler import RuleCompiler

        options["pipeline_class"] = RuleCompiler
    return njit(**options, nogil=True, error_model="numpy")(function)


def _cached(function: Callable[..., Any], rules: Mapping[str, Any] | None = None, **options: Any) -> Any:
    """Compile a function, with the compile cache attached."""
    compiled = _compiled(function, **options)
    if not INTERPRETED:
        from .compile_cache import RuleCache

        compiled._cache = RuleCache(function, cache_folder(rules))
    return compiled
