"""How long may be thought: by the clock, by counting, or both."""

from __future__ import annotations

from dataclasses import dataclass

USUAL_SECONDS = 1.0
UNLIMITED = 3600.0  # seconds, where rollouts are counted


@dataclass(frozen=True, slots=True, init=False)
class Budget:
    """How long a player may think: what is reached first ends it. Simple players need none of it.

    Rollouts are counted without a clock, unless seconds are named, too: the same seed gives the same move on
    every machine.

    >>> Budget().seconds, Budget(rollouts=800).seconds == UNLIMITED
    (1.0, True)
    """

    seconds: float
    rollouts: int | None
    threads: int

    def __init__(self, seconds: float | None = None, rollouts: int | None = None, threads: int = 1) -> None:
        if seconds is None:
            seconds = USUAL_SECONDS if rollouts is None else UNLIMITED
        object.__setattr__(self, "seconds", seconds)
        object.__setattr__(self, "rollouts", rollouts)
        object.__setattr__(self, "threads", threads)
