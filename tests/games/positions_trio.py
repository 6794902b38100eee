"""Positions and tables for the rule tests of trio.

The tests use the squares of this map: letters are columns from the left, numbers rows from the bottom.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib import resources

import numpy as np
import pytest

import axiogames as axio
from axiogames.games import find_variant
from axiogames.model.position_text import parse_unchecked
from tests.games.playing import table_at

#      abcdefghijklmnop
BOARD = """
 16    ..#......*......
 15    .*............*.
 14    .....G.Y..*....#
 13    ....B...#.......
 12    ..........#.B...
 11    ..*.#...*....G..
 10    *.....R..R......
  9    ...#.*.......Y..
  8    ..Y.......*.#...
  7    ......R..R.....*
  6    ..G....*...#.*..
  5    ...B.#..........
  4    .......#...B....
  3    #....*..Y.G.....
  2    .*............*.
  1    ......*......#..
"""
COLUMNS = "abcdefghijklmnop"
PRINTED = {
    f"{column}{number}": sign
    for number, row in (line.split() for line in BOARD.splitlines() if line)
    for column, sign in zip(COLUMNS, row, strict=True)
    if sign != "."
}

# Two nooks, each with room for one tile, at the left edge of the board. On an otherwise filled board, these
# are the only free slots.
#
#    16 [ ] .  #  .         4   .  G  B
#    15 [ ] G  x  x         3   #  x  x  x
#    14 [ ] B  x  x         2   .  G  B  x
#    13  Y  x  x            1  [ ][ ][ ] Y
#        a  b  c  d             a  b  c  d
#
# Without options, a tile must have green in the middle (one edge) and blue or yellow at one end (one edge).
# Its other end meets no colour, so it scores 2 points and wins no extra turn.
LOW, HIGH = "a1-b1-c1", "a16-a15-a14"
LOW_WALLS = ("GRR b2-b3-b4", "BRR c2-c3-c4", "YRR d1-d2-d3")
HIGH_WALLS = ("GRB b15-c15-d15", "BRB b14-c14-d14", "YRB a13-b13-c13")
# With this wall in place of the yellow one, RGB in the low nook matches green above, blue above and blue to
# the right: 3 edges and an extra turn.
BLUE_WALL = "BGG d1-d2-d3"
EXTRA_WALLS = (*LOW_WALLS[:2], BLUE_WALL, *HIGH_WALLS)

# Green, green and blue to the left of g11, g12 and g13, a column above the red starter g10.
BESIDE = "GGB f11-f12-f13"
# Red below h11 and i11, in a row with g11; i11 is a star.
BELOW = ("RGG h10-h9-h8", "RGG i10-i9-i8")


def same_tile(letters: str) -> str:
    """Return a canonical spelling for both orientations of a tile."""
    return min(letters, letters[::-1])


def squares(laid: Iterable[str]) -> dict[str, str]:
    """Return the colours by square of placed tiles such as `RGB a1-b1-c1`."""
    found: dict[str, str] = {}
    for tile in laid:
        letters, at = tile.split()
        for square, letter in zip(at.split("-"), letters, strict=True):
            assert square not in found, f"{square} is covered twice"
            assert PRINTED.get(square, "*") == "*", f"{square} cannot be covered"
            found[square] = letter
    return found


def rows_of_three() -> list[tuple[str, str, str]]:
    """Return all horizontal and vertical rows of three squares."""
    across = [(f"{a}{n}", f"{b}{n}", f"{c}{n}") for n in range(1, 17) for a, b, c in _threes(COLUMNS)]
    upright = [(f"{c}{n}", f"{c}{n + 1}", f"{c}{n + 2}") for c in COLUMNS for n in range(1, 15)]
    return across + upright


def _threes(letters: str) -> list[tuple[str, str, str]]:
    return list(zip(letters, letters[1:], letters[2:], strict=False))


def filled(walls: Sequence[str], nooks: Sequence[str], spare: Sequence[str]) -> list[str]:
    """Return walls and further tiles that leave room in the nooks only.

    The tiles in `spare` are not used.
    """
    laid = list(walls)
    tiles = Counter(dict.fromkeys(find_variant("trio", 2).kinds, 2))
    tiles.subtract(same_tile(tile.split()[0]) for tile in walls)
    tiles.subtract(same_tile(tile) for tile in spare)
    heap = list(tiles.elements())
    blocked = {square for square, sign in PRINTED.items() if sign != "*"} | set(squares(walls))
    keep = {square for nook in nooks for square in nook.split("-")}
    for row in rows_of_three():
        if not blocked & {*row} and not keep & {*row}:
            laid.append(f"{heap.pop()} {'-'.join(row)}")
            blocked |= {*row}
    open_rows = {frozenset(row) for row in rows_of_three() if not blocked & {*row}}
    assert open_rows == {frozenset(nook.split("-")) for nook in nooks}
    return laid


def position(
    laid: Iterable[str],
    hands: Sequence[str],
    *,
    bag: Sequence[str] | None = None,
    scores: Sequence[int] = (),
    seat: int = 0,
    exchanges: int = 0,
    options: str = "-",
    over: bool = False,
) -> axio.Position:
    """Return a position with these tiles on the board (`RGB a1-b1-c1`) and in the hands (`RGB YYY`).

    All other tiles are in the bag. With `bag`, only these are, and the rest is out of the game.
    """
    laid, players = list(laid), len(hands)
    held = [same_tile(tile) for hand in hands for tile in hand.split()]
    variant = find_variant("trio", players, {} if options == "-" else dict.fromkeys(options.split(","), True))
    tiles = Counter(variant.tileset)
    tiles.subtract([*(same_tile(tile.split()[0]) for tile in laid), *held])
    shown = {square: sign for square, sign in PRINTED.items() if sign != "*"} | squares(laid)
    rows = ["".join(shown.get(f"{column}{n}", ".") for column in COLUMNS) for n in range(16, 0, -1)]
    fields = {
        "board": re.sub(r"\.+", lambda run: str(len(run[0])), "/".join(rows)),
        "hands": ";".join(",".join(hand.split()) or "-" for hand in hands),
        "bag": ",".join(f"{tile}{count}" for tile, count in tiles.items() if count) or "-",
        "scores": ";".join(str(points) for points in scores or [0] * players),
        "seat": str(seat),
        "phase": "over" if over else "place",
        "due": "0",
        "dealing": "0",
        "idle": str(exchanges),
        "again": "0",
        "aside": "-",
        "removed": "-",
    }
    text = f"trio {players} {options} " + " ".join(f"{name}={value}" for name, value in fields.items())
    whole = axio.Position(*parse_unchecked(text))
    return whole if bag is None else only(whole, bag)


def only(whole: axio.Position, bag: Sequence[str]) -> axio.Position:
    """Return a position with only these tiles in the bag; the others count as removed."""
    state, variant = whole.state.copy(), whole.variant
    counts = Counter(same_tile(tile) for tile in bag)
    left = np.array([counts[tile] for tile in variant.kinds], state["bag"].dtype)
    state["removed"][0] += state["bag"][0] - left
    state["bag"][0] = left
    state["in_bag"] = state["unseen"] = len(bag)
    return axio.Position(variant, state)


def after(start: axio.Position, *moves_and_draws: str) -> axio.Table:
    """Return a table after moves and draws (`draw RGB YYY`)."""
    table = table_at(start)
    for step in moves_and_draws:
        if step.startswith("draw "):
            for tile in step.split()[1:]:
                table.draw(tile)
        else:
            table.play(step)
    return table


def refusal(at: axio.Position, move: str) -> axio.Reason:
    """Return the reason why a move is illegal."""
    with pytest.raises(axio.IllegalMove) as caught:
        at.action_of(move)
    assert axio.Move.parse(move) not in at.legal_moves()
    return caught.value.reason


def points(at: axio.Position, move: str) -> int:
    """Return the points of a legal placement."""
    return at.gain(move).get("points", 0)


def kinds_of_move(at: axio.Position) -> set[str]:
    """Return the kinds of legal moves: place, exchange, pass."""
    return {move.kind for move in at.legal_moves()}


def in_nooks(
    hands: Sequence[str],
    bag: str = "",
    *,
    nooks: Sequence[str] = (LOW, HIGH),
    walls: Sequence[str] = (*LOW_WALLS, *HIGH_WALLS),
    options: str = "-",
    exchanges: int = 0,
) -> axio.Position:
    """Return a position with room in the nooks only, with these hands and only these tiles in the bag."""
    spare = [tile for tiles in (*hands, bag) for tile in tiles.split()]
    laid = filled(walls, nooks, spare)
    return position(laid, hands, bag=bag.split(), options=options, exchanges=exchanges)


def board_file() -> list[str]:
    """Return the rows of the packaged map."""
    return (resources.files("axiogames.games.trio") / "board.txt").read_text(encoding="utf-8").split()


def exchanges(at: axio.Position) -> set[str]:
    """Return the sets of tiles of legal exchanges."""
    return {" ".join(move.tiles) for move in at.legal_moves() if move.kind == "exchange"}


def ranks(*scores: int) -> tuple[int, ...]:
    """Return the ranks in a finished game with these scores."""
    end = position([], [""] * len(scores), scores=scores, over=True)
    assert end.result is not None
    assert end.result.winners == tuple(seat for seat, at in enumerate(end.result.place) if at == 1)
    return end.result.place


def short_table(removed: list[str], *hands: str) -> axio.Table:
    """Return a table of a short game with these removed tiles and these hands."""
    table = axio.Table(find_variant("trio", len(hands), {"short": True}))
    for tile in (*removed, *(tile for hand in hands for tile in hand.split())):
        table.draw(tile)
    return table
