"""The mapping from numbered rules to tests, by name: `test_7_…` tests rule 7."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

TestsByRule = dict[int, tuple[Callable[..., None], ...]]


def by_rule(names: Mapping[str, Any]) -> TestsByRule:
    """Return the tests of a module by the number of their rule."""
    table: TestsByRule = {}
    for name, test in names.items():
        if name.startswith("test_") and callable(test):
            rule = int(name.split("_")[1])
            table[rule] = (*table.get(rule, ()), test)
    return table
