"""For every variant: tiles are conserved, undo restores states, copies are independent, texts round-trip."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from importlib import resources
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import axiogames as axio
from axiogames.model.events import Draw, Exchange, Place, Removed, Start
from axiogames.model.game_text import read_game, write_game
from axiogames.model.position import Position
from axiogames.model.record import Record, record_of, replay
from axiogames.model.table import Table
from axiogames.rng import Generator
from tests.games.conformance.positions import EACH, FEW, STYLES, Case, play, tables, twisted


def tiles_of(table: Table) -> Counter[int | None]:
    """Return all tiles by kind: in the bag, in hands, out of the game, and on the board by the events."""
    kind_of, state = table.variant.kind_of, table.state
    tiles: Counter[int | None] = Counter(dict(enumerate(state["bag"][0].tolist())))
    for seat in range(table.players):
        tiles.update(kind_of(tile) for tile in table.hand(seat))
    if "removed" in state.dtype.names:
        tiles.update(dict(enumerate(state["removed"][0].tolist())))
    for event in table.events:
        if isinstance(event, Place):
            tiles[kind_of(event.tile)] += 1
        elif isinstance(event, Start):
            tiles.update(kind_of(shown.tile) for shown in event.display)
        elif isinstance(event, Exchange) and table.variant.tiles_leave:
            tiles.update(kind_of(tile) for tile in event.shown)
    return +tiles


@pytest.mark.parametrize("case", EACH, ids=str)
def test_tiles_are_conserved_at_every_ply(case: Case) -> None:
    for table in tables(case):
        variant = table.variant
        assert tiles_of(table) == Counter({variant.kind_of(tile): n for tile, n in variant.tileset.items()})
        assert int(table.state["in_bag"][0]) == int(table.state["bag"][0].sum())


@pytest.mark.parametrize("case", EACH, ids=str)
def test_events_contain_every_drawn_tile(case: Case) -> None:
    for table in tables(case, games=1):
        drawn = sum(len(e.tiles) for e in table.events if isinstance(e, Draw | Removed))
        started = sum(len(e.display) for e in table.events if isinstance(e, Start))
        assert drawn + started == len(table.actions) - table.plies


@pytest.mark.parametrize("case", EACH, ids=str)
def test_undo_restores_the_state_and_replay_draws_the_same_tiles(case: Case) -> None:
    variant = twisted(case, "near the cap")
    states, positions = [], []
    for table in play(variant, STYLES, "undo"):
        states.append(table.state.tobytes())
        positions.append(table.events)
    for before, events in zip(states[-2::-1], positions[-2::-1], strict=True):
        after, events_after = table.state.tobytes(), table.events
        move = table.undo()
        assert table.state.tobytes() == before
        assert table.events == events
        table.play(move)
        assert table.state.tobytes() == after
        assert table.events == events_after
        table.undo()
    with pytest.raises(axio.AxioError, match="no move to take back"):
        table.undo()


def after_plies(case: Case, plies: int) -> Table:
    return next(table for table in play(case.variant(), STYLES, "some plies") if table.plies == plies)


@pytest.mark.parametrize("case", EACH, ids=str)
def test_copies_are_independent(case: Case) -> None:
    table = after_plies(case, 5)
    state, events = table.state.tobytes(), table.events
    copy = table.copy()
    copy.play(copy.legal_moves()[0])
    assert copy.state.tobytes() != state
    assert (table.state.tobytes(), table.events) == (state, events)


@pytest.mark.parametrize("case", EACH, ids=str)
def test_position_texts_round_trip(case: Case) -> None:
    rng = Generator(f"{case}")
    for table in tables(case, twists=("plain",), games=FEW):
        if rng.randint(7):
            continue
        for seen in (table, *(table.view(seat) for seat in (None, *range(table.players)))):
            read = Position.parse(seen.position)
            assert read.position == seen.position
            assert read.legal_moves().actions.tolist() == seen.legal_moves().actions.tolist()
            assert (read.turn, read.scores, read.over) == (seen.turn, seen.scores, seen.over)
            assert read.in_bag == seen.in_bag
            assert eval(repr(read)).position == read.position


@cache
def schema() -> Any:
    text = (resources.files(axio) / "model" / "record.schema.json").read_text(encoding="utf-8")
    return Draft202012Validator(json.loads(text))


@pytest.mark.parametrize("case", EACH, ids=str)
def test_records_and_game_texts_round_trip(case: Case) -> None:
    names = [f'seat "{seat}" é' for seat in range(case.players)]
    for n, table in enumerate(play(case.variant(), STYLES, "record")):
        if n % 9 and not table.over:
            continue
        record = record_of(table, names)
        line = record.to_json()
        assert "\n" not in line
        schema().validate(json.loads(line))
        assert Record.parse(line) == record
        replayed = replay(record)
        assert replayed.state.tobytes() == table.state.tobytes()
        assert record_of(replayed, names) == record
        assert read_game(write_game(record)) == record
        assert bool(record.result) == table.over


@pytest.mark.parametrize("case", EACH, ids=str)
def test_repr_of_a_table_round_trips(case: Case) -> None:
    table = after_plies(case, 8)
    assert eval(repr(table)).state.tobytes() == table.state.tobytes()
