"""What holds in every state that a game of AXIO rota can reach. The numbers in brackets are its rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..invariants import Snapshot, layout_violations, rebuilt_violations, shared_violations
from ..runtime.state import DRAW, OVER, PLACE, START
from .rules import FREE, TURNS
from .setup import MIDDLE

if TYPE_CHECKING:
    from ..variant import State
    from .variant import RotaVariant

DERIVED = ("n_edge", "edge", "grid", "low_x", "low_y")
DISPLAY = 4  # tiles of the opening display
# From the lower left corner of a position to its corners, clockwise from the top left.
CORNERS = ((0, 1), (1, 1), (1, 0), (0, 0))


def layout(variant: RotaVariant, state: State) -> Iterator[str]:
    """What is wrong with the fields by themselves, and with what is kept up to date beside the board."""
    yield from layout_violations(variant, state)
    grid = state["grid"][0]
    lying = grid[(grid != 0) & (grid != FREE)]
    if len(lying) > len(variant.kinds) or (lying > len(variant.kinds) * TURNS).any():
        yield "the display has tiles that do not exist"
    yield from rebuilt_violations(variant, state, DERIVED)


def violations(variant: RotaVariant, state: State) -> Iterator[str]:
    """What no sequence of moves leads to."""
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
    """Each tile lies once, and those of the opening display show an empty corner inside only (2)."""
    off, lying = now.off_the_board(), dict[str, str]()
    for laid in variant.display(state):
        lying[laid.at[0]] = laid.letters
        if off[variant.ways[laid.letters][0]]:
            yield f"the tile {laid.letters} lies in the display and is somewhere else, too"
    if now.removed_unseen:
        yield f"{now.removed_unseen} tiles are neither in the stacks nor in a hand"
    total = sum(off.values()) + len(lying)
    if total != len(variant.kinds):
        yield f"{total} tiles in all, there are {len(variant.kinds)}"
    first = variant.start_places[: DISPLAY - now.due if now.phase == START else DISPLAY]
    if now.phase == START and set(lying) != set(first):
        yield f"{now.due} tiles of the opening display are due, so it should have {' '.join(first) or 'none'}"
    for at, corner in zip(first, MIDDLE, strict=False):
        if at not in lying:
            yield f"nothing lies on {at}, which is a position of the opening display"
        elif "_" in lying[at] and lying[at][corner] != "_":
            yield f"the empty corner of {lying[at]} on {at} should face the middle of the opening display"


def _supplies(variant: RotaVariant, state: State, now: Snapshot) -> Iterator[str]:
    """Stacks and the supply hold the tiles that nobody has drawn (1)."""
    stacks, supply = state["stack"][0].tolist(), int(state["supply"][0])
    if any(stacks[variant.players :]) or max(stacks) > variant.stack:
        yield f"there are {variant.players} stacks of at most {variant.stack} tiles"
    to_lay = now.due if now.phase == START else 0
    if supply < 0 or supply + sum(stacks) + to_lay != now.in_bag:
        yield "the supply and the stacks do not add up to the tiles that are left to draw"
    if supply > variant.supply:
        yield f"the supply has {supply} tiles, it starts with {variant.supply}"


def _deal(variant: RotaVariant, state: State, now: Snapshot) -> Iterator[str]:
    """Each seat draws a first tile from its stack; nothing else has happened (2)."""
    stacks = tuple(state["stack"][0, : variant.players].tolist())
    wanted = tuple(variant.stack - (seat < now.seat) for seat in range(variant.players))
    if stacks != wanted or state["supply"][0] != variant.supply:
        yield "during the deal, only the seats that have a tile have drawn one from their stacks"
    if state["extra"][0] or state["from_supply"][0]:
        yield "there are no extra turns before everybody has a tile"


def _turn(variant: RotaVariant, state: State, now: Snapshot) -> Iterator[str]:
    """Every turn takes one tile of the seat's own; extra turns take tiles of the supply (6)."""
    stacks, seat, supply = state["stack"][0].tolist(), now.seat, int(state["supply"][0])
    extra, from_supply = int(state["extra"][0]), bool(state["from_supply"][0])
    # The tiles that each seat had before its turn: seats that have had theirs in this round have one less.
    own = [stacks[n] + held for n, held in enumerate(now.held)]
    own[seat] += now.phase == DRAW or (now.phase == OVER and _won(variant, now, seat))
    if own != [own[seat] - (n < seat) for n in range(variant.players)]:
        yield f"it cannot be the turn of seat {seat} with the tiles that are left to the seats"
    for n, held in enumerate(now.held):
        if not held and (now.phase == PLACE if n == seat else stacks[n]):
            yield f"seat {n} has no tile to place"
    if now.phase == DRAW and (now.hand or now.due != 1):
        yield f"{now.due} tiles are due to seat {seat}, which has room for {1 - len(now.hand)}"
    if now.phase == DRAW and not from_supply and not stacks[seat]:
        yield f"a tile is due from the stack of seat {seat}, which is empty"
    if from_supply and (now.phase != DRAW or not supply):
        yield "`from_supply` is set, but no tile is due from the supply"
    if extra < 0 or (extra and now.phase == DRAW and not from_supply):
        yield f"`extra` is {extra}, but a seat that draws from its stack has no extra turn left"
    # A seat wins an extra turn by each colour that reaches the cap.
    won = [now.capped(n, variant.cap) for n in range(variant.players)]
    taken = variant.supply - supply + from_supply
    if taken + extra > sum(won):
        yield f"{taken + extra} extra turns, but the seats have won {sum(won)}"
    in_extra_turn = from_supply or (now.phase == PLACE and extra > 0)
    if extra + in_extra_turn > won[seat] or (in_extra_turn and not taken):
        yield f"`extra` is {extra}, but seat {seat} has won {won[seat]} extra turns"


def _won(variant: RotaVariant, now: Snapshot, seat: int) -> bool:
    return now.capped(seat, variant.cap) == len(variant.colours)


def _end(variant: RotaVariant, state: State, now: Snapshot) -> Iterator[str]:
    """The game ends with all colours at the cap, or when all stacks have been placed (7)."""
    for seat in range(variant.players):
        if _won(variant, now, seat) and (now.phase != OVER or seat != now.seat):
            yield f"seat {seat} has won, so the game should have ended with its turn"
    if now.phase != OVER:
        return
    if now.due or now.hand or state["from_supply"][0]:
        yield "the game is over, but something is still to be done"
    if not _won(variant, now, now.seat) and (any(now.held) or state["stack"][0].any()):
        yield "the game is over, but nobody has won and there are tiles to place"


def _scores(variant: RotaVariant, state: State, now: Snapshot) -> Iterator[str]:
    """Nobody has points that the display cannot have given (4, 5)."""
    most = most_points(variant, state)
    for number, colour in enumerate(variant.colours):
        points = sum(row[number] for row in now.scores)
        if points > most[colour]:
            yield f"{points} points in {colour}, but the display can have given at most {most[colour]}"


def most_points(variant: RotaVariant, state: State) -> Counter[str]:
    """Return by colour how many points a display can have given to those who have added tiles.

    Where corners meet, each pair of one colour has scored once at most, and each empty corner that was named
    may have scored all of a colour. The opening display scores nothing.
    """
    meeting: dict[tuple[int, int], list[tuple[str, bool]]] = {}
    for laid in variant.display(state):
        x, y = (int(part) for part in laid.at[0].split(","))
        given = laid.at[0] in variant.start_places
        for letter, (dx, dy) in zip(laid.letters, CORNERS, strict=True):
            meeting.setdefault((x + dx, y + dy), []).append((letter, given))
    most: Counter[str] = Counter()
    for corners in meeting.values():
        for n, (letter, given) in enumerate(corners):
            for other, other_given in corners[:n]:
                if given and other_given:
                    continue
                if letter == other or other == "_":
                    most[letter] += 1
                elif letter == "_":
                    most[other] += 1
    del most["_"]
    return most
