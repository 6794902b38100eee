"""The machine and the package versions that a measurement ran on."""

from __future__ import annotations

import os
import platform
from functools import cache
from importlib.metadata import version


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


def package_version(package: str) -> str:
    """Return the version of an installed package."""
    return version(package)
