"""How often somebody may ask: buckets that fill by themselves, one for each name."""

from __future__ import annotations

import time
from dataclasses import dataclass

REMEMBERED = 50_000


@dataclass(frozen=True, slots=True)
class Pace:
    """So many at once, and so many a second in the long run."""

    burst: float
    rate: float


WRITES = Pace(40, 1.0)  # requests that change something, for one person
WRITES_FROM_ADDRESS = Pace(400, 20.0)  # a club behind one address
SECRETS = Pace(8, 0.05)  # phrases and passwords tried, for one address
GUESTS = Pace(30, 0.2)  # guests made for programs, for one address
SOCKETS = Pace(200, 10.0)  # connections opened, for one address
REVIEWS = Pace(10, 0.05)  # reviews asked for, for one person
MESSAGES = Pace(300, 50.0)  # messages to a table, for one connection; bots are fast


class Bucket:
    """What is left of a pace."""

    __slots__ = ("_at", "_left", "_pace")

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._left = pace.burst
        self._at = time.monotonic()

    def take(self) -> bool:
        """Whether one more is fine now."""
        now = time.monotonic()
        self._left = min(self._pace.burst, self._left + (now - self._at) * self._pace.rate)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Limits:
    """Buckets by name; the ones not used for the longest time are forgotten first."""

    def __init__(self, active: bool = True) -> None:
        self.active = active
        self._buckets: dict[tuple[Pace, str], Bucket] = {}

    def allow(self, pace: Pace, name: str) -> bool:
        """Whether somebody may do one more."""
        if not self.active:
            return True
        bucket = self._buckets.pop((pace, name), None) or Bucket(pace)
        self._buckets[pace, name] = bucket
        if len(self._buckets) > REMEMBERED:
            del self._buckets[next(iter(self._buckets))]
        return bucket.take()
