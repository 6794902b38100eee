"""Libraries of the package's extras, imported when they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .errors import MissingDependency

WHERE = "in the source folder of axio"


def install_command(extra: str) -> str:
    """Return the command that installs an extra of this package, to be run in its source folder."""
    return f'pip install ".[{extra}]"'


def require(module: str, extra: str = "arena") -> Any:
    """Import and return a module of a library that comes with `extra`.

    Raises:
        MissingDependency: the library is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        library = module.partition(".")[0]
        # A module that is missing inside an installed library is a fault of that library.
        if error.name is None or error.name.partition(".")[0] != library:
            raise
        raise MissingDependency(
            f"{library} is required but not installed: run {install_command(extra)} {WHERE}"
        ) from None
