"""Mutations of the structure of a record: the package and the oracle agree on each.

Events are dropped, repeated, reordered, split, merged, renamed, retyped and added after the end. So are their
fields, down to single tiles and squares.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.games.conformance.positions import Case
from tests.games.oracle import OracleError, replay
from tests.model.games import Json, record, refusal_of_text
from tests.mutations import mutants

CASES = [
    Case("axio", 2),
    Case("axio", 1),
    Case("hex", 3),
    Case("rota", 2),
    Case("trio", 2),
    Case("trio", 2, ("short",)),
    Case("trio", 1, ("children",)),
]
QUICK = (CASES[0], CASES[3], CASES[5])
LATE = 10  # events
KINDS = ("draw", "start", "removed", "place", "exchange", "pass", "steal", "")
EXTRA: tuple[Json, ...] = (
    {"t": "draw", "p": 0, "tiles": []},
    {"t": "draw", "p": 0, "tiles": ["RR"]},
    {"t": "start", "display": []},
    {"t": "removed", "tiles": []},
    {"t": "place", "p": 0, "tile": "RR", "at": ["g8", "g9"], "gain": {}},
    {"t": "exchange", "p": 0, "shown": []},
    {"t": "pass", "p": 0},
    {"t": "end"},
    {},
    None,
    [],
    "pass",
    7,
)
NO_TEXT = "not Unicode text"  # detected before the events are read
NEW_FIELDS: dict[str, Json] = {
    "p": 0, "tile": "RR", "at": [], "gain": {}, "tiles": [], "shown": [], "from": "RR", "named": [],
    "pyramids": [],
}  # fmt: skip
_INDEX = re.compile(r"event (\d+): ")


def oracle_refusal(text: str) -> str | None:
    """Return the oracle's objection to a record, `None` if it is valid."""
    try:
        replay(json.loads(text))
    except (OracleError, ValueError, RecursionError) as error:  # some texts are not JSON
        return str(error)
    return None


def assert_same_verdict(label: str, text: str, *, stricter: bool = False) -> bool:
    """Check that both accept the record, or refuse it at the same event; return whether they accept it."""
    error, objection = refusal_of_text(text), oracle_refusal(text)
    if objection is None:
        assert error is None or stricter, f"{label}: refused, {error}"
        return error is None
    assert error is not None, f"{label}: accepted, but {objection}"
    assert len(str(error)) < 600, label
    index = _INDEX.match(objection)
    if index and NO_TEXT not in str(error):
        assert error.event is not None, f"{label}: {error}"
        assert error.event == int(index[1]) + 1, f"{label}: {error} | {objection}"
        assert str(error).startswith(f"event {error.event}: "), error
    return False


def with_events(value: Json, events: list[Any]) -> str:
    return json.dumps({**value, "events": events})


def changed_events(events: list[Json], at: int) -> Iterator[tuple[str, list[Any]]]:
    """Yield the events with a mutation of the one at an index."""
    event = events[at]
    before, after = events[:at], events[at + 1 :]
    yield "dropped", before + after
    yield "repeated", [*before, event, event, *after]
    yield "moved to the end", [*before, *after, event]
    yield "moved to the start", [event, *before, *after]
    if after:
        yield "swapped with the next", [*before, after[0], event, *after[1:]]
        yield "merged with the next", [*before, merged(event, after[0]), *after[1:]]
    for kind in KINDS:
        if kind != event["t"]:
            yield f"of kind {kind!r}", [*before, {**event, "t": kind}, *after]
    for n, extra in enumerate(EXTRA):
        yield f"extra {n} before it", [*before, extra, event, *after]
    for key in ("tiles", "shown", "display"):
        for cut in {1, len(event.get(key, ())) // 2} - {0, len(event.get(key, ()))}:
            if key in event:
                parts = [{**event, key: event[key][:cut]}, {**event, key: event[key][cut:]}]
                yield f"split at {cut}", [*before, *parts, *after]
    for key, value in NEW_FIELDS.items():
        if key not in event:
            yield f"with {key}", [*before, {**event, key: value}, *after]


def merged(first: Json, second: Json) -> Json:
    both = {**second, **first}
    for key in ("tiles", "shown", "display", "at"):
        if key in first and key in second:
            both[key] = first[key] + second[key]
    return both


def abandoned(value: Json, events: int) -> Json:
    """Return the record of an unfinished game."""
    return {
        **{key: inner for key, inner in value.items() if key != "result"},
        "events": value["events"][:events],
    }


def of_each_kind(events: list[Json]) -> list[int]:
    """Return the index of the first event of each kind."""
    first: dict[str, int] = {}
    for index, event in enumerate(events):
        first.setdefault(f"{event['t']} {'pyramids' in event} {'named' in event}", index)
    return sorted(first.values())


@pytest.mark.parametrize("case", CASES, ids=str)
def test_verdicts_agree_on_mutated_events(case: Case) -> None:
    value = abandoned(record(case), 9)
    accepted = refused = 0
    for at in range(len(value["events"])):
        for label, events in changed_events(value["events"], at):
            # The oracle ignores named colours in games without empty corners.
            stricter = label == "with named" and case.game != "rota"
            if assert_same_verdict(f"event {at + 1} {label}", with_events(value, events), stricter=stricter):
                accepted += 1
            else:
                refused += 1
    assert accepted > 3
    assert refused > 150


@pytest.mark.parametrize(
    "case", [case if case in QUICK else pytest.param(case, marks=pytest.mark.slow) for case in CASES], ids=str
)
def test_verdicts_agree_on_mutated_fields(case: Case) -> None:
    whole = record(case)
    for at in of_each_kind(whole["events"]):
        value = abandoned(whole, at + 1)
        before, event = value["events"][:at], value["events"][at]
        mark = {"event": "here"}
        text = with_events(value, [*before, mark])
        for n, (label, changed) in enumerate(mutants({"event": event})):
            if n % (1 + at // LATE):  # the oracle is slow late in a game
                continue
            mutant = text.replace(json.dumps(mark), changed.removeprefix('{"event": ').removesuffix("}"))
            if '"event_"' in mutant or '{"event": ' not in changed:
                continue
            assert_same_verdict(f"event {at + 1}: {label}", mutant)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_mutated_results_are_refused(case: Case) -> None:
    whole = record(case)
    assert refusal_of_text(json.dumps(whole)) is None
    assert oracle_refusal(json.dumps(whole)) is None
    text = json.dumps({**whole, "result": "here"})
    refused = 0
    for label, changed in mutants({"result": whole["result"]}):
        if not changed.startswith('{"result": '):
            continue
        new = changed.removeprefix('{"result": ').removesuffix("}")
        error = refusal_of_text(text.replace('"here"', new))
        refused += error is not None
        assert error is not None or new == json.dumps(whole["result"]), label
    assert refused > 100


@pytest.mark.parametrize("case", CASES, ids=str)
def test_no_event_follows_the_end(case: Case) -> None:
    whole = record(case)
    for extra in (*EXTRA, *whole["events"][-3:]):
        assert_same_verdict(f"after the end: {extra}", with_events(whole, [*whole["events"], extra]))
    assert refusal_of_text(json.dumps(whole)) is None


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_verdicts_agree_on_mutations_of_every_event_of_a_game(case: Case) -> None:
    value = record(case, "whole")
    for at in range(len(value["events"])):
        for label, events in changed_events(value["events"], at):
            stricter = label == "with named" and case.game != "rota"
            assert_same_verdict(f"event {at + 1} {label}", with_events(value, events), stricter=stricter)
