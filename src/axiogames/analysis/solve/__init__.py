"""The best play where nothing is left to chance."""
