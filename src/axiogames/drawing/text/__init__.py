"""Scenes as text for a terminal."""
