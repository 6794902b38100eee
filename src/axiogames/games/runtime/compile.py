"""Decorators and binding of rule code.

Rule code is plain Python over NumPy records. The decorators only mark it, so importing a game does not import
Numba. `bind` puts the rules of a game into a loop and compiles it together with the rules that it calls.
`interpret` returns the same loop uncompiled, for as long as its machine code is not ready. With
`NUMBA_DISABLE_JIT=1` everything runs interpreted, for reading, debugging and coverage.

Numba's cache identifies a compiled function by the digest of the file that defines it. Rules call rules in
other files, so that digest alone would serve stale machine code after an edit. Each game therefore has a
cache folder named after a digest of its own rule sources and the shared ones, and an edit of either starts a
new folder. The module `compile_cache` stores and verifies the files.
"""

from __future__ import annotations

import dis
import hashlib
import inspect
import math
import os
import re
import stat
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from ... import PROGRAM

# Python never calls inner functions, so they need no wrapper. They are cached as part of their callers.
_INNER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

_DECORATED = re.compile(
    rb"^\s*@(rule|rule_noinline|entry_point|intrinsic|loop)\b|signatures import\b", re.MULTILINE
)
INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


# In compiled rule code this name is true. NumPy warns about an overflow that compiled code intends.
COMPILED = False

_compiling = threading.RLock()


def rule(function: Callable[..., Any]) -> Any:
    """Mark a function as rule code that is inlined into its callers."""
    return _marked(function, forceinline=True, _nrt=True, **_INNER)


def rule_noinline(function: Callable[..., Any]) -> Any:
    """Mark a function as rule code that runs rarely and is called instead of inlined.

    Inlining a long function for a rare case into every loop costs seconds of compilation and slows down the
    hot path.
    """
    # Explicit, because a function inherits unset flags from the rule that calls it.
    return _marked(function, forceinline=False, _nrt=True, **_INNER)


def entry_point(function: Callable[..., Any]) -> EntryPoint:
    """Mark a function that Python calls and that takes arrays."""
    return EntryPoint(function)


def bind(template: Callable[..., Any], rules: dict[str, Any], *, counted: bool = True) -> Any:
    """Return the loop `template` with a game's rules in place of the stand-ins of the same names.

    The names are replaced in the function's globals, not in a closure, because Numba's cache cannot reload
    functions that close over other compiled functions.

    Args:
        template: Loop over stand-ins from `protocol`.
        rules: Rule functions by the names that the template uses.
        counted: Whether arrays are reference-counted. A loop that creates no arrays can do without: over rows
            of large arrays, game after game, it then takes a tenth of the time.
    """
    bound = _with_rules(template, rules)
    return bound if INTERPRETED else _cached(bound, rules, _nrt=counted)


def bind_rule(template: Callable[..., Any], rules: dict[str, Any], *, inline: bool) -> Any:
    """Return the template bound to a game's rules, as a rule of that game."""
    bound = _with_rules(template, rules)
    return rule(bound) if inline else rule_noinline(bound)


def bind_part(template: Callable[..., Any], rules: dict[str, Any]) -> Any:
    """Return the template bound to a game's rules, for loops to call."""
    # Without a flag of its own, it counts references if its loop does.
    return _marked(_with_rules(template, rules), forceinline=False, **_INNER)


def compiled(function: Any) -> Any:
    """Return the dispatcher of Numba for rule code, the same one each time; other objects are returned."""
    if isinstance(function, EntryPoint):
        return function.dispatcher
    options = _options_of(function)
    if options is None or INTERPRETED:
        return function
    with _compiling:
        if "dispatcher" not in vars(function):
            vars(function)["dispatcher"] = _dispatcher(function, options)
        return vars(function)["dispatcher"]


def interpret(template: Callable[..., Any], rules: dict[str, Any]) -> Callable[..., Any]:
    """Return the loop `template` with a game's rules, uncompiled. It takes the same arguments as compiled."""
    bound = _with_rules(template, rules)

    def run(*arguments: Any) -> Any:
        return bound(*map(with_attributes, arguments))

    return run


def with_attributes(argument: Any) -> Any:
    """Return an argument of a loop for interpreted rule code, with the fields of records as attributes.

    Arrays share their memory with those of the caller.
    """
    if isinstance(argument, np.ndarray) and argument.dtype.names:
        return argument.view(np.recarray)
    if isinstance(argument, tuple):
        fields = map(with_attributes, argument)
        return type(argument)(*fields) if hasattr(argument, "_fields") else tuple(fields)
    return argument


class EntryPoint:
    """A compiled function that Python calls. It is compiled for the types of its arguments when it is called.

    Attributes:
        function: The function itself.
        interpreted: Whether to run it interpreted, as long as its machine code is not ready.
    """

    interpreted = INTERPRETED

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self._dispatcher: Any = None

    @property
    def dispatcher(self) -> Any:
        """The dispatcher of Numba."""
        if self._dispatcher is None:
            with _compiling:
                self._dispatcher = self._dispatcher or _cached(self.function)
        return self._dispatcher

    def __call__(self, *arguments: Any) -> Any:
        """Call the function."""
        if self.interpreted:
            return self.function(*arguments)
        if self._dispatcher is None:
            self._announce()
        return self.dispatcher(*arguments)

    def _announce(self) -> None:
        name, folder = f"{self.function.__module__}.{self.function.__qualname__}", cache_folder()
        if not is_ready(name, folder):
            announce(f"the function {self.function.__name__.strip('_')}")
            mark_ready(name, folder)


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

    bound = _linked(_with_rules(template, rules))
    bound.__name__ = bound.__qualname__ = name
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
    function: Any = CFunc(bound, ((int64,) * parameters, void), locals={}, options=options)
    function._cache = RuleCache(bound, cache_folder(rules))
    function.compile()
    return function


def _marked(function: Callable[..., Any], **options: Any) -> Any:
    """Return the function, marked as rule code to compile with these options of Numba."""
    vars(function)["numba_options"] = options
    return function


def _options_of(function: Any) -> dict[str, Any] | None:
    """Return the options of Numba for rule code, `None` for anything else."""
    return vars(function).get("numba_options") if isinstance(function, FunctionType) else None


def _with_rules(template: Callable[..., Any], rules: Mapping[str, Any]) -> FunctionType:
    """Return a copy of a function whose globals have these values."""
    bound = FunctionType(
        template.__code__,
        {**template.__globals__, **rules},
        template.__name__,
        template.__defaults__,
        template.__closure__,
    )
    bound.__qualname__ = template.__qualname__
    bound.__module__ = template.__module__
    return bound


def _linked(function: Callable[..., Any]) -> FunctionType:
    """Return a copy of a function that calls compiled rules where the function calls rules."""
    names = sorted(set(_names(function.__code__)))
    # A field of a record may be called like a rule, even like one that calls this function.
    called = sorted(set(_global_names(function.__code__)))
    used = {name: function.__globals__[name] for name in called if name in function.__globals__}
    linked = {
        name: _linked_module(value, names) if isinstance(value, ModuleType) else compiled(value)
        for name, value in used.items()
    }
    return _with_rules(function, {**linked, "COMPILED": True})


def _linked_module(module: ModuleType, names: Iterable[str]) -> ModuleType:
    """Return a copy of a module whose rules with these names are compiled, or the module if it has none."""
    rules = {name: vars(module)[name] for name in names if _options_of(vars(module).get(name)) is not None}
    if not rules:
        return module
    linked = ModuleType(module.__name__)
    vars(linked).update(vars(module), **{name: compiled(value) for name, value in rules.items()})
    return linked


def _global_names(code: CodeType) -> Iterator[str]:
    """Yield the names of globals that code and the functions inside it use."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _global_names(constant)


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that code and the functions inside it use."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def cache_folder(rules: Mapping[str, Any] | None = None) -> Path | None:
    """Return the cache folder for code compiled with the rules of a game, `None` if no folder is writable.

    Its name depends on the sources of the game and on the shared ones, so an edit of one game recompiles only
    that game. Without `rules`, it is the folder of code that belongs to no single game.
    """
    version = f"py{sys.version_info.major}{sys.version_info.minor}"
    root = cache_root()
    digest = _sources_digest() if rules is None else _rules_digest(rules)
    return root / f"rules-{version}-{digest}" if root else None


def is_ready(name: str, folder: Path | None) -> bool:
    """Return whether `mark_ready` has recorded `name` in a cache folder."""
    return folder is not None and (folder / f"{name}.ready").exists()


def mark_ready(name: str, folder: Path | None) -> None:
    """Record `name` as compiled. Does nothing if the cache is not writable."""
    _touch(folder, f"{name}.ready")
    _remove(folder, f"{name}.wanted")


def unmark_ready(name: str, folder: Path | None) -> None:
    """Undo `mark_ready`, because the cache does not have the code."""
    _remove(folder, f"{name}.ready")


def mark_wanted(name: str, folder: Path | None) -> None:
    """Ask the process that compiles to compile `name` first."""
    _touch(folder, f"{name}.wanted")


def wanted_since(name: str, folder: Path | None) -> float:
    """Return the time of the first `mark_wanted`, infinity if there was none."""
    try:
        return (folder / f"{name}.wanted").stat().st_mtime if folder is not None else math.inf
    except OSError:
        return math.inf


def _touch(folder: Path | None, marker: str) -> None:
    with suppress(OSError):  # `compile_cache` warns that it cannot save the code itself
        if folder is not None and not (folder / marker).exists():
            folder.mkdir(parents=True, exist_ok=True)
            (folder / marker).touch()


def _remove(folder: Path | None, marker: str) -> None:
    with suppress(OSError):
        if folder is not None:
            (folder / marker).unlink()


def announce(what: str) -> None:
    """Report on standard error that something is being compiled, which takes seconds."""
    print(f"{PROGRAM}: compiling {what}, once on this machine ...", file=sys.stderr, flush=True)


@cache
def cache_root() -> Path | None:
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
    for name, function in sorted(rules.items()):
        if folder := getattr(getattr(function, "_cache", None), "cache_path", None):  # a loop of a game
            digest.update(f"{name}={folder};".encode())
            continue
        if not inspect.isfunction(function):
            digest.update(f"{name}={function!r};".encode())
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


def _dispatcher(function: Callable[..., Any], options: Mapping[str, Any]) -> Any:
    from numba import njit

    if "no_cpython_wrapper" in options:
        from .rule_compiler import RuleCompiler

        options = {**options, "pipeline_class": RuleCompiler}
    with _compiling:
        return njit(**options, nogil=True, error_model="numpy")(_linked(function))


def _cached(function: Callable[..., Any], rules: Mapping[str, Any] | None = None, **options: Any) -> Any:
    """Compile a function, with the compile cache attached."""
    from .compile_cache import RuleCache

    dispatcher = _dispatcher(function, options)
    dispatcher._cache = RuleCache(dispatcher.py_func, cache_folder(rules))
    return dispatcher
