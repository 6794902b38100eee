"""The engine protocol, in both directions: external engines as players, and our players as an engine."""
