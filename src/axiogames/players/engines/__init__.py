"""The engine protocol in both directions: external engines as players, and built-in players as an engine."""
