"""The built-in bots: simple ones, searching ones and eight levels."""
