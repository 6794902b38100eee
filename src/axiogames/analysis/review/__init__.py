"""Reviews of recorded games and hints: values of moves, mistakes, and luck. Independent of the game."""
