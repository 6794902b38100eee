"""Sets of small numbers as bits, compared with Python's sets."""

from __future__ import annotations

import random

import numpy as np
import pytest

from axio.engine import bits
from axio.engine.compile import entry


@entry
def look(words, members, ranks, present):  # type: ignore[no-untyped-def]
    """Write a set's numbers by rank, and which numbers are in it; how many there are."""
    size = np.int64(0)
    for word in range(len(words)):
        size += np.int64(bits.count(words[word]))
    for rank in range(members):
        ranks[rank] = bits.nth(words, rank)
    for number in range(len(present)):
        present[number] = bits.has(words, number)
    return size


@entry
def go_through(words, members, start, passed):  # type: ignore[no-untyped-def]
    """Write a set's numbers as they come, going round from one of them or any other number."""
    at, left = bits.starting(words, start)
    for n in range(members):
        at, left = bits.onward(words, at, left)
        passed[n], left = bits.number_of(at, left), bits.without_lowest(left)


@pytest.mark.parametrize("share", [0.02, 0.5, 0.98, 1.0])
@pytest.mark.parametrize("room", [8, 64, 65, 200])
def test_sets_of_bits_are_sets(room: int, share: float) -> None:
    lots = random.Random(f"{room} {share}")
    for _ in range(20):
        members = sorted({n for n in range(room) if lots.random() < share} or {lots.randrange(room)})
        words = bits.words_of(members, room)
        assert len(words) == bits.words_for(room)
        ranks, present, passed = (np.zeros(room, np.int64) for _ in range(3))
        assert look(words, len(members), ranks, present) == len(members)
        assert ranks[: len(members)].tolist() == members
        assert np.flatnonzero(present).tolist() == members
        for start in (0, room - 1, lots.randrange(room), members[0], members[-1]):
            go_through(words, len(members), start, passed)
            later = [member for member in members if member >= start]
            assert passed[: len(members)].tolist() == later + members[: len(members) - len(later)]
