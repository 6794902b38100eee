"""Views depend only on what a seat knows: hidden tiles change nothing in them."""

from __future__ import annotations

from collections import Counter
from itertools import cycle, islice

import msgspec
import pytest

from axiogames.errors import AxioError
from axiogames.model.events import Draw, Event, Exchange, Place, Removed
from axiogames.model.record import apply_event
from axiogames.model.table import Table
from axiogames.model.view import View
from axiogames.players import PLAYERS, Budget, player
from axiogames.players.bots.levels import Level
from axiogames.rng import Generator
from tests.games.conformance.positions import EACH, EACH_FOR_SEVERAL, STYLES, Case, play

SMALL_BUDGET = Budget(seconds=60, rollouts=24)
# Levels are other players with smaller budgets, so one of them is enough.
TESTED_PLAYERS = [name for name in PLAYERS if name == "level7" or not isinstance(player(name), Level)]
EVERY = 11  # plies between the tested positions


def shown(view: View) -> bytes:
    """Return all public data of a view as bytes."""
    moves = view.legal_moves()
    parts = [
        view.state.tobytes(),
        view.position.encode(),
        msgspec.json.encode(view.events),
        str(view).encode(),
        view.svg().encode(),
        repr(view).encode(),
        msgspec.json.encode((view.scores, view.unseen, view.in_bag, view.turn, view.ranks)),
        moves.actions.tobytes(),
        view.gains(moves).tobytes(),
        *(repr(view.preview(move)).encode() for move in moves[:3]),
    ]
    return b"\0".join(parts)


def redealt(table: Table, seat: int | None, rng: Generator) -> Table | None:
    """Return a table with the same visible history but different hidden tiles.

    Tiles that other seats drew and still hold, and removed tiles, are swapped with tiles from the bag by
    replaying the events with other draws. Returns `None` if the history does not allow that.
    """
    variant = table.variant
    others = [p for p in range(table.players) if p != seat]
    still_held = {p: Counter(variant.kind_of(tile) for tile in table.hand(p)) for p in others}
    unseen = [tile for tile, count in table.unseen.items() for _ in range(count)]
    events: list[Event] = []
    changed = 0
    for event in reversed(table.events):
        tiles = list(event.tiles) if isinstance(event, Draw | Removed) else []
        for i, tile in enumerate(tiles):
            kind = variant.kind_of(tile)
            if isinstance(event, Draw):
                if not still_held.get(event.p, Counter())[kind]:
                    continue
                still_held[event.p][kind] -= 1
            if unseen and rng.randint(2):
                tiles[i] = unseen.pop(rng.randint(len(unseen)))
                changed += tiles[i] != tile
        events.append(msgspec.structs.replace(event, tiles=tuple(tiles)) if tiles else event)
    other = Table(variant)
    try:
        for event in reversed(events):
            apply_event(other, event)
    except AxioError:
        return None
    return other if changed and other.turn == table.turn and other.over == table.over else None


@pytest.mark.parametrize("case", EACH, ids=str)
def test_views_do_not_depend_on_hidden_tiles(case: Case) -> None:
    rng = Generator(f"{case}")
    viewers, varied = cycle((None, *range(case.players))), 0
    for table in play(case.variant(), STYLES, "views"):
        if table.plies % EVERY:
            continue
        for seat in islice(viewers, 2):
            other = redealt(table, seat, rng)
            if other is not None and other.state.tobytes() != table.state.tobytes():
                varied += 1
                assert shown(other.view(seat)) == shown(table.view(seat))
    assert varied > 0


@pytest.mark.parametrize("case", EACH, ids=str)
def test_players_do_not_depend_on_hidden_tiles(case: Case) -> None:
    rng = Generator(f"{case} players")
    varied = 0
    for table in play(case.variant(), STYLES, "hidden"):
        seat = table.turn
        other = None if seat is None else redealt(table, seat, rng)
        if seat is None or other is None or table.plies % EVERY:
            continue
        varied += 1
        for name in TESTED_PLAYERS:
            chosen = [
                player(name).choose(t.view(seat), SMALL_BUDGET, Generator("player")) for t in (table, other)
            ]
            assert chosen[0] == chosen[1]
    # Nothing is hidden from a solo player, except removed tiles.
    assert varied > 0 or case.players == 1


@pytest.mark.parametrize("case", EACH, ids=str)
def test_view_has_own_tiles_and_counts_of_others(case: Case) -> None:
    for table in play(case.variant(), STYLES, "own"):
        for seat in range(table.players):
            view = table.view(seat)
            assert view.hand(seat) == table.hand(seat)
            for other in range(table.players):
                if other != seat:
                    assert view.hand(other) == ("?",) * len(table.hand(other))
            hidden = Counter(table.unseen)
            for other in range(table.players):
                hidden.update(table.hand(other) if other != seat else ())
            if "removed" in table.state.dtype.names:
                hidden.update(dict(zip(table.variant.kinds, table.state["removed"][0].tolist(), strict=True)))
            assert Counter(view.unseen) == +hidden
            if table.turn == seat:
                assert list(view.legal_moves()) == list(table.legal_moves())
            elif table.turn is not None and table.hand(table.turn):
                assert len(view.legal_moves()) == 0


@pytest.mark.parametrize("case", EACH_FOR_SEVERAL, ids=str)
def test_exchanged_tiles_are_public_only_by_rule(case: Case) -> None:
    exchanges = 0
    for n in range(12):
        *_, table = play(case.variant(), ("random", "balanced"), f"exchange {n}")
        for event in table.view(None).events:
            if isinstance(event, Exchange):
                exchanges += 1
                assert ("?" not in event.shown) == table.variant.exchange_is_public
            assert not isinstance(event, Place) or "?" not in event.tile
        if exchanges:
            break
    assert (exchanges > 0) == (table.variant.non_placements > 0)
