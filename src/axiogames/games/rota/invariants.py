"""Invariants of the states of AXIO rota. Numbers in parentheses refer to its rules page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..invariants import Snapshot, layout_violations, rebuilt_violations, shared_violations
from ..runtime.state import DRAW, OVER, PLACE, START
from .rules import FREE, ROTATIONS
from .setup import MIDDLE

if TYPE_CHECKING:
    from ..variant import State
    from .variant import RotaVariant

DERIVED = ("n_edge", "edge", "grid", "low_x", "low_y")
DISPLAY = 4  # tiles of the opening display
# From the lower left corner of a position to its corners, clockwise from the top left.
CORNERS = ((0, 1), (1, 1), (1, 0), (0, 0))


def layout(variant: RotaVariant, state: State) -> Iterator[str]:
    """Yield errors of single fields and of fields derived from the display."""
    yield from layout_violations(variant, state)
    grid = state["grid"][0]
    codes = grid[(grid != 0) & (grid != FREE)]
    if len(codes) > len(variant.kinds) or (codes > len(variant.kinds) * ROTATIONS).any():
        yield "the display has tiles that do not exist"
    yield from rebuilt_violations(variant, state, DERIVED)


def violations(variant: RotaVariant, state: State) -> Iterator[str]:
    """Yield the reasons why no sequence of moves leads to a state."""
    now = Snapshot.of(variant, state)
    yield from shared_violations(variant, now, (OVER, PLACE, DRAW, START))
    yield from _display(variant, state, now)
    yield from _supplies(variant, state, now)
    yield from _scores(variant, state, now)
    if now.dealing:
        yield from _deal(variant, state, now)
    else:
        yield from _turn(variant, state, now)
        yield from _end(variant, state, now)


def _display(variant: RotaVariant, state: State, now: Snapshot) -> Iterator[str]:
    """Check that each tile occurs once, and that empty corners in the opening display face its middle (2)."""
    off, display = now.off_the_board(), dict[str, str]()
    for placed in variant.display(state):
        display[placed.at[0]] = placed.letters
        if off[variant.ways[placed.letters][0]]:
            yield f"the tile {placed.letters} is in the display and also in a hand or a stack"
    if now.removed_unseen:
        yield f"{now.removed_unseen} tiles are neither in the stacks nor in a hand"
    total = sum(off.values()) + len(display)
    if total != len(variant.kinds):
        yield f"the state has {total} tiles, not {len(variant.kinds)}"
    start = variant.start_places[: DISPLAY - now.due if now.phase == START else DISPLAY]
    if now.phase == START and set(display) != set(start):
        yield f"the opening display must consist of {' '.join(start) or 'no tiles'} with {now.due} tiles due"
    for at, corner in zip(start, MIDDLE, strict=False):
        if at not in display:
            yield f"the position {at} of the opening display is empty"
        elif "_" in display[at] and display[at][corner] != "_":
            yield f"the empty corner of {display[at]} on {at} must face the middle of the opening display"


def _supplies(variant: RotaVariant, state: State, now: Snapshot) -> Iterator[str]:
    """Check that the stacks and the supply hold the tiles that have not been drawn (1)."""
    stacks, supply = state["stack"][0].tolist(), int(state["supply"][0])
    if any(stacks[variant.players :]) or max(stacks) > variant.stack:
        yield f"the stacks have {stacks} tiles; {variant.players} seats have at most {variant.stack} each"
    to_lay = now.due if now.phase == START else 0
    if supply < 0 or supply + sum(stacks) + to_lay != now.in_bag:
        yield f"the supply and the stacks do not add up to the {now.in_bag} tiles left to draw"
    if supply > variant.supply:
        yield f"the supply has {supply} tiles, more than the {variant.supply} at the start"


def _deal(variant: RotaVariant, state: State, now: Snapshot) -> Iterator[str]:
    """Check that each seat draws a first tile from its stack, and that nothing else has happened (2)."""
    stacks = tuple(state["stack"][0, : variant.players].tolist())
    expected = tuple(variant.stack - (seat < now.seat) for seat in range(variant.players))
    if stacks != expected or state["supply"][0] != variant.supply:
        yield f"the stacks have {stacks} tiles; at this point of the deal {expected}"
    if state["extra"][0] or state["from_supply"][0]:
        yield "a seat has an extra turn before the deal is complete"


def _turn(variant: RotaVariant, state: State, now: Snapshot) -> Iterator[str]:
    """Check that turns use one tile of the seat's stack each, and extra turns tiles of the supply (6)."""
    stacks, seat, supply = state["stack"][0].tolist(), now.seat, int(state["supply"][0])
    extra, from_supply = int(state["extra"][0]), bool(state["from_supply"][0])
    # Tiles of each seat before its turn. Seats that have already played in this round have one less.
    own = [stacks[n] + held for n, held in enumerate(now.held)]
    own[seat] += now.phase == DRAW or (now.phase == OVER and _won(variant, now, seat))
    if own != [own[seat] - (n < seat) for n in range(variant.players)]:
        yield f"it cannot be the turn of seat {seat}: the numbers of tiles left to the seats do not match"
    for n, held in enumerate(now.held):
        if not held and (now.phase == PLACE if n == seat else stacks[n]):
            yield f"seat {n} has no tile to place"
    if now.phase == DRAW and (now.hand or now.due != 1):
        yield f"`due` is {now.due}; the hand of seat {seat} has room for {1 - len(now.hand)}"
    if now.phase == DRAW and not from_supply and not stacks[seat]:
        yield f"seat {seat} is to draw from its stack, which is empty"
    if from_supply and (now.phase != DRAW or not supply):
        yield "`from_supply` is set, but no tile is due from the supply"
    if extra < 0 or (extra and now.phase == DRAW and not from_supply):
        yield f"`extra` is {extra}; a seat that draws from its stack has no extra turn left"
    # Each colour that reaches the cap wins an extra turn.
    won = [now.capped(n, variant.cap) for n in range(variant.players)]
    taken = variant.supply - supply + from_supply
    if taken + extra > sum(won):
        yield f"the seats have taken or have left {taken + extra} extra turns, but won {sum(won)}"
    in_extra_turn = from_supply or (now.phase == PLACE and extra > 0)
    if extra + in_extra_turn > won[seat] or (in_extra_turn and not taken):
        yield f"`extra` is {extra}; seat {seat} has won {won[seat]} extra turns"


def _won(variant: RotaVariant, now: Snapshot, seat: int) -> bool:
    return now.capped(seat, variant.cap) == len(variant.colours)


def _end(variant: RotaVariant, state: State, now: Snapshot) -> Iterator[str]:
    """Check the end: all colours at the cap, or all stacks have been placed (7)."""
    for seat in range(variant.players):
        if _won(variant, now, seat) and (now.phase != OVER or seat != now.seat):
            yield f"seat {seat} has won, so the game must be over"
    if now.phase != OVER:
        return
    if now.due or now.hand or state["from_supply"][0]:
        yield "the game is over, but the seat to move has a tile or is to draw one"
    if not _won(variant, now, now.seat) and (any(now.held) or state["stack"][0].any()):
        yield "the game is over, but nobody has won and there are tiles to place"


def _scores(variant: RotaVariant, state: State, now: Snapshot) -> Iterator[str]:
    """Check that the display can have given all points (4, 5)."""
    limits = max_points(variant, state)
    for index, colour in enumerate(variant.colours):
        points = sum(row[index] for row in now.scores)
        if points > limits[colour]:
            yield f"the scores have {points} points in {colour}; the display gives at most {limits[colour]}"


def max_points(variant: RotaVariant, state: State) -> Counter[str]:
    """Return the maximum points by colour that a display can have given.

    In each circle, every pair of corners of one colour has scored at most once, and an empty corner may have
    scored all corners of the colour that was named for it. The opening display scores nothing.
    """
    circles: dict[tuple[int, int], list[tuple[str, bool]]] = {}
    for placed in variant.display(state):
        x, y = (int(part) for part in placed.at[0].split(","))
        opening = placed.at[0] in variant.start_places
        for letter, (dx, dy) in zip(placed.letters, CORNERS, strict=True):
            circles.setdefault((x + dx, y + dy), []).append((letter, opening))
    limits: Counter[str] = Counter()
    for corners in circles.values():
        for n, (letter, opening) in enumerate(corners):
            for earlier, earlier_opening in corners[:n]:
                if opening and earlier_opening:
                    continue
                if letter == earlier or earlier == "_":
                    limits[letter] += 1
                elif letter == "_":
                    limits[earlier] += 1
    del limits["_"]
    return limits
