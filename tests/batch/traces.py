"""Everything a batch does, as a list of digests: equal lists are equal bits."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from axiogames.batch import Batch

ROUNDS = 48  # enough for games to end and to start anew


def trace(
    batch: Batch, rounds: int = ROUNDS, *, states: bool = True, greedy: bool = True
) -> list[tuple[str, str]]:
    """What a batch answers while games are played in it, one move by points, two by lot, and so on.

    Then whole games; without `greedy` only by lot.
    """
    found: list[tuple[str, str]] = []

    def note(what: str, array: Any) -> None:
        if array is batch.states and not states:
            return
        host = array.copy_to_host() if hasattr(array, "copy_to_host") else np.asarray(array)
        found.append((what, hashlib.sha256(np.ascontiguousarray(host).tobytes()).hexdigest()))

    for number in range(rounds):
        note(f"{number}: turn", batch.turn)
        note(f"{number}: counts", batch.counts())
        note(f"{number}: masks", batch.masks())
        note(f"{number}: nth", batch.nth(np.arange(batch.games) * 7 + number))
        seen = batch.observe()
        note(f"{number}: board", seen.board)
        note(f"{number}: vector", seen.vector)
        chosen = batch.sample() if number % 3 else batch.greedy()
        note(f"{number}: chosen", chosen)
        step = batch.step(chosen)
        for what, array in zip(step._fields, step, strict=True):
            note(f"{number}: {what}", array)
        note(f"{number}: states", batch.states)
        note(f"{number}: scores", batch.scores)
    note("finals", batch.finals)
    whole_games = {"random": batch.play_randomly, "greedy": batch.play_greedily}
    for what, play in whole_games.items():
        if what == "greedy" and not greedy:
            continue
        note(f"{what} games", np.asarray(play(1)))
        note(f"{what} states", batch.states)
        note(f"{what} lots", batch.rngs)
        note(f"{what} over", batch.over)
    return found
