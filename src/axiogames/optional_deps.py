"""Libraries of the package's extras, imported when they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .errors import MissingDependency

SOURCE_FOLDER = "in the source folder of axio"
PURPOSES = {
    "arena": "`axio arena`",
    "cluster": "running on a cluster",
    "cuda": 'device="cuda"',
    "data": "datasets",
    "png": "PNG pictures",
    "rl": "the environments",
    "server": "the server",
}
"""Purpose of each extra, by its name in pyproject.toml."""


def install_command(extra: str) -> str:
    """Return the command that installs an extra of this package. Run it in the source folder."""
    return f'pip install ".[{extra}]"'


def missing_dependency(library: str, extra: str, purpose: str | None = None) -> MissingDependency:
    """Return the error for a library of `extra` that is not installed.

    Args:
        library: name of the library, or of a module in it.
        extra: extra of this package that installs it.
        purpose: feature that needs the library. Default: the purpose of the extra.
    """
    return MissingDependency(
        f"{library.partition('.')[0]} is required for {purpose or PURPOSES[extra]};"
        f" install it with `{install_command(extra)}` {SOURCE_FOLDER}"
    )


def require(module: str, extra: str = "arena", purpose: str | None = None) -> Any:
    """Import and return a module of a library that comes with `extra`.

    Raises:
        MissingDependency: the library is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        # A module that is missing inside an installed library is a bug of that library.
        if error.name is None or error.name.partition(".")[0] != module.partition(".")[0]:
            raise
        raise missing_dependency(module, extra, purpose) from None
