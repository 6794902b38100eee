"""The rules of the game with four corners on a tile, over a table record `c` and a state record `s`.

The display grows without bounds but never holds more than 60 connected tiles. So it lies on a torus
of 64 by 64 squares: with the free squares around it, no display is wide enough to meet itself. A
square holds the turned tile that lies there (its number from 1 on), `FREE` where a tile may be
added, and 0 elsewhere. `s.edge` lists the free squares in ascending order; an action names one by
its rank there.
"""

from __future__ import annotations

import numpy as np

from ...errors import GAME_OVER, NOT_IN_THIS_GAME, NOTHING_TO_NAME, OK
from ..runtime.compile import rule, rule_noinline
from ..runtime.hands import draw_to_hand, remove_from_hand
from ..runtime.state import DRAW, OVER, PLACE, START
from ..runtime.xorshift import randint, sample_tile

SIDE = 64
FREE = 255
BLANK = 255  # a corner without a symbol
NAMES = 6  # naming nothing, or one of five colours
TURNS = 4
WAYS = TURNS * NAMES
MAX_FREE = 128  # a connected display of 60 tiles has at most 122 free squares around it
ACTIONS = MAX_FREE * WAYS


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
def encode(k, turn, name):
    """The action that puts the hand's tile on the k-th free square, turned and naming colour `name` - 1."""
    return (np.int64(k) * TURNS + turn) * NAMES + name


@rule
def decode(action):
    """Rank of the free square, turn and name of a placement."""
    rest, name = action // NAMES, action % NAMES
    return rest // TURNS, rest % TURNS, name


@rule
def turned(kind, turn):
    """The number of a tile that lies turned clockwise so often."""
    return np.int64(kind) * TURNS + turn + 1


# ---------------------------------------------------------------- what may be done


@rule
def names(c, s):
    """How many ways to name there are for the tile in hand: only an empty corner can be named (5)."""
    return NAMES if c.has_blank[s.hands[s.seat, 0]] else 1


@rule
def refusal(c, s, action):
    """Why the seat to move may not do this, `OK` if it may."""
    if s.phase == OVER:
        return GAME_OVER
    k, _, name = decode(action)
    if k >= s.n_edge:
        return NOT_IN_THIS_GAME
    if name >= names(c, s):
        return NOTHING_TO_NAME
    return OK


@rule
def legal_actions(c, s, out):
    """Write all legal actions in ascending order; how many there are."""
    n = 0
    if s.phase == PLACE:
        for i in range(s.n_edge):
            for turn in range(TURNS):
                for name in range(names(c, s)):
                    out[n] = encode(i, turn, name)
                    n += 1
    return n


@rule
def sample_legal(c, s, rng):
    """One of the legal actions, each as likely as any other, without listing them."""
    return encode(randint(rng, s.n_edge), randint(rng, TURNS), randint(rng, names(c, s)))


@rule
def sample_chance(c, s, rng):
    """What chance does: any unseen tile; in the opening display in a random rotation, a blank inside (2)."""
    kind = sample_tile(s.bag, s.unseen, rng)
    if s.phase != START:
        return kind
    turn = c.inward[4 - s.due, kind] if c.has_blank[kind] else randint(rng, TURNS)
    return kind * TURNS + turn


# ---------------------------------------------------------------- what it leads to


@rule
def apply(c, s, action):
    """Carry out a legal action, or what chance drew, up to the next decision or draw."""
    if s.phase == PLACE:
        place(c, s, action)
    elif s.phase == DRAW:
        draw(c, s, action)
    else:
        start(c, s, action)


@rule
def lies_at(c, s, at, corner, k):
    """The colour of the k-th other corner in the circle around a corner of a square, `BLANK` for none."""
    tile = s.grid[beside(at, c.circle[corner, k, 0], c.circle[corner, k, 1])]
    return c.corners[tile, c.circle[corner, k, 2]]


@rule
def score(c, s, action):
    """Write what a placement would score on the track, by colour, into `s.gain` (4, 5, 6)."""
    for colour in range(len(s.gain)):
        s.gain[colour] = 0
    k, turn, name = decode(action)
    at = s.edge[k]
    tile = turned(s.hands[s.seat, 0], turn)
    for corner in range(4):
        colour = c.corners[tile, corner]
        if colour == BLANK:
            if name == 0:
                continue
            colour = np.uint8(name - 1)
        points = 0
        for k in range(3):
            points += lies_at(c, s, at, corner, k) == colour
        s.gain[colour] = min(s.gain[colour] + points, c.cap - s.scores[s.seat, colour])


@rule
def place(c, s, action):
    """Place and score the tile in hand; then an extra turn from the supply, or the turn's end."""
    score(c, s, action)
    k, turn, _ = decode(action)
    at = np.int64(s.edge[k])
    kind = s.hands[s.seat, 0]
    remove_from_hand(s, s.seat, kind)
    set_cell(c, s, at, turned(kind, turn))
    full = 0
    for colour in range(len(s.gain)):
        s.scores[s.seat, colour] += s.gain[colour]
        if s.scores[s.seat, colour] == c.cap:
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
            next_turn(c, s)


@rule
def draw(c, s, kind):
    """The tile for an extra turn is played at once; one from the stack ends the turn (6)."""
    draw_to_hand(s, s.seat, kind)
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
            next_turn(c, s)
        s.dealing = max(s.dealing - 1, 0)


@rule
def next_turn(c, s):
    """The next seat takes its turn; without a tile it has placed its stack, and so has everybody (7)."""
    s.seat = (s.seat + 1) % c.players
    s.phase = PLACE if s.held[s.seat] > 0 else OVER


@rule_noinline
def start(c, s, action):
    """Lay the next tile of the opening display; after the fourth the seats draw from their stacks (2)."""
    kind, turn = action // TURNS, action % TURNS
    s.bag[kind] -= 1
    s.in_bag -= 1
    s.unseen -= 1
    n = 4 - s.due
    set_cell(c, s, square(n % 2, n // 2), turned(kind, turn))
    s.due -= 1
    if s.due == 0:
        s.due = 1
        s.phase = DRAW


@rule
def set_cell(c, s, at, tile):
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
        around = beside(at, c.sides[d, 0], c.sides[d, 1])
        if s.grid[around] == 0:
            s.grid[around] = FREE
            i = s.n_edge
            while i > 0 and s.edge[i - 1] > around:
                s.edge[i] = s.edge[i - 1]
                i -= 1
            s.edge[i] = around
            s.n_edge += 1


@rule
def count_legal(c, s):
    """How many legal actions there are."""
    return np.int64(s.n_edge) * TURNS * names(c, s) if s.phase == PLACE else np.int64(0)


@rule
def nth_legal(c, s, n):
    """The n-th legal action in ascending order, counted from 0."""
    named = names(c, s)
    return encode(n // named // TURNS, n // named % TURNS, n % named)


@rule
def legal_mask(c, s, mask):
    """Write 1 for every legal action into a mask of zeros."""
    if s.phase == PLACE:
        named = names(c, s)
        for action in range(np.int64(s.n_edge) * WAYS):
            mask[action] = action % NAMES < named


FEATURES = 14  # of a free square
NOTHING_LIES, NO_SYMBOL = 0, 1  # and colours from 2 on


@rule
def observe_board(c, s, places, out):
    """Write a row for each free square: x and y from the display's lowest ones, then twelve corners."""
    for k in range(s.n_edge):
        at = s.edge[k]
        row = k * FEATURES
        out[row] = unwrap(s.low_x, at % SIDE) - s.low_x
        out[row + 1] = unwrap(s.low_y, at // SIDE) - s.low_y
        for corner in range(4):
            for i in range(3):
                around = beside(at, c.circle[corner, i, 0], c.circle[corner, i, 1])
                colour = c.corners[s.grid[around], c.circle[corner, i, 2]]
                lies = s.grid[around] != 0 and s.grid[around] != FREE
                out[row + 2 + corner * 3 + i] = (
                    NOTHING_LIES if not lies else NO_SYMBOL if colour == BLANK else colour + 2
                )


@rule
def observe_counters(c, s, seat, out, at):
    """Write what else there is to know from place `at` on."""
    out[at] = s.extra
    out[at + 1] = s.supply
    out[at + 2] = s.n_edge
    for turn in range(c.players):
        out[at + 3 + turn] = s.stack[(seat + turn) % c.players]
