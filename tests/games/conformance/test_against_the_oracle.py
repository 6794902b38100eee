"""The rules agree with a brute-force referee that shares no code with them."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import msgspec
import pytest

from axiogames.games.runtime.compile import INTERPRETED
from axiogames.model.table import Table
from axiogames.moves import Move
from axiogames.rng import Generator
from tests.games.conformance.positions import EACH, TWISTS, Case, play, twisted
from tests.games.oracle import referee
from tests.games.oracle.base import Referee

GAMES_EACH = 1 if INTERPRETED else 4
LISTED = 0.05 if INTERPRETED else 0.15  # share of positions whose legal moves are compared


def start(table: Table) -> Referee:
    """Return a referee for a table, with its opening scores."""
    judge = referee(table.game, table.players, table.options, table.variant.setup())
    for points, row in zip(judge.scores, table.variant.opening["scores"][0].tolist(), strict=False):
        points.update(zip(table.variant.tracks, row, strict=True))
    return judge


def referee_move(table: Table, move: Move) -> tuple[Any, ...]:
    """Return a move in the representation of the referee."""
    canonical = sorted(table.variant.tile_name(table.variant.kind_of(tile) or 0) for tile in move.tiles)
    if move.kind == "exchange":
        return "exchange", tuple(sorted(map(smallest, canonical or table.hand(table.turn or 0))))
    if move.kind != "place":
        return (move.kind,)
    if len(move.at) == 1:
        return "place", move.at[0], move.tile, move.named
    return "place", frozenset(zip(move.at, move.tile, strict=True))


def smallest(tile: str) -> str:
    """Return the spelling of a tile that the referee uses: the alphabetically first orientation."""
    if len(tile) == 4:
        return min(tile[n:] + tile[:n] for n in range(4))
    return min(tile, tile[::-1])


def compare(table: Table, judge: Referee) -> None:
    assert table.over == judge.over
    assert table.turn == judge.turn
    assert list(table.scores) == judge.scores
    for seat, hand in enumerate(judge.hands):
        assert sorted(map(smallest, table.hand(seat))) == sorted(hand)
    assert Counter({smallest(tile): count for tile, count in table.unseen.items()}) == +judge.bag
    if table.over:
        assert json.loads(msgspec.json.encode(table.result)) == judge.result()


def compare_moves(table: Table, judge: Referee, rng: Generator) -> int:
    """Compare all legal moves and the points of some; return the number of legal moves."""
    moves = list(table.legal_moves())
    converted = [referee_move(table, move) for move in moves]
    assert len(set(converted)) == len(converted)
    assert set(converted) == judge.legal_moves()
    for _ in range(min(12, len(moves))):
        n = rng.randint(len(moves))
        preview = table.preview(moves[n])
        assert preview.gain in (judge.gains(converted[n]) if converted[n][0] == "place" else [{}])
        if converted[n][0] == "place":
            assert sorted(preview.pyramids) == sorted(judge.pyramids(converted[n]))
    return len(moves)


@pytest.mark.parametrize("twist", TWISTS[2:] if INTERPRETED else TWISTS)
@pytest.mark.parametrize("case", EACH, ids=str)
def test_rules_agree_with_the_referee(case: Case, twist: str) -> None:
    variant = twisted(case, twist)
    compared = 0
    for n in range(GAMES_EACH):
        styles = (("greedy",), ("balanced",), ("random", "greedy", "balanced"), ("random",))[n]
        rng = Generator(f"{case} {twist} {n}")
        judge, done = None, 0
        for table in play(variant, styles, f"oracle {n}"):
            judge = judge or start(table)
            for event in table.events[done:]:
                judge.event(json.loads(msgspec.json.encode(event)))
            done = len(table.events)
            compare(table, judge)
            if not table.over and (table.plies < 2 or rng.randint(1000) < 1000 * LISTED):
                compared += compare_moves(table, judge, rng)
        assert table.over
    assert compared > 0
