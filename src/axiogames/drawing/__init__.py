"""Scenes that games produce, and renderers that turn a scene into SVG, PNG or terminal text."""
