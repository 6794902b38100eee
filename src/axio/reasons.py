"""Why a move may not be made: the numbers that rule code returns, with what they say to a person.

Rule code imports the plain numbers (it may hold no Python objects); everybody else uses `Reason`.
"""

from __future__ import annotations

from enum import IntEnum

OK = 0
GAME_OVER = 1
NOT_YOUR_TURN = 2
DRAW_DUE = 3
OUTSIDE = 4
NO_SUCH_TILE = 5
WRONG_SHAPE = 6
OCCUPIED = 7
NOT_IN_HAND = 8
FIRST_TILE = 9
NOT_BESIDE_DISPLAY = 10
NOTHING_TO_NAME = 11
NO_EDGE_MATCHES = 12
COLOURS_DO_NOT_MATCH = 13
EXCHANGE_NOT_ALLOWED = 14
OFFER_OPEN = 15
EXCHANGE_TOO_MANY = 16
BAG_EMPTY = 17
CAN_PLACE = 18
BAG_NOT_EMPTY = 19
NOT_IN_THIS_GAME = 20
NO_DRAW_DUE = 21
NOT_IN_BAG = 22


class Reason(IntEnum):
    """Each kind of illegality; `text` is the sentence a person reads."""

    text: str

    def __new__(cls, number: int, text: str) -> Reason:
        member = int.__new__(cls, number)
        member._value_ = number
        member.text = text
        return member

    @classmethod
    def of(cls, number: int) -> Reason:
        """The reason that rule code gave by its number."""
        return next(member for member in cls if member == number)

    GAME_OVER = GAME_OVER, "the game is over"
    NOT_YOUR_TURN = NOT_YOUR_TURN, "it is not this seat's turn"
    DRAW_DUE = DRAW_DUE, "a tile has to be drawn first"
    OUTSIDE = OUTSIDE, "the cell is outside the play area"
    NO_SUCH_TILE = NO_SUCH_TILE, "there is no such tile in this game"
    WRONG_SHAPE = WRONG_SHAPE, "a tile does not have that shape"
    OCCUPIED = OCCUPIED, "the place is occupied"
    NOT_IN_HAND = NOT_IN_HAND, "the tile is not in this seat's hand"
    FIRST_TILE = (
        FIRST_TILE,
        "a first tile must touch a printed symbol that no other player's first tile touches",
    )
    NOT_BESIDE_DISPLAY = NOT_BESIDE_DISPLAY, "the tile does not touch the display"
    NOTHING_TO_NAME = NOTHING_TO_NAME, "only a tile with an empty corner can name a colour"
    NO_EDGE_MATCHES = NO_EDGE_MATCHES, "no edge of the tile matches a neighbouring colour"
    COLOURS_DO_NOT_MATCH = COLOURS_DO_NOT_MATCH, "a square lies beside colours but shows none of them"
    EXCHANGE_NOT_ALLOWED = (
        EXCHANGE_NOT_ALLOWED,
        "exchanging or keeping is decided only when it is offered: after the turn's last placement, "
        "with none of the lowest colours in hand and a full hand of tiles in the bag",
    )
    OFFER_OPEN = OFFER_OPEN, "the turn's placements are done: answer the offer with exchange or keep"
    EXCHANGE_TOO_MANY = EXCHANGE_TOO_MANY, "the bag holds fewer tiles than are to be exchanged"
    BAG_EMPTY = BAG_EMPTY, "the bag is empty, so there is nothing to exchange for"
    CAN_PLACE = CAN_PLACE, "a tile in this hand can be placed, so it must be"
    BAG_NOT_EMPTY = BAG_NOT_EMPTY, "the bag is not empty: exchange tiles instead of passing"
    NOT_IN_THIS_GAME = NOT_IN_THIS_GAME, "this game has no such move"
    NO_DRAW_DUE = NO_DRAW_DUE, "no tile has to be drawn now"
    NOT_IN_BAG = NOT_IN_BAG, "the tile is not among those that can be drawn"
