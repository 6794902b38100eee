"""The speed of the rules on this machine, as a ratio to a reference game."""
