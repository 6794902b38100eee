"""Positions and tables for the rule tests of the domino games, written as small pictures.

A picture has a line of column letters, then rows that start with their number. It shows a part of the board;
all other cells are empty:

        e f g
    9   R . .
    8   . B ^

`.` is an empty cell, `^` a pyramid. Printed cells can be left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import pytest

from axiogames import IllegalMove, Move, Position, Reason, Table
from axiogames.drawing.scene import Content
from axiogames.games import find_variant
from axiogames.games.variant import Variant
from axiogames.model.position_text import parse_unchecked

Points = Mapping[str, int]  # by colour; several letters share a number: {"RGBO": 18, "P": 17}

AXIO_MARGIN = {1: 2, 2: 2, 3: 1, 4: 0}
HEX_SIDE = {1: 6, 2: 6, 3: 7, 4: 8}


def rows_of(game: str, players: int) -> list[list[str]]:
    """Return the names of the cells, row by row from the top (axio 1, hex 1)."""
    if game == "axio":
        span = range(AXIO_MARGIN[players], 13 - AXIO_MARGIN[players])
        return [["abcdefghijklm"[x] + str(y + 1) for x in span] for y in reversed(span)]
    side = HEX_SIDE[players]
    span = range(1, 2 * side)
    return [
        ["abcdefghijklmno"[x - 1] + str(y) for x in span if side < x + y < 3 * side] for y in reversed(span)
    ]


def picture(text: str) -> dict[str, str]:
    """Return the content of a picture by cell, without empty cells."""
    lines = [line.split() for line in text.splitlines() if line.strip()]
    if not lines:
        return {}
    letters, *rows = lines
    shown: dict[str, str] = {}
    for number, *row in rows:
        shown |= {column + number: sign for column, sign in zip(letters, row, strict=True) if sign != "."}
    return shown


def filled(game: str, players: int) -> dict[str, str]:
    """Return a symbol for every cell, so that neighbours differ.

    On the square board, the four neighbours of a cell have the four other colours.
    """
    colours = "RGBOP" if game == "axio" else "RGBOPY"
    cells = [cell for row in rows_of(game, players) for cell in row]
    return {cell: colours[(ord(cell[0]) - ord("a") + 2 * int(cell[1:]) - 2) % len(colours)] for cell in cells}


def position(
    board: str | Mapping[str, str] = "",
    *,
    game: str = "axio",
    players: int = 2,
    holes: str | None = None,
    hands: Sequence[str] = (),
    scores: Sequence[Points] = (),
    begun: bool = True,
    oldest: str = "",
    phase: str = "place",
) -> Position:
    """Return a position with seat 0 to move. Unspecified hands and the bag are filled in consistently.

    Args:
        board: Picture, or content by cell.
        game: `axio` or `hex`.
        players: Number of players.
        holes: Empty cells on an otherwise full board.
        hands: Hands of the first seats; the other seats get some full hand.
        scores: Scores of the first seats.
        begun: Whether all seats have placed a first tile.
        oldest: Pyramids in the order in which they were set; the others follow from the top left.
        phase: Phase of the position text.
    """
    variant = find_variant(game, players)
    printed: dict[str, str] = variant.setup()["printed"]
    laid = {}
    if holes is not None:
        empty = holes.split()
        laid = {cell: sign for cell, sign in filled(game, players).items() if cell not in empty}
    shown = picture(board) if isinstance(board, str) else dict(board)
    assert all(shown.get(cell, sign) == sign for cell, sign in printed.items()), "a printed cell is wrong"
    laid |= shown | printed
    names = [cell for row in rows_of(game, players) for cell in row]
    assert set(laid) <= set(names), f"{set(laid) - set(names)} are not in the play area"
    pyramids = [cell for cell in names if laid.get(cell) == "^"]
    pyramids.sort(key=lambda cell: oldest.split().index(cell) if cell in oldest.split() else len(names))
    symbols = len(laid) - len(pyramids) - len(printed)
    assert symbols % 2 == 0, f"{symbols} symbols are not whole tiles"

    full_hands, bag = _deal(variant, hands, symbols // 2)
    fields = {
        "board": ",".join(["/".join(_row(row, laid) for row in rows_of(game, players)), *pyramids]),
        "hands": ";".join(",".join(hand) or "-" for hand in full_hands),
        "bag": ",".join(f"{tile}{count}" for tile, count in bag.items() if count) or "-",
        "scores": ";".join(_scores(variant, scores[n] if n < len(scores) else {}) for n in range(players)),
        "seat": 0,
        "phase": phase,
        "due": 0,
        "extra": 0,
        "dealing": 0,
        "begun": (1 << players) - 1 if begun else 0,
        "claimed": 0,
        "aside": "-",
    }
    text = " ".join(f"{name}={value}" for name, value in fields.items())
    return Position(*parse_unchecked(f"{game} {players} - {text}"))


def _row(row: Iterable[str], laid: Mapping[str, str]) -> str:
    signs = "".join(laid.get(cell, ".") for cell in row)
    return re.sub(r"\.+", lambda gap: str(len(gap[0])), signs)


def _scores(variant: Variant, points: Points) -> str:
    by_colour = {colour: n for colours, n in points.items() for colour in colours}
    return ",".join(str(by_colour.get(colour, 0)) for colour in variant.colours)


def _deal(variant: Variant, hands: Sequence[str], laid: int) -> tuple[list[list[str]], Counter[str]]:
    """Return all hands and the bag, with any `laid` tiles on the board."""
    left = Counter(variant.tileset)
    known = [[one_way(variant, tile) for tile in hand.split()] for hand in hands]
    for hand in known:
        left.subtract(hand)
    assert min(left.values()) >= 0, "more tiles in hands than there are"

    def most_common() -> str:
        tile: str = left.most_common(1)[0][0]
        left[tile] -= 1
        return tile

    while len(known) < variant.players:
        known.append([most_common() for _ in range(variant.hand)])
    for _ in range(laid):
        most_common()
    return known, left


def one_way(variant: Variant, tile: str) -> str:
    """Return the letters of a tile in the order of the tile set."""
    return tile if tile in variant.tileset else tile[::-1]


def dealt(game: str, *hands: str, players: int = 2) -> Table:
    """Return a new table at which the first seats have drawn these hands, and the others any tiles."""
    table = Table(find_variant(game, players))
    for hand in hands:
        for tile in hand.split():
            table.draw(tile)
    draw_all(table)
    return table


def draw_all(table: Table) -> list[str]:
    """Draw all tiles that are due, of the most frequent kinds, and return them."""
    tiles = []
    while table.draw_due:
        tiles.append(max(table.unseen, key=lambda tile: table.unseen[tile]))
        table.draw(tiles[-1])
    return tiles


def leave_in_bag(table: Table, count: int) -> None:
    """Remove tiles until `count` are in the bag, for positions that no game reaches."""
    while table.in_bag > count:
        fullest = int(table.state["bag"][0].argmax())
        table.state["bag"][0, fullest] -= 1
        table.state["in_bag"] -= 1
        table.state["unseen"] -= 1


def play(table: Table, *moves: str) -> Table:
    """Play moves, each followed by any draw that is due."""
    for move in moves:
        table.play(move)
        draw_all(table)
    return table


def on_board(at: Position) -> Content:
    """Return the content of the board, without the history of a table."""
    return Position(at.variant, at.state).content()


def may(at: Position, move: str) -> bool:
    """Return whether a move is legal."""
    return Move.parse(move) in at.legal_moves()


def reason(at: Position, move: str) -> Reason:
    """Return the reason why a move is illegal."""
    with pytest.raises(IllegalMove) as caught:
        at.action_of(move)
    return caught.value.reason


def spots(at: Position) -> set[frozenset[str]]:
    """Return all pairs of cells that a legal placement covers."""
    return {frozenset(move.at) for move in at.legal_moves() if move.kind == "place"}


def cells(at: Position) -> set[str]:
    """Return all cells that a legal placement covers."""
    return {cell for spot in spots(at) for cell in spot}
