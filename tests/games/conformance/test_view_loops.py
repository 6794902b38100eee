"""For every variant: redaction, derived fields, and actions and points as rows of numbers."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from axiogames.games import GAMES, find_variant
from axiogames.games.runtime.compile import INTERPRETED
from axiogames.games.runtime.describing import ACTION_KINDS, CELLS, KIND, TILE
from axiogames.games.runtime.loops import sample_draw, step
from axiogames.games.runtime.state import DRAW, HIDDEN, OFFER, OVER
from axiogames.games.runtime.view_loops import preview, restore_derived
from axiogames.games.runtime.xorshift import seed_state
from axiogames.games.variant import State, Variant, copied
from axiogames.model.position import Moves, Position
from axiogames.model.table import Table, new_game
from axiogames.rng import Generator
from tests.games.conformance.positions import CASES, TWISTS, Case, play, tables, twisted
from tests.games.numbers import described, move_of, previewed

EVERY = 11 if INTERPRETED else 3  # plies between the tested positions
DESCRIBED = 20 if INTERPRETED else 100_000  # at most about so many actions of a position
PREVIEWED = 6 if INTERPRETED else 60


def redacted(variant: Variant, state: State, seat: int | None) -> State:
    """Return the state as a seat knows it, by a second reading of the rule."""
    view = state.copy()
    bag = Counter(dict(enumerate(view["bag"][0].tolist())))
    hidden = [view["hands"][0, other] for other in range(variant.players) if other != seat]
    if "aside" in state.dtype.names and not variant.exchange_is_public and state["seat"][0] != seat:
        hidden.append(view["aside"][0])
    for tiles in hidden:
        known = tiles < len(variant.kinds)
        bag.update(tiles[known].tolist())
        tiles[known] = HIDDEN
    if "removed" in state.dtype.names:
        bag.update(dict(enumerate(view["removed"][0].tolist())))
        view["removed"] = 0
    view["bag"][0] = [bag[kind] for kind in range(len(variant.kinds))]
    view["unseen"] = bag.total()
    return view


def some(actions: np.ndarray, count: int) -> np.ndarray:
    """Return about `count` of the actions, the last one included."""
    return np.append(actions[: -1 : len(actions) // count + 1], actions[-1:])


def all_states(variant: Variant, seed: str) -> list[State]:
    """Return the states of a game after every action and every draw."""
    *_, table = play(variant, ("random",), seed)
    replayed, states = Table(variant), []
    for action in table.actions:
        states.append(copied(replayed.state))
        replayed.play_unchecked(action)
    return [*states, copied(replayed.state)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_views_hide_what_a_seat_does_not_see(case: Case) -> None:
    variant = case.variant()
    for state in all_states(variant, "redacted"):
        for seat in (None, *range(case.players)):
            view = variant.redact(state, seat)
            assert view.tobytes() == redacted(variant, state, seat).tobytes()
            # Hidden tiles stay hidden and are not counted twice.
            assert variant.redact(view, seat).tobytes() == view.tobytes()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derived_fields_follow_from_the_others(case: Case) -> None:
    variant = case.variant()
    rng = Generator(str(case))
    for state in all_states(variant, "restored")[:: EVERY if INTERPRETED else 1]:
        for seat in (None, rng.randint(case.players)):
            view = variant.redact(state, seat)
            damaged = copied(view)
            for name in (*variant.derived, "unseen"):
                field = damaged[name].view(np.uint8)
                field[:] = np.frombuffer(
                    bytes(rng.randint(256) for _ in range(64)) * (field.size // 64 + 1), np.uint8
                )[: field.size].reshape(field.shape)
            variant.kernels[restore_derived](variant.constants, damaged)
            assert damaged.tobytes() == view.tobytes()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_rows_describe_the_legal_moves(case: Case) -> None:
    kinds = set()
    for table in tables(case, games=1, twists=TWISTS[-1:] if INTERPRETED else TWISTS):
        moves = table.legal_moves()
        if table.plies % EVERY and all(move.kind == "place" for move in moves[-1:]):
            continue
        moves = Moves(table, some(moves.actions, DESCRIBED))
        for move, row in zip(moves, described(table.variant, table.state, moves.actions), strict=True):
            expected = move
            if move.kind == "exchange" and not move.tiles:
                assert table.turn is not None
                expected = type(move)("exchange", tiles=table.hand(table.turn))
            assert move_of(table.variant, table.state, row) == expected
            kinds.add(move.kind)
    assert "place" in kinds


@pytest.mark.parametrize("twist", TWISTS[1:2] if INTERPRETED else TWISTS[:2])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_points_of_cells_add_up(case: Case, twist: str) -> None:
    variant = twisted(case, twist)
    scored = 0
    for table in play(variant, ("greedy", "balanced"), f"points {twist}"):
        if table.plies % EVERY:
            continue
        for action in some(table.legal_moves().actions, PREVIEWED).tolist():
            check_preview(table, action)
            scored += action < variant.placements
    assert scored > 0


def check_preview(table: Position, action: int) -> None:
    """Compare the rows and the state of a preview with the rules."""
    variant, state = table.variant, table.state
    move, expected = variant.decode(state, action), table.preview(variant.decode(state, action))
    points, after = previewed(variant, state, action)
    assert (after["phase"][0] == OVER) == expected.ends_game
    if move.kind != "place":
        assert not points
        assert after["gain"].tobytes() == state["gain"].tobytes()
        return
    totals: Counter[str] = Counter()
    for point in points:
        totals[point.track] += point.points
        assert point.points > 0
        assert point.target in (*move.at, *expected.pyramids, "")
    assert {point.target for point in points} >= set(expected.pyramids)
    gain = dict(zip(variant.tracks, after["gain"][0].tolist(), strict=True))
    seat = int(state["seat"][0])
    for track, before in table.scores[seat].items():
        room = totals[track] if variant.cap is None else variant.cap - before
        counted = min(totals[track], room)
        # Solo, points can be lost at the end of each half of a track.
        assert gain[track] == counted or (case_is_solo_with_stops(variant) and gain[track] < counted)
    assert expected.gain == {track: n for track, n in gain.items() if n}


def case_is_solo_with_stops(variant: Variant) -> bool:
    """Return whether tracks have a second half, which a point that ends the first one does not enter."""
    return variant.players == 1 and variant.cap != variant.game.cap


@pytest.mark.parametrize("game", GAMES)
def test_points_beyond_the_last_row_are_left_out(game: str) -> None:
    variant = find_variant(game)
    for table in play(variant, ("greedy",), "few rows"):
        moves = table.legal_moves()
        gains = table.gains(moves).sum(axis=1)
        if len(moves) and gains.max() > 0:
            break
    action = int(moves.actions[gains.argmax()])
    points, _ = previewed(variant, table.state, action)
    assert points
    for room in (0, 1):
        rows = np.full((room + 1, variant.point_columns), -7, np.int16)
        count = variant.kernels[preview](variant.constants, copied(table.state), action, rows[:room])
        assert count == room
        assert set(rows[room].tolist()) == {-7}


# ------------------------------------------------------------ what the browser asks besides views


@pytest.mark.parametrize("name", GAMES)
def test_sampled_draws_are_possible(name: str) -> None:
    variant = find_variant(name)
    state, rng = variant.new_state(), seed_state(5)
    while state["phase"][0] >= DRAW:
        outcome = variant.kernels[sample_draw](variant.constants, state, rng)
        assert outcome in dict(variant.chances(state))
        variant.kernels[step](variant.constants, state, outcome, False)


@pytest.mark.parametrize("name", [name for name in GAMES if find_variant(name).start_places])
def test_tiles_of_the_opening_display_are_described(name: str) -> None:
    variant = find_variant(name)
    state = variant.new_state()
    for place in variant.start_places:
        outcomes = [outcome for outcome, _ in variant.chances(state)]
        for outcome in outcomes[::7]:
            (row,) = described(variant, state, np.array([outcome], np.int32))
            placed = variant.start_tile(state, outcome)
            first = CELLS + variant.cell_columns
            colours = [variant.colours[colour] if colour >= 0 else "_" for colour in row[first:]]
            assert (",".join(map(str, row[CELLS:first])), "".join(colours)) == (place, placed.letters)
        variant.kernels[step](variant.constants, state, outcomes[-1], False)


def test_an_offered_exchange_is_described() -> None:
    variant = find_variant("axio")
    state = new_game("axio", seed=3).state.copy()
    state["phase"] = OFFER
    rows = described(variant, state, np.array([variant.placements, variant.placements + 1], np.int32))
    every_tile = 2 ** len(variant.hand_of(state, 0)) - 1
    kinds = [(ACTION_KINDS[row[KIND]], row[TILE]) for row in rows]
    assert kinds == [("exchange", every_tile), ("keep", 0)]
