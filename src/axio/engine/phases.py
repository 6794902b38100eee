"""What a state waits for. From `DRAW` on it is chance that moves, not a player."""

OVER = 0  # nothing: the game has ended
PLACE = 1  # the seat places a tile (or does what may be done instead)
OFFER = 2  # the seat may exchange its hand before the refill
DRAW = 3  # the seat draws `due` more tiles
START = 4  # a tile of the opening display is turned up
REMOVE = 5  # a tile is set aside unseen before the deal

# Entries of a hand that are no kind of tile.
NO_TILE = 255
HIDDEN = 254
