"""Tries of passwords and phrases. What fails is charged; nobody is locked out by what others try."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..play.refusals import Refused
from .limits import ACCOUNT, PASSWORDS, PHRASES, SECRETS, SUSPECTED, Limits, Pace

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
