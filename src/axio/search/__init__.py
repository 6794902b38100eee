"""Searching: what moves lead to, by playing on from them in compiled code. It knows no game's name."""
