"""Changes of the structure of a JSON value: every value dropped, repeated, retyped, nested, out of range."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

Json = Any
Way = tuple[str | int, ...]

DEEP = "[" * 2000 + "]" * 2000
ODD: tuple[str, ...] = (
    "null", "true", "false", "0", "-1", "1.5", "1e400", "-0.0", "1" + "0" * 30, "-1" + "0" * 30, "9" * 5000,
    '""', '"x"', '"0"', '"\\u0000"', '"\\ud800"', "[]", "{}", "[[]]", '[null]', '[[1],[2]]', '{"x":1}', DEEP,
)  # fmt: skip


def ways(value: Json, way: Way = ()) -> Iterator[Way]:
    """The way to every value inside."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in items:
        yield (*way, step)
        yield from ways(inner, (*way, step))


def mutants(value: Json) -> Iterator[tuple[str, str]]:
    """What was done, and the JSON text that came of it. `ODD` values stand in for every value in turn."""
    mark = "\u2603 the value"
    for way in ways(value):
        *holder, last = way
        at = f"{'.'.join(map(str, way))}"
        for odd in ODD:
            yield f"{at} = {odd[:30]}", json.dumps(changed(value, way, mark)).replace(json.dumps(mark), odd)
        yield f"{at} dropped", json.dumps(without(value, way))
        inner = found(value, way)
        if isinstance(inner, list) and inner:
            yield f"{at} doubled", json.dumps(changed(value, way, inner * 2))
            yield f"{at} reversed", json.dumps(changed(value, way, inner[::-1]))
            yield f"{at} shortened", json.dumps(changed(value, way, inner[:-1]))
        if isinstance(inner, int):
            for near in (inner + 1, inner - 1):
                yield f"{at} = {near}", json.dumps(changed(value, way, near))
        if isinstance(last, str):
            renamed = without(value, way)
            found(renamed, tuple(holder))[last + "_"] = inner
            yield f"{at} renamed", json.dumps(renamed)
        yield f"{at} nested", json.dumps(changed(value, way, [inner]))


def found(value: Json, way: Way) -> Json:
    for step in way:
        value = value[step]
    return value


def changed(value: Json, way: Way, new: Json) -> Json:
    copy = json.loads(json.dumps(value))
    found(copy, way[:-1])[way[-1]] = new
    return copy


def without(value: Json, way: Way) -> Json:
    copy = json.loads(json.dumps(value))
    del found(copy, way[:-1])[way[-1]]
    return copy
