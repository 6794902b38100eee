"""System packages that only tests need. Without them the tests are skipped, or fail if they are required."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest

DEMANDED = frozenset(os.environ.get("AXIO_DEMAND", "").split(","))


def need(name: str, path: str | None) -> str:
    """Return the path of a program. Without one, skip the test, or fail if AXIO_DEMAND names the program."""
    return path or skip_or_fail(name, f"{name} is not installed")


def skip_or_fail(requirement: str, reason: str) -> NoReturn:
    """Skip the test, or fail if AXIO_DEMAND names the missing requirement."""
    if requirement in DEMANDED:
        pytest.fail(f"{reason}, and AXIO_DEMAND demands {requirement}")
    pytest.skip(f"{reason}; set AXIO_DEMAND={requirement} to make this a failure")
