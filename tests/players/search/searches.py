"""Searches without a game, for tests of sequential halving."""

from __future__ import annotations

from typing import Any

from axiogames.games.runtime.state import allocate
from axiogames.players.search.search_loops import NO_LIMIT, search_dtype


def new_search(width: int, rollouts: int | None = None, prior_weight: float = 0.0) -> Any:
    """Return the record of a search before it begins."""
    search = allocate(search_dtype())
    search["width"], search["prior_weight"] = width, prior_weight
    search["rollouts"] = NO_LIMIT if rollouts is None else rollouts
    return search
