"""Libraries that only some commands need, imported when they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .errors import MissingDependency

WHERE = "in the source folder of axio"


def install_command(extra: str) -> str:
    """Return the command that installs an extra of this package, to be run in its source folder.

    It names the source folder, never the package: `axio` on PyPI is a package of somebody else.
    """
    return f'pip install ".[{extra}]"'


def require(module: str, extra: str = "arena") -> Any:
    """A module of a library that comes with an extra of this package. Raises `MissingDependency`."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        # Something else that is missing inside an installed library is a fault of its own.
        if error.name is None or error.name.partition(".")[0] != module.partition(".")[0]:
            raise
        library = module.partition(".")[0]
        raise MissingDependency(
            f"this needs {library}, which is not installed: run {install_command(extra)} {WHERE}"
        ) from None
