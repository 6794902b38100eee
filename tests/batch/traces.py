"""Traces of a batch: digests of all its results. Equal traces mean equal bits."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from axiogames.batch import Batch

ROUNDS = 48  # enough for games to end and to start again


def trace(
    batch: Batch, rounds: int = ROUNDS, *, states: bool = True, greedy: bool = True
) -> list[tuple[str, str]]:
    """Return a label and a digest of every result of a batch.

    Every third action is greedy, the others are random. Whole games follow: random ones, and with `greedy`
    also greedy ones. `states` includes the states.
    """
    digests: list[tuple[str, str]] = []

    def add(label: str, array: Any) -> None:
        if array is batch.states and not states:
            return
        host = array.copy_to_host() if hasattr(array, "copy_to_host") else np.asarray(array)
        digests.append((label, hashlib.sha256(np.ascontiguousarray(host).tobytes()).hexdigest()))

    for turn in range(rounds):
        add(f"{turn}: turn", batch.turn)
        add(f"{turn}: counts", batch.counts())
        add(f"{turn}: masks", batch.masks())
        add(f"{turn}: nth", batch.nth(np.arange(batch.games) * 7 + turn))
        observed = batch.observe()
        add(f"{turn}: board", observed.board)
        add(f"{turn}: vector", observed.vector)
        chosen = batch.sample() if turn % 3 else batch.greedy()
        add(f"{turn}: chosen", chosen)
        step = batch.step(chosen)
        for name, array in zip(step._fields, step, strict=True):
            add(f"{turn}: {name}", array)
        add(f"{turn}: states", batch.states)
        add(f"{turn}: scores", batch.scores)
    add("finals", batch.finals)
    whole_games = {"random": batch.play_randomly, "greedy": batch.play_greedily}
    for style, play in whole_games.items():
        if style == "greedy" and not greedy:
            continue
        add(f"{style} games", np.asarray(play(1)))
        add(f"{style} states", batch.states)
        add(f"{style} rngs", batch.rngs)
        add(f"{style} over", batch.over)
    return digests
