"""Seeds of xorshift, compared with SplitMix64 on Python's integers."""

from __future__ import annotations

import pytest

from axiogames.games.runtime.xorshift import MAX_WORD, seed_state, seed_states


def splitmix(seed: int, index: int) -> int:
    """Return the number with this index in the sequence of a seed."""
    x = (seed + (index + 1) * 0x9E3779B97F4A7C15) & MAX_WORD
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MAX_WORD
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MAX_WORD
    return x ^ (x >> 31)


@pytest.mark.parametrize("seed", [0, 1, 1 << 32, 0x123456789ABCDEF0, 1 << 63, MAX_WORD])
@pytest.mark.parametrize("first", [0, 1, 1 << 31, 1 << 40])
def test_states_follow_splitmix(seed: int, first: int) -> None:
    expected = [splitmix(seed, first + i) for i in range(5)]
    assert seed_states(seed, first, 5).tolist() == expected
    assert seed_states(seed, first + 3, 2).tolist() == expected[3:]


def test_seeds_are_taken_modulo_the_size_of_a_word() -> None:
    assert seed_state(-1).tolist() == seed_state(MAX_WORD).tolist() == [splitmix(MAX_WORD, 0)]


def test_no_state_is_zero() -> None:
    seed = -0x9E3779B97F4A7C15 & MAX_WORD
    assert splitmix(seed, 0) == 0
    assert seed_state(seed).tolist() == [1]
