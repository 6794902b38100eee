"""Set-up for the rule tests of the domino games: positions drawn as small pictures, and tables to play from.

A picture has a line of column letters, then rows that start with their number; it shows a part of the
board, and cells outside it are empty:

        e f g
    9   R . .
    8   . B ^

`.` is an empty cell, `^` a pyramid. Printed cells need not be shown; where they are, they must be right.
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
    """The names of the cells, row by row from the top (axio 1, hex 1)."""
    if game == "axio":
        span = range(AXIO_MARGIN[players], 13 - AXIO_MARGIN[players])
        return [["abcdefghijklm"[x] + str(y + 1) for x in span] for y in reversed(span)]
    side = HEX_SIDE[players]
    span = range(1, 2 * side)
    return [
        ["abcdefghijklmno"[x - 1] + str(y) for x in span if side < x + y < 3 * side] for y in reversed(span)
    ]


def picture(text: str) -> dict[str, str]:
    """What a picture shows, by cell; empty cells are left out."""
    lines = [line.split() for line in text.splitlines() if line.strip()]
    if not lines:
        return {}
    letters, *rows = lines
    shown: dict[str, str] = {}
    for number, *row in rows:
        shown |= {column + number: sign for column, sign in zip(letters, row, strict=True) if sign != "."}
    return shown


def filled(game: str, players: int) -> dict[str, str]:
    """A symbol on every cell, so that no two neighbours are equal and no line is longer than one.

    On the square board a cell's four neighbours show the four other colours.
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
    """A position with the given things; everything else is filled in so that the tiles add up.

    Seat 0 is to move. The board is a picture, or says what lies on which cell. With `holes`, all cells
    but those named are full. Seats without a given hand hold some full hand. `begun`: whether everybody
    has placed a first tile. `oldest` names pyramids in the order they were set; the others follow from
    the top left.
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
    """All hands and the bag, when so many tiles lie on the board: which ones is all the same."""
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
    """A tile's letters in the order in which the game names it."""
    return tile if tile in variant.tileset else tile[::-1]


def dealt(game: str, *hands: str, players: int = 2) -> Table:
    """A new table at which the first seats have drawn these hands, the others any."""
    made = Table(find_variant(game, players))
    for hand in hands:
        for tile in hand.split():
            made.draw(tile)
    draw_all(made)
    return made


def draw_all(made: Table) -> list[str]:
    """Draw all that is due, whatever comes; the tiles."""
    tiles = []
    while made.draw_due:
        tiles.append(max(made.unseen, key=lambda tile: made.unseen[tile]))
        made.draw(tiles[-1])
    return tiles


def leave_in_bag(made: Table, count: int) -> None:
    """Take tiles out of the game until so many are in the bag, for what no real game comes to."""
    while made.in_bag > count:
        fullest = int(made.state["bag"][0].argmax())
        made.state["bag"][0, fullest] -= 1
        made.state["in_bag"] -= 1
        made.state["unseen"] -= 1


def play(made: Table, *moves: str) -> Table:
    """Play these moves one after the other, each followed by any draw that is due."""
    for move in moves:
        made.play(move)
        draw_all(made)
    return made


def on_board(at: Position) -> Content:
    """What lies on the board, whatever is known of how it came there."""
    return Position(at.variant, at.state).content()


def may(at: Position, move: str) -> bool:
    """Whether a move is among the legal ones."""
    return Move.parse(move) in at.legal_moves()


def reason(at: Position, move: str) -> Reason:
    """Why a move is refused."""
    with pytest.raises(IllegalMove) as caught:
        at.action_of(move)
    return caught.value.reason


def spots(at: Position) -> set[frozenset[str]]:
    """Every pair of cells that a tile may cover now."""
    return {frozenset(move.at) for move in at.legal_moves() if move.kind == "place"}


def cells(at: Position) -> set[str]:
    """Every cell that a tile may cover now."""
    return {cell for spot in spots(at) for cell in spot}
