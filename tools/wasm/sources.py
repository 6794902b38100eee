"""Digests of the sources of compiled loops, to tell whether a built file is up to date.

A digest covers the functions that the loops reach, without comments and docstrings, the values of the
constants in them, the types of the arguments, and the modules that lower and link. It can be computed without
compiling anything, and does not depend on the Python version.
"""

from __future__ import annotations

import hashlib
import inspect
import io
import token
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path
from textwrap import dedent
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from axiogames.games.runtime.kernels import Kernels
from axiogames.games.runtime.signatures import Template

# What determines the result besides the sources of the loops.
TOOL_FILES = tuple(Path(__file__).with_name(f"{name}.py") for name in ("lower", "emit", "exports"))
SKIPPED_TOKENS = (token.COMMENT, token.NL, token.ENCODING, token.ENDMARKER)
STATEMENT_ENDS = (token.NEWLINE, token.INDENT, token.DEDENT)


def sources_digest(kernels: Kernels, templates: Iterable[Template]) -> str:
    """Return the digest of the sources of loops of a game, and of the types of its records."""
    digest = hashlib.sha256()
    for path in TOOL_FILES:
        digest.update(path.read_bytes().replace(b"\r\n", b"\n"))
    seen: dict[str, str] = {}
    for template in templates:
        digest.update(f"{template.__name__} {_types(kernels.examples(template))};".encode())
        for name, text in _reached(_function(kernels.bound(template)), set()):
            seen[name] = text
    for name in sorted(seen):
        digest.update(f"{name}\n{seen[name]}\n".encode())
    return digest.hexdigest()


def _types(arguments: Iterable[Any]) -> list[str]:
    """Return the types of arguments, with the fields of records."""
    types = []
    for argument in arguments:
        if isinstance(argument, tuple):
            types += _types(argument)
        elif isinstance(argument, np.ndarray):
            types.append(f"{argument.dtype.descr}[{argument.ndim}]")
        else:
            types.append(type(argument).__name__)
    return types


def _function(value: Any) -> FunctionType | None:
    """Return the Python function of a rule or a loop, `None` for anything else."""
    function = getattr(value, "py_func", value)
    return function if isinstance(function, FunctionType) else None


def _reached(function: FunctionType | None, visited: set[int]) -> Iterator[tuple[str, str]]:
    """Yield name and text of a function, of all that it calls, and of the constants that it uses."""
    if function is None or id(function) in visited or not function.__module__.startswith("axiogames."):
        return
    visited.add(id(function))
    yield f"{function.__module__}.{function.__qualname__}", code_text(function)
    for name in sorted(set(_names(function.__code__)) & set(function.__globals__)):
        value = function.__globals__[name]
        if (called := _function(value)) is not None:
            yield from _reached(called, visited)
        elif isinstance(value, (bool, int, float, tuple, np.generic, np.ndarray)):
            text = value.tobytes().hex() if isinstance(value, np.ndarray) else repr(value)
            yield f"{function.__module__}:{name}", f"{type(value).__name__} {text}"
        elif not isinstance(value, (ModuleType, type)) and not callable(value):
            raise TypeError(
                f"{function.__qualname__} uses {name}, a {type(value).__name__}: not in the digest"
            )


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def code_text(function: FunctionType) -> str:
    """Return the source of a function as tokens, without comments, docstring and layout."""
    source = dedent(inspect.getsource(function))
    words: list[str] = []
    at_start = after_docstring = False
    for item in tokenize.generate_tokens(io.StringIO(source).readline):
        if item.type in SKIPPED_TOKENS:
            continue
        is_docstring = at_start and item.type == token.STRING
        if not is_docstring and not (after_docstring and item.type == token.NEWLINE):
            words.append(token.tok_name[item.type] if item.type in STATEMENT_ENDS else item.string)
        at_start, after_docstring = item.type in STATEMENT_ENDS, is_docstring
    return " ".join(words)
