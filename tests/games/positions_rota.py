"""Positions and tables for the rule tests of rota, with displays written as pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

import axiogames as axio
from axiogames.games import find_variant
from axiogames.model.position_text import parse_unchecked
from tests.games.playing import table_at

COLOURS = "RGBOP"
Display = dict[tuple[int, int], str]

# Four tiles without an empty corner, a possible opening display. Corners that a fifth tile can meet:
#
#   on the left             above               on the right          below
#   of 0,1: B               of 0,1: B           of 1,1: B             of 0,0: R
#   in the middle: P and B  in the middle: O G  in the middle: R R    in the middle: O G
#   of 0,0: R               of 1,1: B           of 1,0: B             of 1,0: B
START = """
    BO GB
    PG OR

    BP OR
    RO GB
"""

# On 2,0, to the right of START: 2 red (adjacent and diagonal) and 1 blue.
TWO_RED_ONE_BLUE = "ROPB 2,0"
# On 1,2, above START: 1 green and 1 blue.
ONE_GREEN_ONE_BLUE = "OPBG 1,2"
# On -1,1: no points, because green and red on its right meet only blue and purple.
NOTHING = "OGRP -1,1"

# Eight tiles around a hole at 1,2, each of whose corners completes a circle.
RING = """
    GB OP RO
    PR RG GB

    PR .. GO
    GO .. BR

    BO OB BR
    PR GP GO

    BG RP ..
    PR GO ..
"""

SQUARES = ("0,0", "1,0", "0,1", "1,1")
# Index of the letter, clockwise from the top left, that faces the middle of the opening display.
INWARD = {"0,0": 1, "1,0": 0, "0,1": 2, "1,1": 3}
OPENING = {"0,0": "BPOR", "1,0": "ORBG", "0,1": "BOGP", "1,1": "GBRO"}

DIRECTIONS = {"right": (1, 0), "left": (-1, 0), "up": (0, 1), "down": (0, -1)}
ALL_BUT_RED = {"R": 11, "G": 12, "B": 12, "O": 12, "P": 12}


def tiles() -> list[str]:
    """Return the tiles of the game."""
    return [tile for tile, count in find_variant("rota", 2).tileset.items() for _ in range(count)]


def shown(picture: str, lower_left: tuple[int, int] = (0, 0)) -> Display:
    """Return the tiles of a picture by position, with letters clockwise from the top left.

    A tile takes two letters in each of two lines. `_` is an empty corner and `..` no tile.
    """
    lines = [line.split() for line in picture.splitlines() if line.strip()]
    rows = list(zip(lines[::2], lines[1::2], strict=True))
    left, low = lower_left
    return {
        (left + column, low + row): above + below[::-1]
        for row, (top, bottom) in enumerate(reversed(rows))
        for column, (above, below) in enumerate(zip(top, bottom, strict=True))
        if above != ".."
    }


def same_tile(letters: str) -> str:
    """Return a canonical spelling for all rotations of a tile."""
    return min(letters[n:] + letters[:n] for n in range(4))


def position(
    display: str | Display,
    hands: Sequence[str],
    *,
    scores: Sequence[Mapping[str, int]] = (),
    stacks: Sequence[int] = (),
    supply: int | None = None,
    keep: Sequence[str] = (),
    seat: int = 0,
    over: bool = False,
) -> axio.Position:
    """Return a position with these tiles in the display and in the hands (`-` for none).

    Args:
        display: Picture, or tiles by position.
        hands: Tile of each seat.
        scores: Scores of the seats, 0 by default.
        stacks: Sizes of the stacks, 11 by default.
        supply: Size of the supply; by default all remaining tiles. With a smaller one, the other tiles form a
            line to the left of the display.
        keep: Tiles that must not be in that line.
        seat: Seat to move.
        over: Whether the game is over.
    """
    display = dict(shown(display) if isinstance(display, str) else display)
    players = len(hands)
    variant = find_variant("rota", players)
    stacks = stacks or [11] * players
    used = {same_tile(tile) for tile in (*display.values(), *hands) if tile != "-"}
    kept = {same_tile(tile) for tile in keep}
    rest = sorted(variant.kinds, key=lambda tile: same_tile(tile) in kept)
    rest = [tile for tile in rest if same_tile(tile) not in used]
    if supply is None:
        supply = len(rest) - sum(stacks)
    away, bag = rest[: len(rest) - sum(stacks) - supply], rest[len(rest) - sum(stacks) - supply :]
    display |= {(-1 - n, 0): tile for n, tile in enumerate(away)}
    points = [dict.fromkeys(COLOURS, 0) | dict(row) for row in scores or [{}] * players]
    fields = {
        "board": ";".join(f"{x},{y}:{tile}" for (x, y), tile in display.items()),
        "hands": ";".join(hands),
        "bag": ",".join(f"{tile}1" for tile in bag) or "-",
        "scores": ";".join(",".join(str(row[colour]) for colour in COLOURS) for row in points),
        "seat": str(seat),
        "phase": "over" if over else "place",
        "due": "0",
        "extra": "0",
        "dealing": "0",
        "from_supply": "0",
        "supply": str(supply),
        "stack": ",".join(str(n) for n in (*stacks, 0, 0, 0)[:4]),
    }
    return axio.Position(
        *parse_unchecked(f"rota {players} - " + " ".join(f"{k}={v}" for k, v in fields.items()))
    )


def after(start: axio.Position, *moves_and_draws: str) -> axio.Table:
    """Return a table after placements (`ROPB 2,0`) and draws (`ROPB`)."""
    table = table_at(start)
    for step in moves_and_draws:
        if " " in step:
            table.play(step)
        else:
            table.draw(step)
    return table


def turns_left(table: axio.Table) -> tuple[int | None, int, tuple[int, ...]]:
    """Return the seat to move, the size of the supply and the sizes of the stacks."""
    return table.turn, supply(table), stacks(table)


def refusal(at: axio.Position, move: str) -> axio.Reason:
    """Return the reason why a move is illegal."""
    with pytest.raises(axio.IllegalMove) as caught:
        at.action_of(move)
    assert axio.Move.parse(move) not in at.legal_moves()
    return caught.value.reason


def field(at: axio.Position, name: str) -> str:
    """Return a field of the position text."""
    return dict(word.partition("=")[::2] for word in at.position.split())[name]


def supply(at: axio.Position) -> int:
    """Return the number of tiles in the supply."""
    return int(field(at, "supply"))


def stacks(at: axio.Position) -> tuple[int, ...]:
    """Return the number of tiles in each stack."""
    return tuple(int(n) for n in field(at, "stack").split(","))[: at.players]


def display_of(at: axio.Position) -> Display:
    """Return the display of a position."""
    tiles = (item.split(":") for item in field(at, "board").split(";"))
    return {(int(x), int(y)): letters for at_, letters in tiles for x, y in [at_.split(",")]}


def open_places(at: axio.Position) -> set[str]:
    """Return the positions of legal placements."""
    return {move.at[0] for move in at.legal_moves()}


def ranks(*rows: str) -> tuple[int, ...]:
    """Return the ranks in a finished game with these scores in R, G, B, O and P."""
    scores = [dict(zip(COLOURS, map(int, row.split()), strict=True)) for row in rows]
    end = position(START, ["-"] * len(rows), scores=scores, stacks=[0] * len(rows), over=True)
    assert end.result is not None
    assert end.result.winners == tuple(seat for seat, at in enumerate(end.result.place) if at == 1)
    return end.result.place
