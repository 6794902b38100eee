"""Tables of the browser: what their players are sent equals what Python says of the same game."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from axiogames.games.variant import Variant
from axiogames.model.record import Record, replay
from axiogames.model.table import Table
from axiogames.model.view import View
from axiogames.server.presentation.moves_json import move_encoder
from axiogames.web.board_json import board_encoder
from tools.wasm.build import module_file
from tools.wasm.variants import all_variants, describe_variant, variant_name

from ..demanded import need

VARIANTS = list(all_variants())
SAMPLE = [v for v in VARIANTS if v.players == 2 and len(v.options) != 1]
LEVELS = [0, 1, 2, 3, 5, 6]  # indices of the levels that move in turn


def play(variant: Variant, folder: Path) -> Any:
    """Return the record of a game played in Node, and samples of the messages to its players."""
    node, out = need("node", shutil.which("node")), folder / "game.json"
    task = {
        "module": str(module_file(variant)),
        "data": describe_variant(variant),
        "levels": LEVELS,
        "out": str(out),
    }
    program = Path(__file__).with_name("table.mjs")
    done = subprocess.run([node, program], input=json.dumps(task), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(out.read_text())


def to_json(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


def offered(moves: Any) -> list[tuple[Any, ...]] | None:
    """Return the legal moves one by one, the order of columns and looks left out."""
    if moves is None:
        return None
    rows = zip(moves["tile"], moves["look"], moves["place"], moves["gain"], strict=True)
    return [
        (tile, moves["looks"][look], moves["places"][place], gain, moves["named"] and moves["named"][n])
        for n, (tile, look, place, gain) in enumerate(rows)
    ]


def expected_position(view: Table | View) -> dict[str, Any]:
    variant, state = view.variant, view.state
    return {
        "turn": view.turn,
        "scores": [list(points.values()) for points in view.scores],
        "hands": [list(view.hand(seat)) for seat in range(view.players)],
        "in_bag": view.in_bag,
        "standing": list(view.ranks),
        "extra": variant.extra_turns(state),
        "pyramids": list(variant.pyramids(state)),
        "spent": list(variant.spent(state)),
        "last": list(view.last_placed()),
    }


def check_view(sent: Any, table: Table) -> None:
    """Check a message to a viewer of a table."""
    view = table if table.over else table.view(sent["you"])
    assert sent["events"] == to_json(view.events)
    assert {name: sent["now"][name] for name in expected_position(view)} == expected_position(view)
    encoder = board_encoder(table.variant)
    assert sent["tiles"] == to_json(encoder.board_tiles(view.laid()))
    board = to_json(encoder.board(view.state))
    if table.variant.grows:  # the drawing of the frame may differ by how its corners are rounded
        board["frame"] = sent["board"]["frame"]
        for drawn in (board, sent["board"]):
            drawn["cells"].sort()
            drawn["labels"].sort()
    assert sent["board"] == board
    may_move = sent["you"] is not None and sent["you"] == table.turn
    moves = to_json(move_encoder(table.variant).moves(view)) if may_move else None
    assert offered(sent["moves"]) == offered(moves)
    if moves is not None:
        assert [other["move"] for other in sent["moves"]["others"]] == [o["move"] for o in moves["others"]]


def check_table(variant: Variant, folder: Path) -> None:
    game = play(variant, folder)
    assert len(game["messages"]) > 2
    for message in game["messages"]:
        table = Table(variant)
        for action in message["actions"]:
            assert table._step(action, checked=not table.draw_due) == 0
        for sent in message["views"]:
            check_view(sent, table)
    assert replay(Record.parse(json.dumps(game["record"]))).over


@pytest.mark.parametrize("variant", SAMPLE, ids=variant_name)
def test_players_are_sent_what_python_says(variant: Variant, tmp_path: Path) -> None:
    check_table(variant, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS, ids=variant_name)
def test_players_of_all_variants_are_sent_what_python_says(variant: Variant, tmp_path: Path) -> None:
    check_table(variant, tmp_path)
