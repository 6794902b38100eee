"""Engines in processes of their own: a line protocol in the manner of GTP, told in docs/engine.md."""
