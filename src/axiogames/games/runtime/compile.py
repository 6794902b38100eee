"""The one decorator under which all rule code stands.

Rule code is plain Python over NumPy records. It runs interpreted when `NUMBA_DISABLE_JIT=1` is set
(for reading, debugging and coverage; Numba is not even imported then), and compiled otherwise.

Numba finds a compiled function again by the digest of the one file the function stands in. A
rule calls rules in other files, so that alone would serve stale machine code after an edit. Each game
therefore has a cache folder that is named after a digest of its rule sources and of those that all
games share: an edit of either starts a fresh one. `compile_cache` says how files are kept and checked.
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

# Python never calls inner functions, so it needs no way in, and the cache keeps what they end up in.
_INNER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

_DECORATED = re.compile(
    rb"^\s*@(rule|rule_noinline|entry_point|intrinsic|loop)\b|signatures import\b", re.MULTILINE
)
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
    return _kept(_with_rules(template, rules), rules, _nrt=counted)


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
    function._cache = RuleCache(bound, cache_folder(rules))
    function.compile()
    return function


def _with_rules(template: Callable[..., Any], rules: dict[str, Any]) -> FunctionType:
    bound = FunctionType(template.__code__, {**template.__globals__, **rules}, template.__name__)
    bound.__qualname__ = template.__qualname__
    bound.__module__ = template.__module__
    return bound


def cache_folder(rules: Mapping[str, Any] | None = None) -> Path | None:
    """Return the folder for code compiled with the rules of a game, `None` where nothing can be kept.

    There is one for each state of the sources that the code comes from: those of the game, and those that
    all games share. So editing a game recompiles that game only. Without rules it is the folder for what
    belongs to no game or to all of them.
    """
    version = f"py{sys.version_info.major}{sys.version_info.minor}"
    root = _cache_root()
    digest = _sources_digest() if rules is None else _rules_digest(rules)
    return root / f"rules-{version}-{digest}" if root else None


def is_ready(name: str, rules: Mapping[str, Any] | None = None) -> bool:
    """Whether something has been compiled on this machine, as `mark_ready` says."""
    folder = cache_folder(rules)
    return folder is not None and (folder / f"{name}.ready").exists()


def mark_ready(name: str, rules: Mapping[str, Any] | None = None) -> None:
    """Remember that something has been compiled. Where nothing can be kept, it is forgotten."""
    folder = cache_folder(rules)
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
def _sources_digest(shared: bool = False) -> str:
    """Return the digest of all sources that are compiled, or of those that all games share."""
    package, digest = _package(), hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        source = path.read_bytes()
        # The runtime and the reasons hold numbers that are compiled in; elsewhere only rules and loops are.
        if path.parent.name == "runtime" or path.stem in ("errors", "protocol") or _DECORATED.search(source):
            if not (shared and _is_of_a_game(path.parent)):
                digest.update(path.relative_to(package).as_posix().encode() + source)
    return digest.hexdigest()[:16]


def _is_of_a_game(folder: Path) -> bool:
    """Whether a folder holds the rules of one game, or of one family of games."""
    package = _package()
    return package not in folder.parents or (folder.parent == package / "games" and folder.name != "runtime")


def _package() -> Path:
    return Path(__file__).parents[2]


def _rules_digest(rules: Mapping[str, Any]) -> str:
    """Return the digest of what is compiled with these rules: their sources, and which has which name."""
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
    for folder in sorted(folder for folder in folders if _is_of_a_game(folder)):
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

    return njit(**options, nogil=True, error_model="numpy")(function)


def _kept(function: Callable[..., Any], rules: Mapping[str, Any] | None = None, **options: Any) -> Any:
    """The compiled function, which comes from the cache if it is there."""
    compiled = _compiled(function, **options)
    if not INTERPRETED:
        from .compile_cache import RuleCache

        compiled._cache = RuleCache(function, cache_folder(rules))
    return compiled
