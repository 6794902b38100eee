"""Variant data suffice to read views, legal moves and boards without a game's code, as the page does."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest

from axiogames.games import GAMES, find_variant
from axiogames.games.runtime.state import HIDDEN, NO_TILE
from axiogames.games.runtime.view_loops import restore_derived
from axiogames.model.table import Table
from axiogames.model.view_format import encode_change, encode_view
from axiogames.web.board_json import BoardEncoder, board_encoder
from axiogames.web.variant_data import variant_data
from tests.games.conformance.positions import CASES, Case, play
from tests.games.numbers import described

EVERY = 5


def data_of(case: Case) -> Any:
    """Return the data of a variant as the page reads them."""
    return msgspec.json.decode(msgspec.json.encode(variant_data(case.variant())))


class Reader:
    """A state that is read from views with variant data alone."""

    def __init__(self, data: Any, opening: bytes) -> None:
        self.data = data
        self.bytes = bytearray(opening)
        self.fields = {
            field["name"]: np.ndarray(
                tuple(field["shape"]), np.dtype(field["type"]), self.bytes, field["offset"]
            )
            for field in data["state"]["fields"]
        }

    def apply(self, fields: dict[str, Any]) -> None:
        """Write the fields of a view or of a change."""
        layout, players = self.data["state"], self.data["players"]
        for name, value in fields.items():
            if name == "format":
                continue
            if name == "board":
                for *address, content in value:
                    self.fields[layout["contents"]][self.cell(address)] = content
            elif name == "phase":
                self.fields[name][...] = self.data["phases"].index(value)
            elif name in layout["lengths"]:
                length, lists = self.fields[layout["lengths"][name]], self.fields[name]
                for seat, tiles in enumerate(value if name == "hands" else [value]):
                    known = tiles if isinstance(tiles, list) else [HIDDEN] * tiles
                    row = lists[seat] if name == "hands" else lists
                    row[:] = known + [NO_TILE] * (len(row) - len(known))
                    length[(seat,) if name == "hands" else ()] = len(known)
            elif name in layout["sparse"]:
                for kind, count in value:
                    self.fields[name][kind] = count
            elif name in ("scores", "stack"):
                self.fields[name][:players] = value
            else:
                self.fields[name][...] = value

    def cell(self, address: list[int]) -> int:
        """Return the index of a cell in the state."""
        if self.data["torus"] is None:
            return address[0]
        side: int = self.data["torus"]["side"]
        return address[1] % side * side + address[0] % side


@pytest.mark.parametrize("case", CASES, ids=str)
def test_views_can_be_read_with_variant_data(case: Case) -> None:
    variant, data = case.variant(), data_of(case)
    assert data["state"]["bytes"] == variant.opening.nbytes
    assert data["state"]["constants"] == variant.constants.nbytes
    reader, before = Reader(data, variant.opening.tobytes()), None
    for table in play(variant, ("random", "greedy"), "read"):
        view = table.view(0).state
        fields = encode_view(variant, view) if before is None else encode_change(variant, before, view)
        assert set(fields) - {"format"} <= set(data["state"]["encoded"])
        reader.apply(msgspec.json.decode(msgspec.json.encode(fields)))
        state = np.frombuffer(reader.bytes, variant.opening.dtype)
        variant.kernels[restore_derived](variant.constants, state)
        assert state.tobytes() == view.tobytes()
        before = view


@pytest.mark.parametrize("case", CASES, ids=str)
def test_places_are_those_of_legal_moves(case: Case) -> None:
    data = data_of(case)
    encoder = board_encoder(case.variant())
    for table in play(case.variant(), ("random", "greedy"), "places"):
        moves = table.legal_moves()
        if table.plies % EVERY or not len(moves):
            continue
        for move, row in zip(moves, described(table.variant, table.state, moves.actions), strict=True):
            assert data["action_kinds"][row[0]] == move.kind
            if move.kind != "place":
                continue
            if torus := data["torus"]:
                x, y = row[4:6]
                origin, right, up = torus["origin"], torus["right"], torus["up"]
                place = [torus["shape"], *(origin[i] + x * right[i] + y * up[i] for i in (0, 1)), f"{x},{y}"]
            else:
                place = data["cells"]["places"][row[3]]
                names = data["cells"]["names"]
                assert [names[cell] for cell in row[4 : 4 + data["rows"]["cells"]]] == list(move.at)
            assert place == [*encoder.place(move.at), "-".join(move.at)]


def drawn(torus: Any, low: tuple[int, int], grid: np.ndarray) -> tuple[Any, Any, Any, Any]:
    """Return tiles, free squares, labels and frame of a display, from its state and variant data."""
    side = torus["side"]

    def centre(x: int, y: int) -> tuple[int, int]:
        origin, right, up = torus["origin"], torus["right"], torus["up"]
        return origin[0] + x * right[0] + y * up[0], origin[1] + x * right[1] + y * up[1]

    tiles, free = {}, {}
    for square in np.flatnonzero(grid).tolist():
        y, x = divmod(square, side)
        x, y = (at - 1 + (n - at + 1) % side for at, n in zip(low, (x, y), strict=True))
        if grid[square] == torus["free"]:
            free[f"{x},{y}"] = centre(x, y)
        else:
            tiles[f"{x},{y}"] = torus["letters"][grid[square]]
    squares = [tuple(map(int, name.split(","))) for name in (*tiles, *free)]
    left, bottom = min(x for x, _ in squares), min(y for _, y in squares)
    labels = set()
    for x, y in squares:
        (cx, cy), (rx, ry) = centre(x, bottom), centre(left, y)
        labels.add((str(x), cx + torus["column_label"][0], cy + torus["column_label"][1]))
        labels.add((str(y), rx + torus["row_label"][0], ry + torus["row_label"][1]))
    half = torus["right"][0] // 2
    xs = [centre(*at)[0] + d for at in squares for d in (-half, half)] + [x for _, x, _ in labels]
    ys = [centre(*at)[1] + d for at in squares for d in (-half, half)] + [y for _, _, y in labels]
    margin = torus["margin"]
    frame = [min(xs) - margin, min(ys) - margin]
    return tiles, free, labels, [*frame, max(xs) + margin - frame[0], max(ys) + margin - frame[1]]


@pytest.mark.parametrize("game", [name for name in GAMES if find_variant(name).grows])
def test_growing_boards_can_be_drawn_from_the_state(game: str) -> None:
    case = Case(game, 2)
    variant, torus = case.variant(), data_of(case)["torus"]
    for table in play(variant, ("random", "greedy"), "grid"):
        state = table.view(None).state
        low = tuple(int(state[name][0]) for name in torus["low"])
        tiles, free, labels, box = drawn(torus, (low[0], low[1]), state[variant.board][0])
        board = BoardEncoder(variant)._board(variant.drawing.scene(variant.content(state, ())))
        assert tiles == variant.shown_at(state)
        assert free == {name: (x, y) for name, x, y, *_ in board.cells}
        assert labels == set(board.labels)
        assert box == list(board.box)
        assert board.outlines == (torus["outline"],)


@pytest.mark.parametrize("game", GAMES)
def test_static_parts_are_those_of_the_game(game: str) -> None:
    variant, data = find_variant(game, 3), data_of(Case(game, 3))
    assert dict(zip(data["kinds"], data["counts"], strict=True)) == dict(variant.tileset)
    assert data["setup"] == variant.setup()
    assert data["actions"]["all"] == variant.actions
    assert (data["cells"] is None) is (data["torus"] is not None) is variant.grows
    table = Table(variant, "static")
    assert len(table.legal_moves()) <= data["actions"]["legal"]
