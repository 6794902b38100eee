"""Game-independent reviews of recorded games, and hints: values of moves, mistakes, and luck."""
