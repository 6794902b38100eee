"""The strength of the players, by matches of the arena."""
