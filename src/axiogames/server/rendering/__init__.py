"""Rendering of pictures in a separate process."""
