"""The games of the conformance suite contain all rare events."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from axiogames.games import GAMES
from axiogames.games.runtime.compile import INTERPRETED
from axiogames.model.events import Draw, Exchange, Pass, Place
from axiogames.model.table import Table
from tests.games.conformance.positions import Case, play, twisted

pytestmark = pytest.mark.skipif(INTERPRETED, reason="hundreds of interpreted games are slow")

# Events that must occur in the games of each kind, solo games included.
EXPECTED = {
    "axio": {"cap", "extra placement", "two extra placements", "exchange", "pyramid", "several pyramids",
             "empty bag", "short hand", "win at once", "cut short", "solo stop halfway"},
    "hex": {"cap", "extra placement", "two extra placements", "exchange", "empty bag", "short hand",
            "win at once", "solo stop halfway"},
    "rota": {"cap", "extra placement", "two extra placements", "win at once", "empty supply", "named"},
    "trio": {"extra placement", "exchange", "pass", "empty bag", "short hand"},
}  # fmt: skip


@cache
def occurred(name: str) -> Counter[str]:
    """Count events in games of all styles, openings and numbers of players."""
    counts: Counter[str] = Counter()
    for players in (1, 2, 3, 4):
        for twist in ("plain", "near the cap", "short of tiles"):
            for n, styles in enumerate((("greedy",), ("balanced", "random"), ("random",), ("greedy",))):
                before: Table | None = None
                for table in play(twisted(Case(name, players), twist), styles, f"rare {n}"):
                    count_in_position(table, counts)
                    before = table
                assert before is not None
                count_in_game(before, counts)
    return counts


def count_in_position(table: Table, counts: Counter[str]) -> None:
    state, cap = table.state, table.variant.cap
    counts["cap"] += any(points == cap for scores in table.scores for points in scores.values())
    first_stop = table.variant.game.cap
    counts["solo stop halfway"] += table.players == 1 and first_stop in table.scores[0].values()
    counts["empty bag"] += table.in_bag == 0 and table.turn is not None
    if table.turn is not None:
        counts["short hand"] += 0 < len(table.hand(table.turn)) < table.variant.hand
    if "supply" in state.dtype.names:
        counts["empty supply"] += bool(state["supply"][0] == 0)


def count_in_game(table: Table, counts: Counter[str]) -> None:
    run, seat = 0, None
    for event in table.events:
        if isinstance(event, Place):
            run = run + 1 if event.p == seat else 1
            seat = event.p
            if table.players > 1:
                counts["extra placement"] += run == 2
                counts["two extra placements"] += run == 3
            counts["pyramid"] += bool(event.pyramids)
            counts["several pyramids"] += len(event.pyramids) > 1
            counts["named"] += event.named is not None
        elif isinstance(event, Draw | Exchange | Pass):
            counts["exchange"] += isinstance(event, Exchange)
            counts["pass"] += isinstance(event, Pass)
    full = [set(scores.values()) == {table.variant.cap} for scores in table.scores]
    counts["win at once"] += any(full) and table.players > 1
    last = table.events[-1]
    counts["cut short"] += isinstance(last, Place) and not any(full) and table.in_bag > 0


@pytest.mark.parametrize("name", GAMES)
def test_rare_events_occur(name: str) -> None:
    missing = {event for event in EXPECTED[name] if not occurred(name)[event]}
    assert not missing, f"missing in {name}: {sorted(missing)}; counts: {dict(occurred(name))}"
