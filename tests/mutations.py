"""Mutations of a JSON value: each inner value removed, repeated, nested, or replaced by another type."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

Json = Any
Path = tuple[str | int, ...]

DEEP = "[" * 2000 + "]" * 2000
ODD: tuple[str, ...] = (
    "null", "true", "false", "0", "-1", "1.5", "1e400", "-0.0", "1" + "0" * 30, "-1" + "0" * 30, "9" * 5000,
    '""', '"x"', '"0"', '"\\u0000"', '"\\ud800"', "[]", "{}", "[[]]", '[null]', '[[1],[2]]', '{"x":1}', DEEP,
)  # fmt: skip


def paths(value: Json, path: Path = ()) -> Iterator[Path]:
    """Yield the paths of all inner values."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in items:
        yield (*path, step)
        yield from paths(inner, (*path, step))


def mutants(value: Json) -> Iterator[tuple[str, str]]:
    """Yield a description and the JSON text of each mutation. `ODD` values replace each value in turn."""
    mark = "\u2603 the value"
    for path in paths(value):
        *parent, last = path
        at = ".".join(map(str, path))
        for odd in ODD:
            yield f"{at} = {odd[:30]}", json.dumps(replaced(value, path, mark)).replace(json.dumps(mark), odd)
        yield f"{at} dropped", json.dumps(removed(value, path))
        inner = value_at(value, path)
        if isinstance(inner, list) and inner:
            yield f"{at} doubled", json.dumps(replaced(value, path, inner * 2))
            yield f"{at} reversed", json.dumps(replaced(value, path, inner[::-1]))
            yield f"{at} shortened", json.dumps(replaced(value, path, inner[:-1]))
        if isinstance(inner, int):
            for near in (inner + 1, inner - 1):
                yield f"{at} = {near}", json.dumps(replaced(value, path, near))
        if isinstance(last, str):
            renamed = removed(value, path)
            value_at(renamed, tuple(parent))[last + "_"] = inner
            yield f"{at} renamed", json.dumps(renamed)
        yield f"{at} nested", json.dumps(replaced(value, path, [inner]))


def value_at(value: Json, path: Path) -> Json:
    for step in path:
        value = value[step]
    return value


def replaced(value: Json, path: Path, new: Json) -> Json:
    copy = json.loads(json.dumps(value))
    value_at(copy, path[:-1])[path[-1]] = new
    return copy


def removed(value: Json, path: Path) -> Json:
    copy = json.loads(json.dumps(value))
    del value_at(copy, path[:-1])[path[-1]]
    return copy
