"""Who sits where: names as they are typed, and as they are shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..errors import WrongPlayers
from ..games.declaration import MOST_PLAYERS
from ..players import PLAYERS
from ..talk.players import player_or_engine

YOU = "you"


def programs(text: str) -> tuple[str, ...]:
    """The programs of a list such as `greedy,sim@1s,engine:./mine`. Raises `WrongPlayers`."""
    names = _names(text)
    for name in names:
        player_or_engine(name)
    return names


def seats(text: str) -> tuple[str, ...]:
    """People (`you`) and programs of a list such as `you,balanced`. Raises `WrongPlayers`."""
    names, known = _names(text), (YOU, *PLAYERS)
    for name in names:
        if name not in known:
            raise WrongPlayers(f"unknown player {name!r}: choose from {', '.join(known)}")
    if YOU not in names:
        raise WrongPlayers(f"one player at least has to be {YOU!r}: simulate lets programs play each other")
    return names


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(","))
    if not 1 <= len(names) <= MOST_PLAYERS:
        raise WrongPlayers(f"{len(names)} players: 1 to {MOST_PLAYERS} can play")
    return names


def shown_names(names: Sequence[str]) -> tuple[str, ...]:
    """A name for each seat that no other has: equal ones are numbered."""
    often, so_far = Counter(names), Counter[str]()
    shown = []
    for name in names:
        so_far[name] += 1
        shown.append(f"{name} {so_far[name]}" if often[name] > 1 else name)
    return tuple(shown)
