"""System packages that only tests need. Without them the tests are skipped, or fail if they are required."""

from __future__ import annotations

import os

import pytest

DEMANDED = frozenset(os.environ.get("AXIO_DEMAND", "").split(","))


def need(what: str, path: str | None) -> str:
    """Return the path of a program. Without one, skip the test, or fail if AXIO_DEMAND names the program."""
    if path:
        return path
    message = f"{what} is not installed"
    if what in DEMANDED:
        pytest.fail(message)
    pytest.skip(message)
