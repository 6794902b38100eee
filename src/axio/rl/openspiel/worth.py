"""What a finished game is worth to its seats, exactly."""

from __future__ import annotations

import numpy as np

from ...batch import REWARDS
from ...engine.batches import pay
from ...engine.signatures import Float32s, Int, States, Tables, loop
from ...errors import WrongOption
from ...games.variant import State, Variant

PAID = tuple(name for name in REWARDS if name != "none")  # a game of OpenSpiel is about something
# Shares of a victory are whole numbers of these: a 2nd, 3rd or 4th of a 1st, 2nd or 3rd.
PARTS = 36


def check_reward(reward: str) -> str:
    """The reward, if there is one of this name. Raises `WrongOption`."""
    if reward not in PAID:
        raise WrongOption(f"there is no reward {reward!r}; there are {', '.join(PAID)}")
    return reward


def worth(variant: Variant, state: State, reward: str) -> list[float]:
    """What a finished game is worth to each seat."""
    out = np.zeros(variant.players, np.float32)
    variant.kernels[pay_one](variant.tables, state, int(REWARDS[reward]), out)
    # Thirds as 32-bit numbers would not add up to 0 as closely as OpenSpiel asks for.
    return [round(value * PARTS) / PARTS for value in out.tolist()]


def least_and_most(reward: str, players: int, points: int) -> tuple[float, float]:
    """The least and the most that a game can be worth to a seat."""
    if reward == "lowest":
        return 0.0, float(points)
    if players == 1:
        return 0.0, 1.0
    return (-1.0 / (players - 1) if reward == "win" else -1.0), 1.0


def adds_up(reward: str, players: int) -> bool:
    """Whether what some win is what others lose."""
    return reward != "lowest" and players > 1


@loop(parts=(pay,))
def pay_one(tables: Tables, states: States, kind: Int, out: Float32s) -> None:
    """Write what a finished game is worth to each seat."""
    pay(tables[0], states[0], kind, out)  # type: ignore[no-untyped-call]
