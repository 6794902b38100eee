"""External engines as players, and our players as an engine."""
