"""How often somebody may ask: buckets that fill by themselves, one for each name."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ..domain.refusals import Refused
from .fair_share import LoopShares

REMEMBERED = 50_000


@dataclass(frozen=True, slots=True, eq=False)
class Pace:
    """So many at once, and so many a second in the long run. Two with the same numbers are still two."""

    burst: float
    rate: float


WRITES = Pace(40, 1.0)  # requests that change something, for one person
WRITES_FROM_ADDRESS = Pace(400, 20.0)  # a club behind one address
# Wrong passwords and phrases; see `tries`.
SECRETS = Pace(20, 0.1)  # of all accounts, for one address
PASSWORDS = Pace(8, 0.05)  # for one account and one address
PHRASES = Pace(8, 0.05)  # for one address
ACCOUNT = Pace(20, 0.02)  # for one account and all addresses: beyond that each has the next pace
SUSPECTED = Pace(1, 1 / 60)  # for one account and one address while others try as well
HASHES = Pace(60, 0.5)  # passwords checked or set, right or wrong, for one address; each takes 0.1 s
PERSONAL_DATA = Pace(5, 0.01)  # exports and deletions, for one address
GUESTS = Pace(30, 0.2)  # guests made for programs, for one address
NEW_GUESTS = Pace(60, 0.1)  # browsers that become guests, for one address
TABLES_FROM_ADDRESS = Pace(120, 1 / 20)  # tables opened
LISTED_FROM_ADDRESS = Pace(20, 1 / 180)  # tables put into the lobby
DAILY_FROM_ADDRESS = Pace(60, 1 / 120)  # attempts at daily deals
CONNECTIONS = Pace(400, 20.0)  # connections of the network opened, for one address
SOCKETS = Pace(200, 10.0)  # WebSockets opened, for one address
PICTURES = Pace(60, 2.0)  # pictures and replays, for one person
PICTURES_FROM_ADDRESS = Pace(120, 6.0)
HINTS = Pace(12, 0.25)  # for one person; a hint takes up to a second of a processor
HINTS_FROM_ADDRESS = Pace(40, 1.0)
REVIEWS = Pace(10, 0.05)  # reviews asked for, for one person
REVIEWS_FROM_ADDRESS = Pace(30, 0.2)
MESSAGES = Pace(300, 50.0)  # messages to a table, for one connection; bots are fast
REFUSALS = Pace(1_000, 20.0)  # messages refused for their pace before a connection is closed
CONTROL = Pace(100, 4.0)  # pings, pongs and fragments, for one connection

MOST_SOCKETS_EACH = 60  # WebSockets of one person at the same time
MOST_SOCKETS_FROM_ADDRESS = 400


class TokenBucket:
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

    def give_back(self) -> None:
        """Undo a `take`."""
        self._left = min(self._pace.burst, self._left + 1)


class Quota:
    """How many of something each name has, up to a number."""

    def __init__(self, most: int, active: bool = True) -> None:
        self._most = most
        self._active = active
        self._held: dict[str, int] = {}

    def take(self, name: str) -> bool:
        """Count one more for a name, unless it has as many as it may."""
        held = self._held.get(name, 0)
        if self._active and held >= self._most:
            return False
        self._held[name] = held + 1
        return True

    def release(self, name: str) -> None:
        """Count one less."""
        left = self._held.get(name, 0) - 1
        if left > 0:
            self._held[name] = left
        else:
            self._held.pop(name, None)


class Limits:
    """Buckets by name, of one process; the ones not used for the longest time are forgotten first."""

    def __init__(self, active: bool = True) -> None:
        self.active = active
        self.loop = LoopShares(active)
        self.sockets_each = Quota(MOST_SOCKETS_EACH, active)
        self.sockets_from_address = Quota(MOST_SOCKETS_FROM_ADDRESS, active)
        self._buckets: dict[tuple[Pace, str], TokenBucket] = {}

    def allow(self, pace: Pace, name: str) -> bool:
        """Whether somebody may do one more."""
        if not self.active:
            return True
        bucket = self._buckets.pop((pace, name), None) or TokenBucket(pace)
        self._buckets[pace, name] = bucket
        if len(self._buckets) > REMEMBERED:
            del self._buckets[next(iter(self._buckets))]
        return bucket.take()

    def give_back(self, pace: Pace, name: str) -> None:
        """Undo what `allow` has allowed."""
        if (bucket := self._buckets.get((pace, name))) is not None:
            bucket.give_back()


LONGEST_USERNAME = 24  # of those that there can be


@contextmanager
def password_try(limits: Limits, network: str, username: str, failed: type[Exception]) -> Iterator[None]:
    """Charge a network and an account for the password that is checked meanwhile, if it is wrong.

    Tries that come at the same time are counted before any of them has failed. When all networks together
    have tried too much for one account, each of them has a slower pace of its own there: whoever comes from
    a network that has not tried is let in at once, as before.

    Args:
        limits: What is left to whom.
        network: Where the try comes from.
        username: The account, as it was written.
        failed: What is raised where the password is wrong. Nothing else is charged.

    Raises:
        Refused: There were too many wrong tries.
    """
    account = username.strip().lower()[:LONGEST_USERNAME]
    here = f"{network} {account}"
    charges = [(SECRETS, network), (PASSWORDS, here)]
    with _charged(limits, charges, failed) as take:
        if not take(ACCOUNT, account) and not take(SUSPECTED, here):
            raise Refused("too_fast", "too many tries for this account; wait a minute and try again")
        yield


@contextmanager
def phrase_try(limits: Limits, network: str, failed: type[Exception]) -> Iterator[None]:
    """Charge a network for the phrase that is looked for meanwhile, if nobody has it. Raises `Refused`.

    Nothing is charged to all networks together: a phrase has 73 bits.
    """
    with _charged(limits, [(SECRETS, network), (PHRASES, network)], failed):
        yield


@contextmanager
def _charged(
    limits: Limits, charges: list[tuple[Pace, str]], failed: type[Exception]
) -> Iterator[Callable[[Pace, str], bool]]:
    """Take from all buckets, and from those that `take` is called with; give it back unless it fails."""
    taken: list[tuple[Pace, str]] = []

    def take(pace: Pace, name: str) -> bool:
        allowed = limits.allow(pace, name)
        if allowed:
            taken.append((pace, name))
        return allowed

    try:
        for pace, name in charges:
            if not take(pace, name):
                raise Refused("too_fast", "too many tries from here; wait a few minutes and try again")
        yield take
    except failed:
        raise
    except BaseException:
        _give_back(limits, taken)
        raise
    else:
        _give_back(limits, taken)


def _give_back(limits: Limits, taken: list[tuple[Pace, str]]) -> None:
    for pace, name in taken:
        limits.give_back(pace, name)
