"""Provenance of figures: the command that reproduces them, the machine, and the package versions."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version

from msgspec import Struct, field

from .. import __version__

LIBRARIES = ("numpy", "numba", "openskill", "matplotlib")


class Provenance(Struct, frozen=True):
    """Command, versions and machines that produced some figures, and the time at which they were computed."""

    command: str
    version: str
    machine: str
    python: str
    libraries: dict[str, str]
    created: str = field(name="made")

    @classmethod
    def of(cls, command: str, machines: Sequence[str]) -> Provenance:
        """Return the provenance of figures that are computed now.

        Args:
            command: command that reproduces the figures.
            machines: machines that the measurements ran on; this machine if there are none.
        """
        return cls(
            command,
            __version__,
            "; ".join(machines) or describe_machine(),
            platform.python_version(),
            {library: version(library) for library in LIBRARIES},
            datetime.now(UTC).isoformat(timespec="seconds"),
        )


@cache
def describe_machine() -> str:
    """Return processor, number of cores and operating system in one line."""
    name = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as info:
            name = next(
                (line.partition(":")[2].strip() for line in info if line.startswith("model name")), name
            )
    except OSError:
        pass
    return f"{name}, {os.cpu_count()} cores, {platform.system()}"
