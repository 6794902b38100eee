"""The loop that plays a whole game of simple bots.

It takes the same words from the same generators as a match at a `Table`, and logs all actions.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from ...games.protocol import chance_outcome
from ...games.runtime.signatures import (
    Actions,
    Constants,
    Flags,
    Int64Rows,
    Int64s,
    Rng,
    States,
    array,
    loop,
)
from ...games.runtime.state import DRAW, OVER
from ..bots.choosing import POLICY_PARTS, ChoiceBuffers, policy_action, random_action
from ..evaluation.rollout_loops import apply_action

# Entries of the counters, followed by one for the moves that each seat has chosen.
PLAYED = 0  # actions
DEALT = 1  # words taken of the deal
NOISE = 2  # words taken of the noise
CHOSEN = 3
NOISE_WORDS = 2  # at most, per move


class GameLog(NamedTuple):
    """The actions of a game, and one more state."""

    states: States  # before each action, and at the end
    actions: Actions
    noisy: Flags  # whether noise chose the action


class GameWords(NamedTuple):
    """The first words of the generators of a game. There are no words of noise without noise."""

    deal: Rng
    noise: Rng
    noise_limit: Rng  # one: a move is noisy if its word does not exceed it
    bots: Annotated[Any, array(np.uint64, 2)]  # by seat


@loop(parts=(apply_action, *POLICY_PARTS))
def play_on(
    constants: Constants,
    log: GameLog,
    policies: Int64Rows,
    words: GameWords,
    counters: Int64s,
    buffers: ChoiceBuffers,
):
    """Play until the game ends or an array is exhausted, and return whether the game has ended.

    A row of `policies` is a policy and its number of samples. The loop can go on later with longer arrays.
    """
    c = constants[0]
    noise = len(words.noise) > 0
    n = counters[PLAYED]
    while log.states[n].phase != OVER:
        s, after = log.states[n], log.states[n + 1]
        seat = np.int64(s.seat)
        if n == len(log.actions) or (noise and counters[NOISE] + NOISE_WORDS > len(words.noise)):
            return False
        log.states[n + 1] = log.states[n]
        noisy = False
        if s.phase >= DRAW:
            if counters[DEALT] == len(words.deal):
                return False
            action = np.int64(chance_outcome(c, s, words.deal[counters[DEALT]]))
            counters[DEALT] += 1
        else:
            if counters[CHOSEN + seat] == words.bots.shape[1]:
                return False
            if noise:
                noisy = words.noise[counters[NOISE]] <= words.noise_limit[0]
                counters[NOISE] += 1
            if noisy:
                action = random_action(c, s, words.noise[counters[NOISE]])
                counters[NOISE] += 1
            else:
                word = words.bots[seat, counters[CHOSEN + seat]]
                action = policy_action(c, after, policies[seat, 0], policies[seat, 1], word, buffers)
                counters[CHOSEN + seat] += 1
                for track in range(len(s.gain)):  # overwritten by the choice
                    after.gain[track] = s.gain[track]
        log.actions[n], log.noisy[n] = action, noisy
        apply_action(c, after, action)
        n += 1
        counters[PLAYED] = n
    return True
