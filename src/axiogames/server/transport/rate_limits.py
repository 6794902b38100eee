"""Rate limits: token buckets, quotas, and charges for wrong passwords and phrases."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ..domain.refusals import Refused
from .fair_share import LoopShares

MAX_BUCKETS = 50_000  # in memory


@dataclass(frozen=True, slots=True, eq=False)
class RateLimit:
    """A burst, and a rate per second in the long run. Two limits with equal numbers are different limits."""

    burst: float
    rate: float


WRITES = RateLimit(40, 1.0)  # requests that change something, for one person
WRITES_FROM_ADDRESS = RateLimit(400, 20.0)  # enough for a club behind one address
# Wrong passwords and phrases; see `password_try` and `phrase_try`.
SECRETS = RateLimit(20, 0.1)  # for one address and all accounts
PASSWORDS = RateLimit(8, 0.05)  # for one account and one address
PHRASES = RateLimit(8, 0.05)  # for one address
ACCOUNT = RateLimit(20, 0.02)  # for one account and all addresses; beyond that `SUSPECTED` applies
SUSPECTED = RateLimit(1, 1 / 60)  # for one account and one address
HASHES = RateLimit(60, 0.5)  # passwords checked or set, correct or not, for one address; 0.1 s each
PERSONAL_DATA = RateLimit(5, 0.01)  # exports and deletions, for one address
GUESTS = RateLimit(30, 0.2)  # guests created by programs, for one address
NEW_GUESTS = RateLimit(60, 0.1)  # browsers that become guests, for one address
TABLES_FROM_ADDRESS = RateLimit(120, 1 / 20)  # tables opened
LISTED_FROM_ADDRESS = RateLimit(20, 1 / 180)  # tables put into the lobby
DAILY_FROM_ADDRESS = RateLimit(60, 1 / 120)  # attempts at daily deals
CONNECTIONS = RateLimit(400, 20.0)  # TCP connections opened, for one address
SOCKETS = RateLimit(200, 10.0)  # WebSockets opened, for one address
PICTURES = RateLimit(60, 2.0)  # pictures and replays, for one person
PICTURES_FROM_ADDRESS = RateLimit(120, 6.0)
HINTS = RateLimit(12, 0.25)  # for one person; a hint takes up to a second of CPU time
HINTS_FROM_ADDRESS = RateLimit(40, 1.0)
REVIEWS = RateLimit(10, 0.05)  # reviews requested, for one person
REVIEWS_FROM_ADDRESS = RateLimit(30, 0.2)
MESSAGES = RateLimit(300, 50.0)  # messages to a table, for one connection; bots are fast
REFUSALS = RateLimit(1_000, 20.0)  # messages beyond that rate, before the connection is closed
CONTROL = RateLimit(100, 4.0)  # pings, pongs and fragments, for one connection

MAX_SOCKETS_PER_PERSON = 60  # WebSockets of one person at the same time
MAX_SOCKETS_FROM_ADDRESS = 400


class TokenBucket:
    """Token bucket of a rate limit."""

    __slots__ = ("_at", "_limit", "_tokens")

    def __init__(self, limit: RateLimit) -> None:
        self._limit = limit
        self._tokens = limit.burst
        self._at = time.monotonic()

    def take(self) -> bool:
        """Take a token and return whether there was one."""
        now = time.monotonic()
        self._tokens = min(self._limit.burst, self._tokens + (now - self._at) * self._limit.rate)
        self._at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True

    def give_back(self) -> None:
        """Undo a `take`."""
        self._tokens = min(self._limit.burst, self._tokens + 1)


class Quota:
    """Limit on the number of concurrent uses by name."""

    def __init__(self, limit: int, active: bool = True) -> None:
        self._limit = limit
        self._active = active
        self._uses: dict[str, int] = {}

    def take(self, name: str) -> bool:
        """Add a use and return `True`, unless the quota is used up."""
        uses = self._uses.get(name, 0)
        if self._active and uses >= self._limit:
            return False
        self._uses[name] = uses + 1
        return True

    def release(self, name: str) -> None:
        """Remove a use."""
        uses = self._uses.get(name, 0) - 1
        if uses > 0:
            self._uses[name] = uses
        else:
            self._uses.pop(name, None)


class RateLimits:
    """All rate limits of one process. The least recently used buckets are dropped first."""

    def __init__(self, active: bool = True) -> None:
        self.active = active
        self.loop = LoopShares(active)
        self.sockets_per_person = Quota(MAX_SOCKETS_PER_PERSON, active)
        self.sockets_from_address = Quota(MAX_SOCKETS_FROM_ADDRESS, active)
        self._buckets: dict[tuple[RateLimit, str], TokenBucket] = {}

    def allow(self, limit: RateLimit, name: str) -> bool:
        """Take a token from the bucket of a name and return whether there was one."""
        if not self.active:
            return True
        bucket = self._buckets.pop((limit, name), None) or TokenBucket(limit)
        self._buckets[limit, name] = bucket
        if len(self._buckets) > MAX_BUCKETS:
            del self._buckets[next(iter(self._buckets))]
        return bucket.take()

    def give_back(self, limit: RateLimit, name: str) -> None:
        """Undo an `allow`."""
        if (bucket := self._buckets.get((limit, name))) is not None:
            bucket.give_back()


MAX_USERNAME_LENGTH = 24


@contextmanager
def password_try(limits: RateLimits, network: str, username: str, failed: type[Exception]) -> Iterator[None]:
    """Charge a network and an account for the password checked in the `with` block, if it is wrong.

    Concurrent attempts are charged before any of them has failed. When all networks together have exceeded
    the limit of an account, each has a slower limit of its own there. A network without attempts can still
    sign in at once.

    Args:
        limits: The limits of this process.
        network: The network of the client.
        username: The account, as entered.
        failed: Exception raised for a wrong password. Other exceptions are not charged.

    Raises:
        Refused: There were too many wrong passwords.
    """
    account = username.strip().lower()[:MAX_USERNAME_LENGTH]
    from_network = f"{network} {account}"
    charges = [(SECRETS, network), (PASSWORDS, from_network)]
    with _charged(limits, charges, failed) as take:
        if not take(ACCOUNT, account) and not take(SUSPECTED, from_network):
            raise Refused("too_fast", "too many attempts for this account; wait a minute and try again")
        yield


@contextmanager
def phrase_try(limits: RateLimits, network: str, failed: type[Exception]) -> Iterator[None]:
    """Charge a network for the phrase looked up in the `with` block, if it is unknown. Raises `Refused`.

    There is no limit across networks: a phrase has 73 bits of entropy.
    """
    with _charged(limits, [(SECRETS, network), (PHRASES, network)], failed):
        yield


@contextmanager
def _charged(
    limits: RateLimits, charges: list[tuple[RateLimit, str]], failed: type[Exception]
) -> Iterator[Callable[[RateLimit, str], bool]]:
    """Take tokens of `charges`, and of those passed to `take`. Give them back unless `failed` is raised."""
    taken: list[tuple[RateLimit, str]] = []

    def take(limit: RateLimit, name: str) -> bool:
        allowed = limits.allow(limit, name)
        if allowed:
            taken.append((limit, name))
        return allowed

    try:
        for limit, name in charges:
            if not take(limit, name):
                raise Refused(
                    "too_fast", "too many attempts from this address; wait a few minutes and try again"
                )
        yield take
    except failed:
        raise
    except BaseException:
        _give_back(limits, taken)
        raise
    else:
        _give_back(limits, taken)


def _give_back(limits: RateLimits, taken: list[tuple[RateLimit, str]]) -> None:
    for limit, name in taken:
        limits.give_back(limit, name)
