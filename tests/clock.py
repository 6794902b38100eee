"""A clock for tests: it goes on by a fixed step each time somebody looks at it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Clock:
    """Stands in for `time.perf_counter`, so that no test depends on how fast a machine is."""

    step: float
    now: float = 0.0

    def __call__(self) -> float:
        self.now += self.step
        return self.now
