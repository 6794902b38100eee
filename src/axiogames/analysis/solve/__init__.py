"""Solving one-player games whose draws are known."""
