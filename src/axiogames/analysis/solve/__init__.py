"""Solving games whose draws are known."""
