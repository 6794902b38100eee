"""System packages that only tests need: found where installed, else the tests are skipped or fail."""

from __future__ import annotations

import os

import pytest

DEMANDED = frozenset(os.environ.get("AXIO_DEMAND", "").split(","))


def need(what: str, path: str | None) -> str:
    """Where a program was found. Without it the test is skipped, or fails if AXIO_DEMAND names it."""
    if path:
        return path
    message = f"{what} is not installed here, so what needs it is not tested"
    if what in DEMANDED:
        pytest.fail(message)
    pytest.skip(message)
