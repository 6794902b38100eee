"""Which tests are for which rule, told by their names: `test_7_…` is for rule 7."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Table = dict[int, tuple[Callable[..., None], ...]]


def by_rule(names: Mapping[str, Any]) -> Table:
    """The tests among the names of a module, by the number of their rule."""
    table: Table = {}
    for name, test in names.items():
        if name.startswith("test_") and callable(test):
            rule = int(name.split("_")[1])
            table[rule] = (*table.get(rule, ()), test)
    return table
