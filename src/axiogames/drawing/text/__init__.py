"""Rendering of scenes as text for terminals."""
