"""The rules, over constants `c` and a state `s`. Numbers in parentheses refer to the rules page."""

from __future__ import annotations

from axiogames.errors import GAME_OVER, NOT_IN_HAND, OCCUPIED, OK
from axiogames.games.runtime.compile import rule
from axiogames.games.runtime.hands import draw_to_hand, find_in_hand, remove_from_hand
from axiogames.games.runtime.state import DRAW, OVER, PLACE

from .setup import EMPTY, HAND

# Numba infers the types of rule code.
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs


@rule
def is_free(c, s, slot):
    """Return whether both cells of a slot are empty."""
    return s.cells[c.slots[slot, 0]] == EMPTY and s.cells[c.slots[slot, 1]] == EMPTY


@rule
def has_room(c, s):
    """Return whether any slot is free."""
    for slot in range(len(c.slots)):
        if is_free(c, s, slot):
            return True
    return False


@rule
def refusal(c, s, action):
    """Return the reason why an action is illegal for the seat to move, `OK` if it is legal (2)."""
    if s.phase == OVER:
        return GAME_OVER
    slot, way = action // len(c.ways), action % len(c.ways)
    if not is_free(c, s, slot):
        return OCCUPIED
    if find_in_hand(s, s.seat, c.kind_of[way]) < 0:
        return NOT_IN_HAND
    return OK


@rule
def score(c, s, action):
    """Write the points of a placement by colour into `s.gain`: one for each equal neighbour of a half (3)."""
    slot, way = action // len(c.ways), action % len(c.ways)
    for colour in range(len(s.gain)):
        s.gain[colour] = 0
    for half in range(2):
        colour = c.ways[way, half]
        for d in range(c.near.shape[1]):
            s.gain[colour] += s.cells[c.near[c.slots[slot, half], d]] == colour


@rule
def apply(c, s, action):
    """Apply a legal action or a chance outcome, up to the next decision or draw."""
    if s.phase == DRAW:
        draw(c, s, action)
    else:
        place(c, s, action)


@rule
def place(c, s, action):
    """Place and score a tile, then draw one if the bag is not empty (2-4)."""
    score(c, s, action)
    slot, way = action // len(c.ways), action % len(c.ways)
    remove_from_hand(s, s.seat, c.kind_of[way])
    for half in range(2):
        s.cells[c.slots[slot, half]] = c.ways[way, half]
    for colour in range(len(s.gain)):
        s.scores[s.seat, colour] += s.gain[colour]
    if s.in_bag > 0:
        s.due = 1
        s.phase = DRAW
    else:
        next_turn(c, s)


@rule
def draw(c, s, kind):
    """Move a drawn tile to the hand; after the last one, deal to the next seat or start its turn (1, 4)."""
    draw_to_hand(s, s.seat, kind)
    s.due -= 1
    if s.due == 0:
        if s.dealing > 1:
            s.seat += 1
            s.due = HAND
        else:
            next_turn(c, s)
        s.dealing = max(s.dealing - 1, 0)


@rule
def next_turn(c, s):
    """Start the turn of the next seat, or end the game if it has no tile or no slot is free (5)."""
    s.seat = (s.seat + 1) % c.players
    s.phase = PLACE if s.held[s.seat] > 0 and has_room(c, s) else OVER


@rule
def observe_board(c, s, places, out):
    """Write one-hot planes: one for each colour, then empty cells."""
    area = len(places)
    for cell in range(area):
        colour = s.cells[cell]
        plane = colour if colour >= 0 else len(s.gain)
        out[plane * area + places[cell]] = 1
