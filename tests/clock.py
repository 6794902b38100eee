"""A clock for tests, which advances by a fixed step with each reading."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Clock:
    """Replacement for `time.perf_counter`, so that tests do not depend on the speed of the machine."""

    step: float
    now: float = 0.0

    def __call__(self) -> float:
        self.now += self.step
        return self.now
