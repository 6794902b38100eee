"""Reviewing games: what moves were worth, what they gave up, and what was luck. It knows no game's name."""
