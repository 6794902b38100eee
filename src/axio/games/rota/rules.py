"""The rules of the game with four corners on a tile, over a table record `t` and a state record `s`.

The display grows without bounds but never holds more than 60 connected tiles. So it lies on a torus
of 64 by 64 squares: with the free squares around it, no display is wide enough to meet itself. A
square holds the turned tile that lies there (its number from 1 on), `FREE` where a tile may be
added, and 0 elsewhere. `s.edge` lists the free squares in ascending order.
"""

from __future__ import annotations

import numpy as np

from ...engine.compile import rule, seldom
from ...engine.hands import give, take
from ...engine.lots import below, drawn
from ...engine.phases import DRAW, OVER, PLACE, START
from ...reasons import GAME_OVER, NOT_BESIDE_DISPLAY, NOTHING_TO_NAME, OCCUPIED, OK

SIDE = 64
FREE = 255
BLANK = 255  # a corner without a symbol
NAMES = 6  # naming nothing, or one of five colours
TURNS = 4


@rule
def square(x, y):
    """The number of a position's square on the torus."""
    return (np.int64(y) & (SIDE - 1)) * SIDE + (np.int64(x) & (SIDE - 1))


@rule
def beside(at, dx, dy):
    """The square that lies (dx, dy) from a square."""
    return square((at & (SIDE - 1)) + dx, at // SIDE + dy)


@rule
def unwrap(low, place):
    """The coordinate for a column or row of the torus, when the display's lowest one is `low`."""
    return low - 1 + ((place - low + 1) & (SIDE - 1))


@rule
def encode(at, turn, name):
    """The action that puts the hand's tile on a square, turned so often, naming colour `name` - 1."""
    return (np.int64(at) * TURNS + turn) * NAMES + name


@rule
def decode(action):
    """Square, turn and name of a placement."""
    rest, name = action // NAMES, action % NAMES
    return rest // TURNS, rest % TURNS, name


@rule
def turned(kind, turn):
    """The number of a tile that lies turned clockwise so often."""
    return np.int64(kind) * TURNS + turn + 1


# ---------------------------------------------------------------- what may be done


@rule
def names(t, s):
    """How many ways to name there are for the tile in hand: only an empty corner can be named (5)."""
    return NAMES if t.has_blank[s.hands[s.seat, 0]] else 1


@rule
def refusal(t, s, action):
    """Why the seat to move may not do this, `OK` if it may."""
    if s.phase == OVER:
        return GAME_OVER
    at, _, name = decode(action)
    if s.grid[at] == 0:
        return NOT_BESIDE_DISPLAY
    if s.grid[at] != FREE:
        return OCCUPIED
    if name >= names(t, s):
        return NOTHING_TO_NAME
    return OK


@rule
def legal(t, s, out):
    """Write all legal actions in ascending order; how many there are."""
    n = 0
    if s.phase == PLACE:
        for i in range(s.n_edge):
            for turn in range(TURNS):
                for name in range(names(t, s)):
                    out[n] = encode(s.edge[i], turn, name)
                    n += 1
    return n


@rule
def pick(t, s, rng):
    """One of the legal actions, each as likely as any other, without listing them."""
    return encode(s.edge[below(rng, s.n_edge)], below(rng, TURNS), below(rng, names(t, s)))


@rule
def lot(t, s, rng):
    """What chance does: any unseen tile; in the opening display in a random rotation, a blank inside (2)."""
    kind = drawn(s.bag, s.unseen, rng)
    if s.phase != START:
        return kind
    turn = t.inward[4 - s.due, kind] if t.has_blank[kind] else below(rng, TURNS)
    return kind * TURNS + turn


# ---------------------------------------------------------------- what it leads to


@rule
def apply(t, s, action):
    """Carry out a legal action, or what chance drew, up to the next decision or draw."""
    if s.phase == PLACE:
        place(t, s, action)
    elif s.phase == DRAW:
        draw(t, s, action)
    else:
        start(t, s, action)


@rule
def lies_at(t, s, at, corner, k):
    """The colour of the k-th other corner in the circle around a corner of a square, `BLANK` for none."""
    tile = s.grid[beside(at, t.circle[corner, k, 0], t.circle[corner, k, 1])]
    return t.corners[tile, t.circle[corner, k, 2]]


@rule
def rate(t, s, action):
    """Write what a placement would score on the track, by colour, into `s.gain` (4, 5, 6)."""
    for colour in range(len(s.gain)):
        s.gain[colour] = 0
    at, turn, name = decode(action)
    tile = turned(s.hands[s.seat, 0], turn)
    for corner in range(4):
        colour = t.corners[tile, corner]
        if colour == BLANK:
            if name == 0:
                continue
            colour = np.uint8(name - 1)
        points = 0
        for k in range(3):
            points += lies_at(t, s, at, corner, k) == colour
        s.gain[colour] = min(s.gain[colour] + points, t.cap - s.scores[s.seat, colour])


@rule
def place(t, s, action):
    """Place and score the tile in hand; then an extra turn from the supply, or the turn's end."""
    rate(t, s, action)
    at, turn, _ = decode(action)
    kind = s.hands[s.seat, 0]
    give(s, s.seat, kind)
    lay(t, s, at, turned(kind, turn))
    full = 0
    for colour in range(len(s.gain)):
        s.scores[s.seat, colour] += s.gain[colour]
        if s.scores[s.seat, colour] == t.cap:
            full += 1
            if s.gain[colour] > 0:
                s.extra += 1
    if full == len(s.gain):
        s.phase = OVER
    elif s.extra > 0 and s.supply > 0:
        s.extra -= 1
        s.from_supply = 1
        s.due = 1
        s.phase = DRAW
    else:
        s.extra = 0
        if s.stack[s.seat] > 0:
            s.due = 1
            s.phase = DRAW
        else:
            next_turn(t, s)


@rule
def draw(t, s, kind):
    """The tile for an extra turn is played at once; one from the stack ends the turn (6)."""
    take(s, s.seat, kind)
    s.due = 0
    if s.from_supply:
        s.from_supply = 0
        s.supply -= 1
        s.phase = PLACE
    else:
        s.stack[s.seat] -= 1
        if s.dealing > 1:
            s.due = 1
            s.seat += 1
        else:
            next_turn(t, s)
        s.dealing = max(s.dealing - 1, 0)


@rule
def next_turn(t, s):
    """The next seat takes its turn; without a tile it has placed its stack, and so has everybody (7)."""
    s.seat = (s.seat + 1) % t.players
    s.phase = PLACE if s.held[s.seat] > 0 else OVER


@seldom
def start(t, s, action):
    """Lay the next tile of the opening display; after the fourth the seats draw from their stacks (2)."""
    kind, turn = action // TURNS, action % TURNS
    s.bag[kind] -= 1
    s.in_bag -= 1
    s.unseen -= 1
    n = 4 - s.due
    lay(t, s, square(n % 2, n // 2), turned(kind, turn))
    s.due -= 1
    if s.due == 0:
        s.due = 1
        s.phase = DRAW


@rule
def lay(t, s, at, tile):
    """Put a turned tile on a square and bring the free squares around the display up to date."""
    if s.grid[at] == FREE:
        i = 0
        while s.edge[i] != at:
            i += 1
        s.n_edge -= 1
        while i < s.n_edge:
            s.edge[i] = s.edge[i + 1]
            i += 1
        s.edge[s.n_edge] = 0
    s.grid[at] = tile
    s.low_x = min(s.low_x, unwrap(s.low_x, at & (SIDE - 1)))
    s.low_y = min(s.low_y, unwrap(s.low_y, at // SIDE))
    for d in range(4):
        around = beside(at, t.sides[d, 0], t.sides[d, 1])
        if s.grid[around] == 0:
            s.grid[around] = FREE
            i = s.n_edge
            while i > 0 and s.edge[i - 1] > around:
                s.edge[i] = s.edge[i - 1]
                i -= 1
            s.edge[i] = around
            s.n_edge += 1
