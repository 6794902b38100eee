"""The rules of AXIO rota, over a record of constants `c` and a state record `s`.

The display has no fixed bounds but at most 60 connected tiles. It is stored on a torus of 64 by 64 squares,
which is too large for a display and the free squares around it to wrap onto themselves. A square holds the
value of `tile_value` if a tile is on it, `FREE` if a tile can be placed there, and 0 otherwise. `s.edge`
lists the free squares in ascending order; an action refers to a free square by its index in this list.

Numbers in parentheses refer to the rules page.
"""

from __future__ import annotations

import numpy as np

from ...errors import GAME_OVER, NOT_IN_THIS_GAME, NOTHING_TO_NAME, OK
from ..runtime.bitsets import nth_of_multiset
from ..runtime.compile import rule, rule_noinline
from ..runtime.describing import CELLS, KIND, NAMED, PLACE_INDEX, PLACEMENT, TILE
from ..runtime.hands import draw_to_hand, remove_from_hand
from ..runtime.state import DRAW, OVER, PLACE, START
from ..runtime.xorshift import randint, sample_tile, scale

SIDE = 64
FREE = 255
BLANK = 255  # a corner without a symbol
NAMES = 6  # no named colour, or one of five
ROTATIONS = 4
WAYS = ROTATIONS * NAMES
MAX_FREE = 128  # a connected display of 60 tiles has at most 122 free squares around it
ACTIONS = MAX_FREE * WAYS


@rule
def square(x, y):
    """Return the square of a position on the torus."""
    return (np.int64(y) & (SIDE - 1)) * SIDE + (np.int64(x) & (SIDE - 1))


@rule
def beside(at, dx, dy):
    """Return the square at the offset (dx, dy) from a square."""
    return square((at & (SIDE - 1)) + dx, at // SIDE + dy)


@rule
def unwrap(low, index):
    """Return the coordinate of a column or row of the torus; `low` is the lowest one of the display."""
    return low - 1 + ((index - low + 1) & (SIDE - 1))


@rule
def position_x(s, at):
    """Return the first coordinate of a square."""
    return unwrap(np.int64(s.low_x), at & (SIDE - 1))


@rule
def position_y(s, at):
    """Return the second coordinate of a square."""
    return unwrap(np.int64(s.low_y), at // SIDE)


@rule
def encode(k, rotation, name):
    """Return the action that places the tile on the k-th free square; `name` is a colour + 1 or 0."""
    return (np.int64(k) * ROTATIONS + rotation) * NAMES + name


@rule
def decode(action):
    """Return the index of the free square, the rotation and the name of a placement."""
    rest, name = action // NAMES, action % NAMES
    return rest // ROTATIONS, rest % ROTATIONS, name


@rule
def tile_value(kind, rotation):
    """Return the value of a square with this tile, rotated by clockwise quarter turns."""
    return np.int64(kind) * ROTATIONS + rotation + 1


# ---------------------------------------------------------------- legal actions


@rule
def count_names(c, s):
    """Return the number of names for the tile in hand: only an empty corner can be named (5)."""
    return NAMES if c.has_blank[s.hands[s.seat, 0]] else 1


@rule
def refusal(c, s, action):
    """Return the reason why an action is illegal for the seat to move, `OK` if it is legal."""
    if s.phase == OVER:
        return GAME_OVER
    k, _, name = decode(action)
    if k >= s.n_edge:
        return NOT_IN_THIS_GAME
    if name >= count_names(c, s):
        return NOTHING_TO_NAME
    return OK


@rule
def legal_actions(c, s, out):
    """Write the legal actions, ascending, and return their number."""
    n = 0
    if s.phase == PLACE:
        for i in range(s.n_edge):
            for rotation in range(ROTATIONS):
                for name in range(count_names(c, s)):
                    out[n] = encode(i, rotation, name)
                    n += 1
    return n


@rule
def sample_legal(c, s, rng):
    """Return a legal action, uniformly at random, without listing them."""
    return encode(randint(rng, s.n_edge), randint(rng, ROTATIONS), randint(rng, count_names(c, s)))


@rule
def sample_chance(c, s, rng):
    """Return a random unseen tile; in the opening display rotated at random, an empty corner inside (2)."""
    kind = sample_tile(s.bag, s.unseen, rng)
    if s.phase != START:
        return kind
    rotation = c.inward[4 - s.due, kind] if c.has_blank[kind] else randint(rng, ROTATIONS)
    return kind * ROTATIONS + rotation


@rule
def chance_outcome(c, s, word):
    """Return the unseen tile that a word selects; in the opening display with one of four rotations (2)."""
    if s.phase != START:
        return np.int64(nth_of_multiset(s.bag, np.uint64(scale(word, np.int64(s.unseen)))))
    n = scale(word, np.int64(s.unseen) * ROTATIONS)
    kind = np.int64(nth_of_multiset(s.bag, np.uint64(n // ROTATIONS)))
    rotation = np.int64(c.inward[4 - s.due, kind]) if c.has_blank[kind] else n % ROTATIONS
    return kind * ROTATIONS + rotation


# ---------------------------------------------------------------- effects of actions


@rule
def apply(c, s, action):
    """Apply a legal action or a chance outcome, up to the next decision or draw."""
    if s.phase == PLACE:
        place(c, s, action)
    elif s.phase == DRAW:
        draw(c, s, action)
    else:
        start(c, s, action)


@rule
def circle_colour(c, s, at, corner, k):
    """Return the colour of the k-th other corner of the circle at a corner of a square, `BLANK` for none."""
    tile = s.grid[beside(at, c.circle[corner, k, 0], c.circle[corner, k, 1])]
    return c.corners[tile, c.circle[corner, k, 2]]


@rule
def score(c, s, action):
    """Write the points of a placement by colour into `s.gain` (4, 5, 6)."""
    k, rotation, name = decode(action)
    score_on(c, s, np.int64(s.edge[k]), rotation, name)


@rule
def score_on(c, s, at, rotation, name):
    """Score a placement on the square `at`: loops over rotations look up the square once."""
    for colour in range(len(s.gain)):
        s.gain[colour] = 0
    tile = tile_value(s.hands[s.seat, 0], rotation)
    for corner in range(4):
        colour = c.corners[tile, corner]
        if colour == BLANK:
            if name == 0:
                continue
            colour = np.uint8(name - 1)
        points = 0
        for other in range(3):
            points += circle_colour(c, s, at, corner, other) == colour
        s.gain[colour] = min(s.gain[colour] + points, c.cap - s.scores[s.seat, colour])


@rule_noinline
def explain(c, s, action, rows):
    """Write the corners that score for each corner of the tile, and return their number (4, 5)."""
    k, rotation, name = decode(action)
    at = np.int64(s.edge[k])
    tile = tile_value(s.hands[s.seat, 0], rotation)
    n = np.int64(0)
    for corner in range(4):
        colour = np.int64(c.corners[tile, corner])
        if colour == BLANK:
            colour = np.int64(name) - 1
        for other in range(3):
            around = beside(at, c.circle[corner, other, 0], c.circle[corner, other, 1])
            if colour >= 0 and circle_colour(c, s, at, corner, other) == colour:
                if n < len(rows):
                    rows[n, 0], rows[n, 1] = position_x(s, around), position_y(s, around)
                    rows[n, 2] = c.circle[corner, other, 2]
                    rows[n, 3], rows[n, 4], rows[n, 5] = position_x(s, at), position_y(s, at), corner
                    rows[n, 6], rows[n, 7] = colour, 1
                n = min(n + 1, len(rows))
    return n


@rule
def describe(c, s, action, rows, at):
    """Write a placement, or a tile of the opening display: its position and the colours of its corners."""
    rows[at, KIND] = PLACEMENT
    rows[at, TILE] = 0
    if s.phase == START:
        kind, rotation = np.int64(action) // ROTATIONS, np.int64(action) % ROTATIONS
        n = 4 - s.due
        rows[at, NAMED] = rows[at, PLACE_INDEX] = -1
        rows[at, CELLS], rows[at, CELLS + 1] = n % 2, n // 2
    else:
        k, rotation, name = decode(action)
        kind = np.int64(s.hands[s.seat, 0])
        rows[at, NAMED] = np.int64(name) - 1
        rows[at, PLACE_INDEX] = k
        rows[at, CELLS] = position_x(s, np.int64(s.edge[k]))
        rows[at, CELLS + 1] = position_y(s, np.int64(s.edge[k]))
    for corner in range(4):
        colour = c.corners[tile_value(kind, rotation), corner]
        rows[at, CELLS + 2 + corner] = -1 if colour == BLANK else np.int64(colour)


@rule
def place(c, s, action):
    """Place and score the tile in hand; then start an extra turn from the supply or end the turn."""
    score(c, s, action)
    k, rotation, _ = decode(action)
    at = np.int64(s.edge[k])
    kind = s.hands[s.seat, 0]
    remove_from_hand(s, s.seat, kind)
    set_cell(c, s, at, tile_value(kind, rotation))
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
    """Move a drawn tile to the hand; one from the supply is placed at once, one from the stack later (6)."""
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
    """Start the turn of the next seat; if it has no tile, all stacks are empty and the game ends (7)."""
    s.seat = (s.seat + 1) % c.players
    s.phase = PLACE if s.held[s.seat] > 0 else OVER


@rule_noinline
def start(c, s, action):
    """Lay the next tile of the opening display; after the fourth, the seats draw from their stacks (2)."""
    kind, rotation = action // ROTATIONS, action % ROTATIONS
    s.bag[kind] -= 1
    s.in_bag -= 1
    s.unseen -= 1
    n = 4 - s.due
    set_cell(c, s, square(n % 2, n // 2), tile_value(kind, rotation))
    s.due -= 1
    if s.due == 0:
        s.due = 1
        s.phase = DRAW


@rule
def set_cell(c, s, at, tile):
    """Put the tile with this value on a square and update the free squares around the display."""
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


@rule_noinline
def restore(c, s):
    """Recompute the free squares and the lowest coordinates from the tiles in `s.grid`."""
    for at in range(len(s.grid)):
        if s.grid[at] == FREE:
            s.grid[at] = 0
    s.low_x = 0
    while s.low_x > -SIDE and column_has_tile(s, s.low_x - 1):
        s.low_x -= 1
    s.low_y = 0
    while s.low_y > -SIDE and row_has_tile(s, s.low_y - 1):
        s.low_y -= 1
    for at in range(len(s.grid)):
        if has_tile(s, at):
            for d in range(4):
                around = beside(at, c.sides[d, 0], c.sides[d, 1])
                if s.grid[around] == 0:
                    s.grid[around] = FREE
    s.n_edge = 0
    for at in range(len(s.grid)):
        if s.grid[at] == FREE and s.n_edge < MAX_FREE:
            s.edge[s.n_edge] = at
            s.n_edge += 1
    for k in range(s.n_edge, MAX_FREE):
        s.edge[k] = 0


@rule
def has_tile(s, at):
    """Return whether a tile is on a square."""
    return s.grid[at] != 0 and s.grid[at] != FREE


@rule
def column_has_tile(s, x):
    """Return whether a tile is in a column."""
    for y in range(SIDE):
        if has_tile(s, square(x, y)):
            return True
    return False


@rule
def row_has_tile(s, y):
    """Return whether a tile is in a row."""
    for x in range(SIDE):
        if has_tile(s, square(x, y)):
            return True
    return False


# ---------------------------------------------------------------- legal actions by index, and as a mask


@rule
def count_legal(c, s):
    """Return the number of legal actions."""
    return np.int64(s.n_edge) * ROTATIONS * count_names(c, s) if s.phase == PLACE else np.int64(0)


@rule
def nth_legal(c, s, n):
    """Return the n-th legal action in ascending order, counted from 0."""
    names = count_names(c, s)
    return encode(n // names // ROTATIONS, n // names % ROTATIONS, n % names)


@rule
def legal_mask(c, s, mask):
    """Write 1 for each legal action into a mask of zeros."""
    if s.phase == PLACE:
        names = count_names(c, s)
        for action in range(np.int64(s.n_edge) * WAYS):
            mask[action] = action % NAMES < names


# ---------------------------------------------------------------- observations

FEATURES = 14  # of a free square
MISSING_TILE, NO_SYMBOL = 0, 1  # observed corners; colours follow from 2 on


@rule
def observe_board(c, s, places, out):
    """Write a row for each free square: x and y relative to the display's lowest, then twelve corners."""
    for k in range(s.n_edge):
        at = s.edge[k]
        row = k * FEATURES
        out[row] = unwrap(s.low_x, at % SIDE) - s.low_x
        out[row + 1] = unwrap(s.low_y, at // SIDE) - s.low_y
        for corner in range(4):
            for i in range(3):
                around = beside(at, c.circle[corner, i, 0], c.circle[corner, i, 1])
                colour = c.corners[s.grid[around], c.circle[corner, i, 2]]
                has_tile = s.grid[around] != 0 and s.grid[around] != FREE
                out[row + 2 + corner * 3 + i] = (
                    MISSING_TILE if not has_tile else NO_SYMBOL if colour == BLANK else colour + 2
                )


@rule
def observe_counters(c, s, seat, out, at):
    """Write extra turns, the supply, the number of free squares and the stacks from `out[at]` on."""
    out[at] = s.extra
    out[at + 1] = s.supply
    out[at + 2] = s.n_edge
    for offset in range(c.players):
        out[at + 3 + offset] = s.stack[(seat + offset) % c.players]
