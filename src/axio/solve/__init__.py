"""Solving: the best that can be done where nothing is left to chance."""
