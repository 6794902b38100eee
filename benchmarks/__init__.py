"""Measurements of the server with real clients: `python -m benchmarks.server`."""
