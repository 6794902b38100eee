"""Playing strength of the bots, measured by matches of the arena."""
