"""The positions of this suite really come to the rare things, so that agreeing on them means something."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from axiogames.games import GAMES
from axiogames.games.runtime.compile import INTERPRETED
from axiogames.model.events import Draw, Exchange, Pass, Place
from axiogames.model.table import Table
from tests.games.conformance.positions import Case, play, twisted

pytestmark = pytest.mark.skipif(INTERPRETED, reason="hundreds of games are played")

# What has to occur in the games of each kind; solo games count, too.
EXPECTED = {
    "axio": {"cap", "extra placement", "two extra placements", "exchange", "pyramid", "several pyramids",
             "empty bag", "short hand", "win at once", "cut short", "stops halfway alone"},
    "hex": {"cap", "extra placement", "two extra placements", "exchange", "empty bag", "short hand",
            "win at once", "stops halfway alone"},
    "rota": {"cap", "extra placement", "two extra placements", "win at once", "empty supply", "named"},
    "trio": {"extra placement", "exchange", "pass", "empty bag", "short hand"},
}  # fmt: skip


@cache
def occurred(name: str) -> Counter[str]:
    """How often each thing occurred in games of all styles, starts and numbers of players."""
    seen: Counter[str] = Counter()
    for players in (1, 2, 3, 4):
        for twist in ("plain", "near the cap", "short of tiles"):
            for n, styles in enumerate((("greedy",), ("balanced", "random"), ("random",), ("greedy",))):
                before: Table | None = None
                for table in play(twisted(Case(name, players), twist), styles, f"rare {n}"):
                    look(table, seen)
                    before = table
                assert before is not None
                look_at_the_end(before, seen)
    return seen


def look(table: Table, seen: Counter[str]) -> None:
    state, cap = table.state, table.variant.cap
    seen["cap"] += any(points == cap for scores in table.scores for points in scores.values())
    first_stop = table.variant.game.cap
    seen["stops halfway alone"] += table.players == 1 and first_stop in table.scores[0].values()
    seen["empty bag"] += table.in_bag == 0 and table.turn is not None
    if table.turn is not None:
        seen["short hand"] += 0 < len(table.hand(table.turn)) < table.variant.hand
    if "supply" in state.dtype.names:
        seen["empty supply"] += bool(state["supply"][0] == 0)


def look_at_the_end(table: Table, seen: Counter[str]) -> None:
    run, seat = 0, None
    for event in table.events:
        if isinstance(event, Place):
            run = run + 1 if event.p == seat else 1
            seat = event.p
            if table.players > 1:
                seen["extra placement"] += run == 2
                seen["two extra placements"] += run == 3
            seen["pyramid"] += bool(event.pyramids)
            seen["several pyramids"] += len(event.pyramids) > 1
            seen["named"] += event.named is not None
        elif isinstance(event, Draw | Exchange | Pass):
            seen["exchange"] += isinstance(event, Exchange)
            seen["pass"] += isinstance(event, Pass)
    full = [set(scores.values()) == {table.variant.cap} for scores in table.scores]
    seen["win at once"] += any(full) and table.players > 1
    last = table.events[-1]
    seen["cut short"] += isinstance(last, Place) and not any(full) and table.in_bag > 0


@pytest.mark.parametrize("name", GAMES)
def test_rare_things_occur(name: str) -> None:
    missing = {thing for thing in EXPECTED[name] if not occurred(name)[thing]}
    assert not missing, f"never seen in {name}: {sorted(missing)}; seen: {dict(occurred(name))}"
