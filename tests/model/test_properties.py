"""Property tests: histories and damaged texts."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from axiogames.errors import AxioError, ParseError
from axiogames.games import GAMES
from axiogames.model.game_text import read_game, write_game
from axiogames.model.position import Position
from axiogames.model.record import Record, record_of, replay
from axiogames.model.table import Table
from axiogames.moves import Move
from axiogames.players import player
from axiogames.players.match import play_match
from tests.games.conformance.positions import CASES, TWISTS, Case, twisted
from tests.games.conformance.test_history import tiles_of


@st.composite
def histories(draw: st.DrawFn) -> Table:
    """Return a table after arbitrary moves and undos, chosen by hypothesis."""
    case: Case = draw(st.sampled_from(CASES))
    table = Table(twisted(case, draw(st.sampled_from(TWISTS))), draw(st.integers(0, 9999)))
    for choice in draw(st.lists(st.integers(-3, 5000), max_size=90)):
        if table.over:
            break
        if choice < 0 and table.plies:
            table.undo()
            continue
        moves = table.legal_moves()
        table.play(moves[choice % len(moves)])
    return table


@given(histories())
def test_invariants_hold_for_any_history(table: Table) -> None:
    variant = table.variant
    assert tiles_of(table) == {variant.kind_of(tile): n for tile, n in variant.tileset.items()}
    assert (table.turn is None) == (len(table.legal_moves()) == 0)
    assert table.over == (table.result is not None)
    assert min(table.ranks) == 1
    again = Table(variant, table.seed)
    for move in table.moves:
        again.play(str(move))
    assert again.state.tobytes() == table.state.tobytes()
    assert again.events == table.events


@given(histories(), st.data())
def test_no_seat_exceeds_the_cap(table: Table, data: st.DataObject) -> None:
    cap = table.variant.cap
    for points in table.scores:
        assert min(points.values()) >= 0
        assert cap is None or max(points.values()) <= cap
    if moves := table.legal_moves():
        gain = table.gain(moves[data.draw(st.integers(0, len(moves) - 1))])
        assert all(points > 0 for points in gain.values())


@given(st.text(alphabet="RGBOPY_()abcdefgmnp0123456789,- exchangkp", max_size=24))
def test_any_text_is_a_move_or_a_parse_error(text: str) -> None:
    try:
        move = Move.parse(text)
    except ParseError:
        return
    assert Move.parse(str(move)) == move


@cache
def texts(name: str) -> tuple[str, str, str]:
    """Return a position, a game text and a record from the middle of a game."""
    table = play_match(name, [player("greedy")] * 2, 1)
    for _ in range(9):
        table.undo()
    record = record_of(table, ["a", "b"])
    return table.position, write_game(record), record.to_json()


@given(
    st.sampled_from(GAMES), st.integers(0, 1 << 20), st.sampled_from('RG?^x;,=/ 0719-:{"\n'), st.booleans()
)
def test_damaged_texts_are_parsed_or_refused(name: str, at: int, letter: str, insert: bool) -> None:
    readers: tuple[Callable[[str], Any], ...] = (
        Position.parse,
        read_game,
        lambda text: replay(Record.parse(text)),
    )
    for text, read in zip(texts(name), readers, strict=True):
        at %= len(text)
        damaged = text[:at] + letter + text[at if insert else at + 1 :]
        try:
            value = read(damaged)
        except AxioError:
            continue
        # An accepted position must round-trip, and an accepted table has at most as many events as the text.
        if isinstance(value, Position) and not isinstance(value, Table):
            assert Position.parse(value.position).position == value.position
        elif isinstance(value, Table):
            assert len(value.events) <= len(json.loads(damaged)["events"])


@given(st.sampled_from(GAMES), st.integers(0, 1 << 20))
def test_truncated_text_is_refused(name: str, at: int) -> None:
    position, game, record = texts(name)
    for text, read in ((position, Position.parse), (game, read_game), (record, Record.parse)):
        cut = text.rstrip()[: at % len(text.rstrip())]
        try:
            value = read(cut)
        except AxioError:
            continue
        # Only a truncated number can still be valid.
        assert isinstance(value, Position)
        assert position.startswith(cut)
