"""Default rules, which `Rules.of` derives from the required rules of a game.

The functions are templates: the rules that they call are stand-ins until `derived` binds them. None of them
allocates memory, so all run on a GPU. The defaults in `SCANS` scan all action ids, which is slow for a game
with thousands of them. Such a game overrides them for speed, and `model.testing.check_game` compares each
override with its default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...errors import OK
from ..protocol import count_legal, fallback_action, nth_legal, refusal, score
from .bitsets import nth_of_multiset
from .compile import bind_rule
from .describing import PASS, describe_plain, describe_slot, write_bonus
from .evaluation import NOTHING_YET, best_value, gain_key, gain_utility, insert, threshold
from .state import DRAW, PLACE
from .xorshift import randint, sample_tile, scale

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs


# ---------------------------------------------------------------- scans of all ids with `refusal` and `score`


def legal_actions(c, s, out):
    """Write the legal actions, ascending, and return their number."""
    n = 0
    if s.phase < DRAW:
        for action in range(np.int64(c.actions)):
            if refusal(c, s, action) == OK:
                out[n] = action
                n += 1
    return n


def count_legal_actions(c, s):
    """Return the number of legal actions."""
    n = 0
    if s.phase < DRAW:
        for action in range(np.int64(c.actions)):
            n += refusal(c, s, action) == OK
    return n


def nth_legal_action(c, s, n):
    """Return the n-th legal action, ascending, counted from 0; -1 if there are only `n` or fewer."""
    left = np.int64(n)
    for action in range(np.int64(c.actions)):
        if refusal(c, s, action) == OK:
            if left == 0:
                return np.int64(action)
            left -= 1
    return np.int64(-1)


def legal_mask(c, s, mask):
    """Write 1 for each legal action into an array of zeros."""
    if s.phase < DRAW:
        for action in range(np.int64(c.actions)):
            mask[action] = refusal(c, s, action) == OK


def sample_legal(c, s, rng):
    """Return a legal action, uniformly at random."""
    return nth_legal(c, s, randint(rng, np.int64(count_legal(c, s))))


def greedy_action(c, s, rng):
    """Return the placement with the most points, else the first legal action, and the number of scored ones.

    The scan starts at a random placement and keeps the first of several best ones.
    """
    best, best_points, scored = np.int64(-1), np.int64(-1), 0
    placements = np.int64(c.placements)
    start = np.int64(randint(rng, placements))
    for i in range(placements):
        action = (start + i) % placements
        if refusal(c, s, action) == OK:
            score(c, s, action)
            points = np.int64(0)
            for track in range(len(s.gain)):
                points += s.gain[track]
            scored += 1
            if points > best_points:
                best, best_points = action, points
    if best < 0:
        best = np.int64(nth_legal(c, s, np.int64(0)))
    return best, scored


def top_placements(c, s, start, keep, scratch):
    """List up to `keep` placements with the highest utility, the best first, and return their number."""
    kept, least = 0, np.float32(NOTHING_YET)
    placements = np.int64(c.placements)
    for i in range(placements):
        action = (start + i) % placements
        if refusal(c, s, action) == OK:
            score(c, s, action)
            value = gain_utility(s, scratch.utility)
            if value > least:
                kept = insert(action, value, kept, keep, scratch)
                least = threshold(kept, keep, scratch)
    return kept


def best_placements(c, s, gain_keys, out):
    """Write the legal placements with the highest key, ascending, and return their number."""
    n, best = 0, np.int64(-1)
    for action in range(np.int64(c.placements)):
        if refusal(c, s, action) == OK:
            score(c, s, action)
            key = gain_key(s, gain_keys)
            if key > best:
                n, best = 0, key
            if key == best:
                out[n] = action
                n += 1
    return n


# ---------------------------------------------------------------- properties that most games share


def sample_chance(c, s, rng):
    """Return a chance outcome: an unseen tile, uniformly at random."""
    return sample_tile(s.bag, s.unseen, rng)


def chance_outcome(c, s, word):
    """Return the unseen tile that a random word selects; the tiles count in the order of their kinds."""
    return np.int64(nth_of_multiset(s.bag, np.uint64(scale(word, np.int64(s.unseen)))))


def tiles_exchanged(c, s, action):
    """Return 0: no action exchanges tiles."""
    return np.int64(0)


def has_extra_turn(c, s):
    """Return whether the seat that has just moved moves again, which is so if a placement is due."""
    return s.phase == PLACE


def progress(c, s):
    """Return the fraction of the game that has been played, by the tiles that have left the bag."""
    return np.float32(1.0) - np.float32(s.in_bag) / np.float32(c.tiles)


def first_legal_action(c, s, value, scratch):
    """Return the first legal action if there is no placement (`value` is `NOTHING_YET`), else -1."""
    return np.int64(-1) if value > NOTHING_YET else np.int64(nth_legal(c, s, np.int64(0)))


def non_placements(c, s, kept, scratch):
    """Append all legal non-placements if there is a fallback action; return the length of the list."""
    if fallback_action(c, s, best_value(kept, scratch), scratch) >= 0:
        for action in range(np.int64(c.placements), np.int64(c.actions)):
            if refusal(c, s, action) == OK:
                scratch.actions[kept] = action
                kept += 1
    return kept


def observe_counters(c, s, seat, out, at):
    """Write no counters."""


def add_hidden(c, s, seat, counts, at):
    """Count nothing: all hidden tiles are in hands or in the bag."""


def restore(c, s):
    """Leave all fields as they are: none follows from the others."""


def describe(c, s, action, rows, at):
    """Write a placement on a slot to the row `at`, by `c.slots` and `c.kind_of`; other actions pass."""
    ways = np.int64(c.placements) // len(c.slots)
    if action < c.placements:
        describe_slot(c, s, action // ways, action % ways, c.kind_of[action % ways], rows, at)
    else:
        describe_plain(PASS, 0, rows, at)


def explain(c, s, action, rows):
    """Write the points of a placement by track, without the cells that score; return the number of rows."""
    score(c, s, action)
    n = 0
    for track in range(len(s.gain)):
        if s.gain[track] > 0:
            n = write_bonus(rows, n, track, s.gain[track])
    return n


def track_features(c, s, seat, out):
    """Leave all features zero."""


def expected_gain(c, s, seat, known, scratch):
    """Return 0, so that evaluations ignore the next placement."""
    return np.float32(0.0)


# Ordered: a default may call the ones before it.
Templates = dict[str, Callable[..., Any]]
SCANS: Templates = {
    "legal_actions": legal_actions,
    "count_legal": count_legal_actions,
    "nth_legal": nth_legal_action,
    "legal_mask": legal_mask,
    "sample_legal": sample_legal,
    "greedy_action": greedy_action,
    "top_placements": top_placements,
    "best_placements": best_placements,
}
DEFAULTS: Templates = {
    **SCANS,
    "sample_chance": sample_chance,
    "chance_outcome": chance_outcome,
    "tiles_exchanged": tiles_exchanged,
    "has_extra_turn": has_extra_turn,
    "progress": progress,
    "fallback_action": first_legal_action,
    "non_placements": non_placements,
    "restore": restore,
    "describe": describe,
    "explain": explain,
    "observe_counters": observe_counters,
    "add_hidden": add_hidden,
    "track_features": track_features,
    "expected_gain": expected_gain,
}


def derived(name: str, rules: Mapping[str, Any]) -> Any:
    """Return the default of a rule, bound to the rules that it calls."""
    return bind_rule(DEFAULTS[name], dict(rules), inline=name not in SCANS)
