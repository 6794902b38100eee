"""Bit sets, compared with Python sets."""

from __future__ import annotations

import random

import numpy as np
import pytest

from axiogames.games import GAMES, find_variant
from axiogames.games.runtime import bitsets
from axiogames.games.runtime.compile import entry_point


@entry_point
def read_set(words, members, ranks, present):  # type: ignore[no-untyped-def]
    """Write the members by rank, and a flag for each member; return the size of the set."""
    size = np.int64(0)
    for word in range(len(words)):
        size += np.int64(bitsets.count(words[word]))
    for rank in range(members):
        ranks[rank] = bitsets.nth(words, rank)
    for member in range(len(present)):
        present[member] = bitsets.contains(words, member)
    return size


@entry_point
def iterate(words, members, start, passed):  # type: ignore[no-untyped-def]
    """Write the members in the order of a cyclic iteration from `start`."""
    at, left = bitsets.iterate_from(words, start)
    for n in range(members):
        at, left = bitsets.next_word(words, at, left)
        passed[n], left = bitsets.lowest_member(at, left), bitsets.without_lowest(left)


@entry_point
def kinds(counts, total, found):  # type: ignore[no-untyped-def]
    """Write the kind of each item of a multiset."""
    for n in range(total):
        found[n] = bitsets.nth_of_multiset(counts, np.uint64(n))


@pytest.mark.parametrize("share", [0.02, 0.5, 0.98, 1.0])
@pytest.mark.parametrize("room", [8, 64, 65, 200])
def test_bit_set_agrees_with_a_python_set(room: int, share: float) -> None:
    rng = random.Random(f"{room} {share}")
    for _ in range(20):
        members = sorted({n for n in range(room) if rng.random() < share} or {rng.randrange(room)})
        words = bitsets.from_members(members, room)
        assert len(words) == bitsets.word_count(room)
        ranks, present, passed = (np.zeros(room, np.int64) for _ in range(3))
        assert read_set(words, len(members), ranks, present) == len(members)
        assert ranks[: len(members)].tolist() == members
        assert np.flatnonzero(present).tolist() == members
        for start in (0, room - 1, rng.randrange(room), members[0], members[-1]):
            iterate(words, len(members), start, passed)
            later = [member for member in members if member >= start]
            assert passed[: len(members)].tolist() == later + members[: len(members) - len(later)]


@pytest.mark.parametrize("size", [8, 9, 15, 16, 21, 40, 60])
def test_nth_of_multiset_returns_the_kind(size: int) -> None:
    rng = random.Random(size)
    for _ in range(20):
        counts = [0] * size
        for kind in rng.choices(range(size), k=rng.randint(1, 127)):
            counts[kind] += 1
        found = np.zeros(sum(counts), np.int64)
        kinds(np.array(counts, np.int8), len(found), found)
        assert found.tolist() == [kind for kind, count in enumerate(counts) for _ in range(count)]


@pytest.mark.parametrize("game", GAMES)
def test_bags_of_all_games_suit_nth_of_multiset(game: str) -> None:
    for players in range(1, 5):
        bag = find_variant(game, players).opening["bag"][0]
        assert len(bag) >= 8
        assert bag.sum() <= 127
